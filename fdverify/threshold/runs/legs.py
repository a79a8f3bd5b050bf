"""Symbolic runs, cut into segments: facts for a solver, for all parameters.

A segment is a stretch or a single step.  A *stretch* leaves the order of its steps open and only counts how often each
rule is taken.  It is a flow of processes through locations.  As far as locations go, the flow can be executed if every
location that it leaves is occupied at the start, or can be reached from an occupied one along rules that are taken.

A location that must stay empty is neither entered nor left.  A set of locations that must stay inhabited has a process
at both ends of a stretch, but perhaps not in between.  So stretches may be divided into *phases*: in each phase, for
each such set, either no process leaves the set or one process rests in it.  Then the others can move in any order.
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
    """A part of a symbolic run: how often each rule is taken between two configurations, and where processes rest."""

    taken: Mapping[Rule, Any]
    before: Values
    after: Values
    resting: Mapping[str, Any]
    """For each location of an inhabited set, how many processes rest there: at most one."""
    single: bool
    """Whether the segment has at most one step."""
    lasting: list[tuple[Any, Lasting]] = field(default_factory=list)
    """Claims that hold throughout the segment, each under a condition."""

    def by(self, key: Callable[[Rule], Key]) -> dict[Key, list[Any]]:
        """Group the counts of the rules by a key of the rule."""
        groups: dict[Key, list[Any]] = {}
        for rule, times in self.taken.items():
            groups.setdefault(key(rule), []).append(times)
        return groups


class Legs:
    """A run under construction: its initial configuration, its segments so far, and the facts about them."""

    def __init__(self, problem: Problem, phases: int) -> None:
        self.problem = problem
        self.phases = phases
        self.facts: list[Any] = []
        self.legs: list[Leg] = []
        self.loop: int | None = None
        """The number of segments before the loop, once there is a loop."""
        automaton = problem.automaton
        self._places = {rule: index for index, rule in enumerate(automaton.rules)}  # rules may share a number
        names = [*(location.name for location in automaton.locations), *automaton.shared]
        self.parameters = {name: self._natural(name) for name in (*automaton.parameters, *automaton.unknowns)}
        self.start: Values = {**self.parameters, **{name: self._natural(f"{name}@0") for name in names}}
        self.processes = total([self.start[location.name] for location in automaton.locations])
        self.facts += [truth(claim, self.start) for claim in (*automaton.assumptions, *automaton.initial)]
        if problem.most_processes is not None:
            self.facts.append(self.processes <= problem.most_processes)

    @property
    def end(self) -> Values:
        """The configuration at the end of the last segment."""
        return self.legs[-1].after if self.legs else self.start

    def _natural(self, name: str) -> Any:
        """Declare a natural number; a name with a blank or @ cannot clash with a name in the automaton."""
        constant = z3.Int(name)
        self.facts.append(constant >= 0)
        return constant

    def _leg(self, rules: Iterable[Rule], single: bool) -> Leg:
        """Append a segment in which the rules are taken any number of times, without regard to guards."""
        before, number = self.end, len(self.legs) + 1
        taken = {rule: self._natural(f"times {self._places[rule]}@{number}") for rule in rules}
        changes: dict[str, list[Any]] = {}
        for rule, times in taken.items():
            for name, change in _changes(rule):
                changes.setdefault(name, []).append(times if change == 1 else change * times)
        after = dict(before)
        for name, terms in changes.items():
            after[name] = self._natural(f"{name}@{number}")
            self.facts.append(after[name] == total([before[name], *terms]))
        segment = Leg(taken, before, after, {} if single else self._rest(number, before, after), single)
        self.legs.append(segment)
        return segment

    def _rest(self, number: int, before: Values, after: Values) -> dict[str, Any]:
        """Declare how many processes rest in each location of the inhabited sets during the segment."""
        if not self.phases:
            return {}
        resting = {}
        for location in sorted(frozenset().union(*self.problem.inhabited)):
            resting[location] = count = self._natural(f"rest {location}@{number}")
            self.facts += [count <= 1, count <= before[location], count <= after[location]]
        return resting

    def stretch(self, rules: Iterable[Rule], allowed: Callable[[Formula, Leg], Any]) -> Leg:
        """Append a stretch of these rules; ``allowed`` encodes when a rule with a given guard can be taken in it."""
        segment = self._leg(rules, single=False)
        self._guard(segment, allowed)
        if self.problem.comes_back:
            self._connect(segment)
        return segment

    def step(self) -> Leg:
        """Append a segment in which at most one process takes a rule that increases a shared variable."""
        segment = self._leg((rule for rule in self.problem.automaton.rules if rule.adds), single=True)
        self._guard(segment, lambda guard, segment: truth(guard, segment.before))
        self.facts.append(total(list(segment.taken.values())) <= 1)
        for location, leaving in segment.by(lambda rule: rule.source).items():
            self.facts.append(total(leaving) <= segment.before[location])
        return segment

    def _guard(self, segment: Leg, allowed: Callable[[Formula, Leg], Any]) -> None:
        for guard, counts in segment.by(lambda rule: rule.guard).items():
            if guard != Constant(True):
                self.facts.append(z3.Implies(total(counts) > 0, allowed(guard, segment)))

    def _connect(self, segment: Leg) -> None:
        """Require each location that is left to be occupied, or to be entered from a location earlier in some order."""
        number = len(self.legs)
        locations = [location.name for location in self.problem.automaton.locations]
        order = {location: z3.Int(f"order {location}@{number}") for location in locations}
        for location, leaving in segment.by(lambda rule: rule.source).items():
            entering = [
                z3.And(times > 0, order[rule.source] < order[location])
                for rule, times in segment.taken.items()
                if rule.target == location != rule.source
            ]
            occupied = segment.before[location] > segment.resting.get(location, 0)
            self.facts.append(z3.Implies(total(leaving) > 0, any_of([occupied, *entering])))

    def keep(self, segment: Leg, condition: Any, claim: Lasting, unless: Any) -> None:
        """Require that, under the condition, a claim that holds at both ends of a stretch holds throughout.

        ``unless`` is the term under which the claim holds without regard to locations.
        """
        segment.lasting.append((condition, claim))
        counts = segment.taken.items()
        kept = [times == 0 for rule, times in counts if rule.source in claim.empty or rule.target in claim.empty]
        for locations in claim.inhabited if self.phases else ():
            leaving = [times for rule, times in counts if rule.source in locations and rule.target not in locations]
            resting = total([segment.resting[location] for location in sorted(locations)])
            kept.append(z3.Or(total(leaving) == 0, resting >= 1))
        self.facts.append(z3.Implies(condition, z3.Or(unless, all_of(kept))))

    def close(self) -> None:
        """End the run: it stays in its last configuration, or goes through a loop for ever."""
        shape, head = self.problem.shape, self.end
        self.facts += [truth(claim, head) for claim in shape.at_last]
        if not self.problem.needs_loop:
            self.facts += [truth(claim, head) for claim in shape.again]
            return
        self.loop = len(self.legs)
        claims = [*(claim for moment in self.problem.lasting for claim in moment), *self.problem.in_loops]
        # The loop can be rotated and repeated, so the order in which the infinitely-often claims hold does not matter.
        first, *others = shape.again
        self.facts.append(truth(first, head))
        for formula in (*others, Constant(True)):
            for _ in range(max(1, self.phases)):
                segment = self.stretch(self.problem.turns, lambda guard, segment: truth(guard, head))
                for claim in claims:
                    self.keep(segment, z3.BoolVal(True), claim, truth(claim.unless, head))
                    self.facts.append(lasts(claim, segment.after))
            self.facts.append(truth(formula, self.end))
        locations = [location.name for location in self.problem.automaton.locations]
        self.facts += [self.end[location] == head[location] for location in locations]


def lasts(claim: Lasting, values: Values) -> Any:
    """Encode that a lasting claim holds in a configuration."""
    empty = [values[location] == 0 for location in sorted(claim.empty)]
    inhabited = [total([values[location] for location in sorted(each)]) >= 1 for each in claim.inhabited]
    return z3.Or(truth(claim.unless, values), all_of([*empty, *inhabited]))


def _changes(rule: Rule) -> list[tuple[str, int]]:
    """List what taking a rule once adds to locations and shared variables."""
    moves = [] if rule.source == rule.target else [(rule.source, -1), (rule.target, 1)]
    return [*moves, *rule.adds]
