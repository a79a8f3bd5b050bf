"""Runs of every length, for all parameters, as one formula.

A run is cut into *stretches*.  In a stretch the order in which processes take rules is left open: how often each rule
is taken says it all.  A stretch is a flow of processes through locations, and can happen, as far as locations go, if
every location that it leaves is marked at the start, or is reached from such a one along rules that are taken.

When thresholds are reached within a stretch is open, too, unless they are *tracked*.  A guard is therefore taken to be
true if it can be, at the best time for each of its thresholds: the formula has all runs, and perhaps others.  Tracked
thresholds are reached at the end of a stretch, so a rule that needs one is taken in a later stretch; if it matters
whether one is not yet reached, it is reached by a single step between two stretches.  With all thresholds tracked,
every rule of a stretch can be taken at any time of it.

Of what holds for good, a location that stays empty is neither entered nor left.  Of locations of which one is never
empty, some process is there at both ends.  If a stretch is in *phases*, in each of them one process rests in each such
set, or nobody leaves the set, so that any order of the others will do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import z3

from fdverify.threshold.automaton import Rule
from fdverify.threshold.formula import Comparison, Constant, Formula
from fdverify.threshold.lasting import Lasting
from fdverify.threshold.problem import Problem
from fdverify.threshold.terms import Values, all_of, any_of, linear, total, truth, truth_by
from fdverify.threshold.thresholds import REACHED, Threshold


@dataclass(frozen=True)
class Leg:
    """How often each rule is taken on the way to the next configuration, and who rests meanwhile."""

    taken: Mapping[Rule, Any]
    before: Values
    after: Values
    resting: Mapping[str, Any] = field(default_factory=dict)
    """Of each location that may be held, how many stay there: one or none."""
    single: bool = False
    """Whether it is one step at the most."""


class Runs:
    """The runs of a problem: the values at the start, legs, when the moments of the shape are, and the loop."""

    def __init__(self, problem: Problem, tracked: Sequence[Threshold], phases: int) -> None:
        self.problem = problem
        self.facts: list[Any] = []
        self.legs: list[Leg] = []
        automaton, shape = problem.automaton, problem.shape
        self.tracked = tracked
        self._phases = phases
        self._names = [*(location.name for location in automaton.locations), *automaton.shared]
        self.parameters = {name: self._natural(name) for name in (*automaton.parameters, *automaton.unknowns)}
        self.start: Values = {**self.parameters, **{name: self._natural(f"{name}@0") for name in self._names}}
        self.processes = total([self.start[location.name] for location in automaton.locations])
        self.facts += [truth(claim, self.start) for claim in (*automaton.assumptions, *automaton.initial)]
        goes_on = bool(shape.at_last or shape.again)
        later = len(shape.moments) - 1
        if later or goes_on:
            self._lay_out(len(tracked) + later + goes_on)
        self.started = self._place_moments()
        end = self.configurations[-1]
        self.facts += [truth(claim, end) for claim in shape.at_last]
        self.loop = len(self.legs)
        """How many legs come before the loop."""
        if problem.needs_loop:
            self._go_round()
        else:
            self.facts += [truth(claim, end) for claim in shape.again]

    @property
    def configurations(self) -> list[Values]:
        return [self.start, *(leg.after for leg in self.legs)]

    def _natural(self, name: str) -> Any:
        constant = z3.Int(name)
        self.facts.append(constant >= 0)
        return constant

    def _lay_out(self, stretches: int) -> None:
        falling = [each for each in self.tracked if self.problem.thresholds[each] != {REACHED}]
        for number in range(stretches):
            if number > 0 and falling:
                self._step()
            for _ in range(max(1, self._phases)):
                self._stretch(falling)

    def _leg(self, rules: Iterable[Rule], single: bool = False) -> Leg:
        """Rules taken so often, whatever their guards."""
        before, at = self.configurations[-1], len(self.legs) + 1
        taken = {rule: self._natural(f"rule{rule.number}@{at}") for rule in rules}
        changes: dict[str, list[Any]] = {}
        for rule, times in taken.items():
            for name, change in _changes(rule):
                changes.setdefault(name, []).append(times if change == 1 else change * times)
        after = dict(before)
        for name, terms in changes.items():
            after[name] = self._natural(f"{name}@{at}")
            self.facts.append(after[name] == total([before[name], *terms]))
        leg = Leg(taken, before, after, {} if single else self._rest(at, before, after), single)
        self.legs.append(leg)
        return leg

    def _rest(self, at: int, before: Values, after: Values) -> dict[str, Any]:
        if not self._phases:
            return {}
        found = {}
        for place in sorted(frozenset().union(*self.problem.inhabited)):
            found[place] = resting = self._natural(f"rest {place}@{at}")
            self.facts += [resting <= 1, resting <= before[place], resting <= after[place]]
        return found

    def _stretch(self, falling: Sequence[Threshold]) -> None:
        """Any number of steps."""
        leg = self._leg(self.problem.automaton.rules)
        self._guard(leg, lambda guard: self._possible(guard, leg))
        for threshold in falling:
            self.facts.append(_is_reached(threshold, leg.before) == _is_reached(threshold, leg.after))
        if self.problem.comes_back:
            self._connect(leg)

    def _step(self) -> None:
        """One process takes a rule that counts, or none does."""
        leg = self._leg((rule for rule in self.problem.automaton.rules if rule.adds), single=True)
        self._guard(leg, lambda guard: truth(guard, leg.before))
        self.facts.append(total(list(leg.taken.values())) <= 1)
        for place, leaving in _by(leg, lambda rule: rule.source).items():
            self.facts.append(total(leaving) <= leg.before[place])

    def _guard(self, leg: Leg, allowed: Any) -> None:
        for guard, together in _by(leg, lambda rule: rule.guard).items():
            if guard != Constant(True):
                self.facts.append(z3.Implies(total(together) > 0, allowed(guard)))

    def _possible(self, guard: Formula, leg: Leg) -> Any:
        """Whether a guard may be true at some time of a stretch."""

        def best(comparison: Comparison) -> Values:
            threshold = Threshold(comparison.left, comparison.right)
            rises = comparison.operator == REACHED and threshold not in self.tracked
            return leg.after if rises else leg.before

        return truth_by(guard, best)

    def _connect(self, leg: Leg) -> None:
        """Each location that is left is marked, or is entered from one that comes before it in some order."""
        at = len(self.legs)
        order = {location.name: z3.Int(f"order {location.name}@{at}") for location in self.problem.automaton.locations}
        leaving = _by(leg, lambda rule: rule.source)
        for place, times in leaving.items():
            entering = [
                z3.And(number > 0, order[rule.source] < order[place])
                for rule, number in leg.taken.items()
                if rule.target == place != rule.source
            ]
            marked = leg.before[place] > leg.resting.get(place, 0)
            self.facts.append(z3.Implies(total(times) > 0, any_of([marked, *entering])))

    def _place_moments(self) -> list[list[Any]]:
        """Each moment is at one of the configurations: whether it is not after each of them."""
        shape, configurations = self.problem.shape, self.configurations
        started = [[z3.BoolVal(True)] * len(configurations)]
        for place, moment in enumerate(shape.moments[1:], start=1):
            over = [z3.Bool(f"moment{place}@{at}") for at in range(len(configurations))]
            self.facts += [z3.Implies(now, then) for now, then in zip(over, over[1:], strict=False)]
            self.facts.append(over[-1])
            if moment.after:
                self.facts += [z3.Implies(now, then) for now, then in zip(over, started[moment.after], strict=True)]
            started.append(over)
        for moment, over, claims in zip(shape.moments, started, self.problem.lasting, strict=True):
            for at, values in enumerate(configurations):
                first = over[0] if at == 0 else z3.And(over[at], z3.Not(over[at - 1]))
                if moment is not shape.moments[0] or at == 0:
                    self.facts += [z3.Implies(first, truth(formula, values)) for formula in moment.holds]
                self.facts += [z3.Implies(over[at], _lasts(claim, values)) for claim in claims]
            for leg, now in zip(self.legs, over, strict=False):
                if not leg.single:  # of a single step, both ends say it all
                    self.facts += [z3.Implies(now, self._kept(claim, leg)) for claim in claims]
        return started

    def _go_round(self) -> None:
        """A loop in which each thing that happens again and again does so, in this order, without loss of generality."""
        first, *others = self.problem.shape.again
        head = self.configurations[-1]
        self.facts.append(truth(first, head))
        claims = [*(claim for each in self.problem.lasting for claim in each), *self.problem.in_loops]
        for formula in (*others, None):
            for _ in range(max(1, self._phases)):
                leg = self._leg(self.problem.turns)
                self._guard(leg, lambda guard: truth(guard, head))
                self._connect(leg)
                self.facts += [self._kept(claim, leg) for claim in claims]
                self.facts += [_lasts(claim, leg.after) for claim in claims]
            if formula is not None:
                self.facts.append(truth(formula, self.configurations[-1]))
        self.facts += [self.configurations[-1][location.name] == head[location.name] for location in self.problem.automaton.locations]

    def _kept(self, claim: Lasting, leg: Leg) -> Any:
        """What a claim that holds at both ends of a leg, and throughout it, says of the leg."""
        kept = [
            times == 0
            for rule, times in leg.taken.items()
            if rule.source in claim.empty or rule.target in claim.empty
        ]
        for some in claim.inhabited if self._phases else ():
            leaving = [times for rule, times in leg.taken.items() if rule.source in some and rule.target not in some]
            resting = total([leg.resting[place] for place in sorted(some)])
            kept.append(z3.Or(total(leaving) == 0, resting >= 1))
        return z3.Or(self._possible(claim.unless, leg), all_of(kept))


def _lasts(claim: Lasting, values: Values) -> Any:
    empty = [values[place] == 0 for place in sorted(claim.empty)]
    inhabited = [total([values[place] for place in sorted(some)]) >= 1 for some in claim.inhabited]
    return z3.Or(truth(claim.unless, values), all_of([*empty, *inhabited]))


def _changes(rule: Rule) -> list[tuple[str, int]]:
    """What taking a rule once adds to each count."""
    moves = [] if rule.source == rule.target else [(rule.source, -1), (rule.target, 1)]
    return [*moves, *rule.adds]


def _by(leg: Leg, key: Any) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = {}
    for rule, times in leg.taken.items():
        found.setdefault(key(rule), []).append(times)
    return found


def _is_reached(threshold: Threshold, values: Values) -> Any:
    return linear(threshold.reached, values) >= linear(threshold.needed, values)
