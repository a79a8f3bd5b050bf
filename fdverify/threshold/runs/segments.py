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
from fdverify.threshold.claims.lasting_claims import LastingClaim
from fdverify.threshold.ltl_formula import Constant, Formula
from fdverify.threshold.runs.run_problem import RunProblem
from fdverify.threshold.runs.z3_terms import Values, conjoin_terms, disjoin_terms, encode_formula, sum_terms

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Segment:
    """A part of a symbolic run: how often each rule is taken between two configurations, and where processes rest."""

    rule_counts: Mapping[Rule, Any]
    before: Values
    after: Values
    resting: Mapping[str, Any]
    """For each location of an inhabited set, how many processes rest there: at most one."""
    single: bool
    """Whether the segment has at most one step."""
    lasting_claims: list[tuple[Any, LastingClaim]] = field(default_factory=list)
    """Claims that hold throughout the segment, each under a condition."""

    def group_counts(self, key: Callable[[Rule], Key]) -> dict[Key, list[Any]]:
        """Group the counts of the rules by a key of the rule."""
        groups: dict[Key, list[Any]] = {}
        for rule, times in self.rule_counts.items():
            groups.setdefault(key(rule), []).append(times)
        return groups


class SymbolicRun:
    """A run under construction: its initial configuration, its segments so far, and the facts about them."""

    def __init__(self, problem: RunProblem, phases: int) -> None:
        self.problem = problem
        self.phases = phases
        self.facts: list[Any] = []
        self.segments: list[Segment] = []
        self.loop: int | None = None
        """The number of segments before the loop, once there is a loop."""
        automaton = problem.automaton
        self._rule_indices = {rule: index for index, rule in enumerate(automaton.rules)}  # rules may share a number
        names = [*(location.name for location in automaton.locations), *automaton.shared]
        self.parameters = {name: self._declare_natural(name) for name in (*automaton.parameters, *automaton.unknowns)}
        self.start: Values = {**self.parameters, **{name: self._declare_natural(f"{name}@0") for name in names}}
        self.processes = sum_terms([self.start[location.name] for location in automaton.locations])
        self.facts += [encode_formula(claim, self.start) for claim in (*automaton.assumptions, *automaton.initial)]
        if problem.most_processes is not None:
            self.facts.append(self.processes <= problem.most_processes)

    @property
    def end(self) -> Values:
        """The configuration at the end of the last segment."""
        return self.segments[-1].after if self.segments else self.start

    def _declare_natural(self, name: str) -> Any:
        """Declare a natural number; a name with a blank or @ cannot clash with a name in the automaton."""
        constant = z3.Int(name)
        self.facts.append(constant >= 0)
        return constant

    def _append_segment(self, rules: Iterable[Rule], single: bool) -> Segment:
        """Append a segment in which the rules are taken any number of times, without regard to guards."""
        before, number = self.end, len(self.segments) + 1
        taken = {rule: self._declare_natural(f"times {self._rule_indices[rule]}@{number}") for rule in rules}
        changes: dict[str, list[Any]] = {}
        for rule, times in taken.items():
            for name, change in _list_changes(rule):
                changes.setdefault(name, []).append(times if change == 1 else change * times)
        after = dict(before)
        for name, terms in changes.items():
            after[name] = self._declare_natural(f"{name}@{number}")
            self.facts.append(after[name] == sum_terms([before[name], *terms]))
        segment = Segment(taken, before, after, {} if single else self._declare_resting(number, before, after), single)
        self.segments.append(segment)
        return segment

    def _declare_resting(self, number: int, before: Values, after: Values) -> dict[str, Any]:
        """Declare how many processes rest in each location of the inhabited sets during the segment."""
        if not self.phases:
            return {}
        resting = {}
        for location in sorted(frozenset().union(*self.problem.inhabited_sets)):
            resting[location] = count = self._declare_natural(f"rest {location}@{number}")
            self.facts += [count <= 1, count <= before[location], count <= after[location]]
        return resting

    def append_stretch(self, rules: Iterable[Rule], allowed: Callable[[Formula, Segment], Any]) -> Segment:
        """Append a stretch of these rules; ``allowed`` encodes when a rule with a given guard can be taken in it."""
        segment = self._append_segment(rules, single=False)
        self._require_guards(segment, allowed)
        if self.problem.has_cycles:
            self._require_connected(segment)
        return segment

    def append_step(self) -> Segment:
        """Append a segment in which at most one process takes a rule that increases a shared variable."""
        segment = self._append_segment((rule for rule in self.problem.automaton.rules if rule.adds), single=True)
        self._require_guards(segment, lambda guard, segment: encode_formula(guard, segment.before))
        self.facts.append(sum_terms(list(segment.rule_counts.values())) <= 1)
        for location, leaving in segment.group_counts(lambda rule: rule.source).items():
            self.facts.append(sum_terms(leaving) <= segment.before[location])
        return segment

    def _require_guards(self, segment: Segment, allowed: Callable[[Formula, Segment], Any]) -> None:
        for guard, counts in segment.group_counts(lambda rule: rule.guard).items():
            if guard != Constant(True):
                self.facts.append(z3.Implies(sum_terms(counts) > 0, allowed(guard, segment)))

    def _require_connected(self, segment: Segment) -> None:
        """Require each location that is left to be occupied, or to be entered from a location earlier in some order."""
        number = len(self.segments)
        locations = [location.name for location in self.problem.automaton.locations]
        order = {location: z3.Int(f"order {location}@{number}") for location in locations}
        for location, leaving in segment.group_counts(lambda rule: rule.source).items():
            entering = [
                z3.And(times > 0, order[rule.source] < order[location])
                for rule, times in segment.rule_counts.items()
                if rule.target == location != rule.source
            ]
            occupied = segment.before[location] > segment.resting.get(location, 0)
            self.facts.append(z3.Implies(sum_terms(leaving) > 0, disjoin_terms([occupied, *entering])))

    def require_lasting(self, segment: Segment, condition: Any, claim: LastingClaim, unless: Any) -> None:
        """Require that, under the condition, a claim that holds at both ends of a stretch holds throughout.

        ``unless`` is the term under which the claim holds without regard to locations.
        """
        segment.lasting_claims.append((condition, claim))
        counts = segment.rule_counts.items()
        kept = [times == 0 for rule, times in counts if rule.source in claim.empty or rule.target in claim.empty]
        for locations in claim.inhabited if self.phases else ():
            leaving = [times for rule, times in counts if rule.source in locations and rule.target not in locations]
            resting = sum_terms([segment.resting[location] for location in sorted(locations)])
            kept.append(z3.Or(sum_terms(leaving) == 0, resting >= 1))
        self.facts.append(z3.Implies(condition, z3.Or(unless, conjoin_terms(kept))))

    def close(self) -> None:
        """End the run: it stays in its last configuration, or goes through a loop for ever."""
        shape, head = self.problem.shape, self.end
        self.facts += [encode_formula(claim, head) for claim in shape.eventually_always]
        if not self.problem.needs_loop:
            self.facts += [encode_formula(claim, head) for claim in shape.infinitely_often]
            return
        self.loop = len(self.segments)
        claims = [*(claim for moment in self.problem.lasting_claims for claim in moment), *self.problem.loop_claims]
        # The loop can be rotated and repeated, so the order in which the infinitely-often claims hold does not matter.
        first, *others = shape.infinitely_often
        self.facts.append(encode_formula(first, head))
        for formula in (*others, Constant(True)):
            for _ in range(max(1, self.phases)):
                segment = self.append_stretch(
                    self.problem.loop_rules, lambda guard, segment: encode_formula(guard, head)
                )
                for claim in claims:
                    self.require_lasting(segment, z3.BoolVal(True), claim, encode_formula(claim.unless, head))
                    self.facts.append(encode_lasting(claim, segment.after))
            self.facts.append(encode_formula(formula, self.end))
        locations = [location.name for location in self.problem.automaton.locations]
        self.facts += [self.end[location] == head[location] for location in locations]


def encode_lasting(claim: LastingClaim, values: Values) -> Any:
    """Encode that a lasting claim holds in a configuration."""
    empty = [values[location] == 0 for location in sorted(claim.empty)]
    inhabited = [sum_terms([values[location] for location in sorted(each)]) >= 1 for each in claim.inhabited]
    return z3.Or(encode_formula(claim.unless, values), conjoin_terms([*empty, *inhabited]))


def _list_changes(rule: Rule) -> list[tuple[str, int]]:
    """List what taking a rule once adds to locations and shared variables."""
    moves = [] if rule.source == rule.target else [(rule.source, -1), (rule.target, 1)]
    return [*moves, *rule.adds]
