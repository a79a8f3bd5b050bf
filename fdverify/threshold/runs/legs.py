"""Parts of runs, for all parameters, as facts for a solver.

A run is cut into legs.  In a *stretch* the order in which processes take rules is left open: how often each rule is
taken says it all.  A stretch is a flow of processes through locations, and can happen, as far as locations go, if every
location that it leaves is marked at the start, or is reached from such a one along rules that are taken.

Of what holds for good, a location that stays empty is neither entered nor left.  Of locations of which one is never
empty, some process is there at both ends of a stretch.  If stretches are in *phases*, in each of them one process rests
in each such set, or nobody leaves the set, so that any order of the others will do.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import z3

from fdverify.threshold.automaton import Rule
from fdverify.threshold.claims.lasting import Lasting
from fdverify.threshold.formula import Constant, Formula
from fdverify.threshold.runs.problem import Problem
from fdverify.threshold.runs.terms import Values, all_of, any_of, total, truth

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Leg:
    """How often each rule is taken on the way to the next configuration, and who rests meanwhile."""

    taken: Mapping[Rule, Any]
    before: Values
    after: Values
    resting: Mapping[str, Any]
    """Of each location that may be held, how many stay there: one or none."""
    single: bool
    """Whether it is one step at the most."""
    lasting: list[tuple[Any, Lasting]] = field(default_factory=list)
    """What holds throughout, each if a condition is so."""

    def by(self, key: Callable[[Rule], Key]) -> dict[Key, list[Any]]:
        """How often rules are taken, by something that they have in common."""
        found: dict[Key, list[Any]] = {}
        for rule, times in self.taken.items():
            found.setdefault(key(rule), []).append(times)
        return found


class Legs:
    """A run in the making: the values at the start, and the legs so far."""

    def __init__(self, problem: Problem, phases: int) -> None:
        self.problem = problem
        self.phases = phases
        self.facts: list[Any] = []
        self.legs: list[Leg] = []
        self.loop: int | None = None
        """How many legs come before the loop, once there is one."""
        automaton = problem.automaton
        self._places = {rule: place for place, rule in enumerate(automaton.rules)}  # numbers may come twice
        names = [*(location.name for location in automaton.locations), *automaton.shared]
        self.parameters = {name: self._natural(name) for name in (*automaton.parameters, *automaton.unknowns)}
        self.start: Values = {**self.parameters, **{name: self._natural(f"{name}@0") for name in names}}
        self.processes = total([self.start[location.name] for location in automaton.locations])
        self.facts += [truth(claim, self.start) for claim in (*automaton.assumptions, *automaton.initial)]
        if problem.most_processes is not None:
            self.facts.append(self.processes <= problem.most_processes)

    @property
    def end(self) -> Values:
        """The configuration that the run has come to."""
        return self.legs[-1].after if self.legs else self.start

    def _natural(self, name: str) -> Any:
        """A number of this name; names that no automaton can use have a blank."""
        constant = z3.Int(name)
        self.facts.append(constant >= 0)
        return constant

    def _leg(self, rules: Iterable[Rule], single: bool) -> Leg:
        """Rules taken so often, whatever their guards."""
        before, at = self.end, len(self.legs) + 1
        taken = {rule: self._natural(f"times {self._places[rule]}@{at}") for rule in rules}
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
        if not self.phases:
            return {}
        found = {}
        for place in sorted(frozenset().union(*self.problem.inhabited)):
            found[place] = resting = self._natural(f"rest {place}@{at}")
            self.facts += [resting <= 1, resting <= before[place], resting <= after[place]]
        return found

    def stretch(self, rules: Iterable[Rule], allowed: Callable[[Formula, Leg], Any]) -> Leg:
        """Rules taken any number of times, if their guards are allowed."""
        leg = self._leg(rules, single=False)
        self._guard(leg, allowed)
        if self.problem.comes_back:
            self._connect(leg)
        return leg

    def step(self) -> Leg:
        """One process takes a rule that counts, or none does."""
        leg = self._leg((rule for rule in self.problem.automaton.rules if rule.adds), single=True)
        self._guard(leg, lambda guard, leg: truth(guard, leg.before))
        self.facts.append(total(list(leg.taken.values())) <= 1)
        for place, leaving in leg.by(lambda rule: rule.source).items():
            self.facts.append(total(leaving) <= leg.before[place])
        return leg

    def _guard(self, leg: Leg, allowed: Callable[[Formula, Leg], Any]) -> None:
        for guard, together in leg.by(lambda rule: rule.guard).items():
            if guard != Constant(True):
                self.facts.append(z3.Implies(total(together) > 0, allowed(guard, leg)))

    def _connect(self, leg: Leg) -> None:
        """Each location that is left is marked, or is entered from one that comes before it in some order."""
        at = len(self.legs)
        order = {location.name: z3.Int(f"order {location.name}@{at}") for location in self.problem.automaton.locations}
        for place, leaving in leg.by(lambda rule: rule.source).items():
            entering = [
                z3.And(times > 0, order[rule.source] < order[place])
                for rule, times in leg.taken.items()
                if rule.target == place != rule.source
            ]
            marked = leg.before[place] > leg.resting.get(place, 0)
            self.facts.append(z3.Implies(total(leaving) > 0, any_of([marked, *entering])))

    def keep(self, leg: Leg, condition: Any, claim: Lasting, unless: Any) -> None:
        """If the condition is so, a claim that holds at both ends of a stretch holds throughout, unless it need not."""
        leg.lasting.append((condition, claim))
        kept = [
            times == 0 for rule, times in leg.taken.items() if rule.source in claim.empty or rule.target in claim.empty
        ]
        for some in claim.inhabited if self.phases else ():
            leaving = [times for rule, times in leg.taken.items() if rule.source in some and rule.target not in some]
            resting = total([leg.resting[place] for place in sorted(some)])
            kept.append(z3.Or(total(leaving) == 0, resting >= 1))
        self.facts.append(z3.Implies(condition, z3.Or(unless, all_of(kept))))

    def close(self) -> None:
        """The run ends: it stays where it is, or goes round and comes back for ever."""
        shape, head = self.problem.shape, self.end
        self.facts += [truth(claim, head) for claim in shape.at_last]
        if not self.problem.needs_loop:
            self.facts += [truth(claim, head) for claim in shape.again]
            return
        self.loop = len(self.legs)
        claims = [*(claim for each in self.problem.lasting for claim in each), *self.problem.in_loops]
        # What happens again and again can do so in any order, and the first of it where the loop begins.
        first, *others = shape.again
        self.facts.append(truth(first, head))
        for formula in (*others, Constant(True)):
            for _ in range(max(1, self.phases)):
                leg = self.stretch(self.problem.turns, lambda guard, leg: truth(guard, head))
                for claim in claims:
                    self.keep(leg, z3.BoolVal(True), claim, truth(claim.unless, head))
                    self.facts.append(lasts(claim, leg.after))
            self.facts.append(truth(formula, self.end))
        places = [location.name for location in self.problem.automaton.locations]
        self.facts += [self.end[place] == head[place] for place in places]


def lasts(claim: Lasting, values: Values) -> Any:
    """That what holds for good does so in a configuration."""
    empty = [values[place] == 0 for place in sorted(claim.empty)]
    inhabited = [total([values[place] for place in sorted(some)]) >= 1 for some in claim.inhabited]
    return z3.Or(truth(claim.unless, values), all_of([*empty, *inhabited]))


def _changes(rule: Rule) -> list[tuple[str, int]]:
    """What taking a rule once adds to each count."""
    moves = [] if rule.source == rule.target else [(rule.source, -1), (rule.target, 1)]
    return [*moves, *rule.adds]
