"""An automaton of certainly fair runs: in them every process receives all that is due, and settles.

A counter of a process is settled once the process has received what is due.  Locations record the settled counters.
Once a counter of any process is settled, nobody sends any more.  So the due amounts no longer change, and guards can
compare them with thresholds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from fdverify.errors import UsageError
from fdverify.threshold.automaton import Location, Rule, UnderApproximation
from fdverify.threshold.claims.nnf import conjoin_all, disjoin_formulas
from fdverify.threshold.flow.arcs import Arc, at_most
from fdverify.threshold.flow.control_flow import ControlFlow
from fdverify.threshold.flow.flow_locations import (
    FlowLayout,
    FlowLocation,
    FlowRule,
    Memory,
    build_flow_rule,
    find_free_name,
    list_reception_conditions,
    update_memory,
)
from fdverify.threshold.flow.reception_history import compute_needed_memory
from fdverify.threshold.ltl_formula import (
    Constant,
    Formula,
    LinearComparison,
    LinearExpression,
    iterate_subformulas,
)

_MOST_RULES = 3_000

Due = Mapping[str, LinearExpression]


@dataclass(frozen=True)
class SettledLocation:
    """A location with its settled counters, and a memory that also covers steps without an effect."""

    place: FlowLocation
    memory: Memory = ()
    counters: tuple[str, ...] = ()


@dataclass(frozen=True)
class _SettlingStep:
    source: SettledLocation
    target: SettledLocation
    guard: Formula
    adds: tuple[tuple[str, int], ...]
    twin: FlowRule | None


@dataclass(frozen=True)
class SettledAutomaton:
    """The locations and steps of certainly fair runs, and their fairness condition."""

    flow: ControlFlow
    base: FlowLayout
    names: Mapping[SettledLocation, str]
    steps: tuple[_SettlingStep, ...]
    done: str
    due: Due

    def list_locations(self, status: str) -> list[str]:
        return [name for settled, name in self.names.items() if settled.place.status == status]

    def build_fairness(self) -> Formula:
        """State that every process has settled all counters, or that nothing is due for the others."""
        by_condition: dict[Formula, list[str]] = {}
        for settled, name in self.names.items():
            open_amounts = [amount for counter, amount in self.due.items() if counter not in settled.counters]
            left = settled.place.status in self.flow.left
            nothing = (
                Constant(False) if left else conjoin_all(at_most(amount, LinearExpression()) for amount in open_amounts)
            )
            by_condition.setdefault(nothing, []).append(name)
        return conjoin_all(
            disjoin_formulas(
                LinearComparison(LinearExpression.from_factors(dict.fromkeys(names, 1)), "==", LinearExpression()),
                nothing,
            )
            for nothing, names in by_condition.items()
        )

    def build_under_approximation(self, formula: Formula, otherwise: str) -> UnderApproximation:
        """Build the extension of the automaton in which a violation of this formula is a violation for certain."""
        known = set(self.base.names.values())
        added = [name for name in self.names.values() if name not in known]
        values = (0, 0) if self.base.remembers else (0,)
        numbers = {passage: number for number, passage in enumerate(self.base.rules)}
        return UnderApproximation(
            formula=formula,
            shared=(self.done,),
            locations=tuple(Location(name, values) for name in added),
            rules=tuple(
                Rule(number, self.names[step.source], self.names[step.target], step.guard, step.adds)
                for number, step in enumerate(self.steps)
            ),
            initial=tuple(
                LinearComparison(LinearExpression.from_factors({name: 1}), "==", LinearExpression())
                for name in (self.done, *added)
            ),
            originals=tuple(None if step.twin is None else numbers[step.twin] for step in self.steps),
            refusal=otherwise,
        )


def build_settled_automaton(flow: ControlFlow, arcs: Sequence[Arc], base: FlowLayout, due: Due) -> SettledAutomaton:
    """Build the automaton of certainly fair runs: all steps before, while and after counters are settled."""
    done = find_free_name("done", {*flow.parameters, *flow.shared, *base.names.values()})
    outside = compute_needed_memory(flow, [arc for arc in arcs if arc.has_effect])
    inside = compute_needed_memory(flow, arcs)
    reached = [SettledLocation(FlowLocation(status)) for status in flow.initial]
    seen = set(reached)
    steps: dict[_SettlingStep, None] = {}
    for settled in reached:  # the list grows meanwhile
        for arc in arcs:
            if arc.source != settled.place.status or (arc.adds and settled.counters):
                continue
            twin = build_flow_rule(arc, settled.place, outside[arc.target]) if arc.has_effect else None
            for step in _enumerate_variants(flow, arc, settled, twin, inside[arc.target], due, done):
                steps[step] = None
                if step.target not in seen:
                    seen.add(step.target)
                    reached.append(step.target)
        if len(steps) > _MOST_RULES:
            raise UsageError(f"{flow.name}: there are more than {_MOST_RULES} ways to receive what is due")
    names = _name_locations(base, reached, {done, *flow.parameters, *flow.shared})
    return SettledAutomaton(flow, base, names, tuple(steps), done, due)


def _enumerate_variants(
    flow: ControlFlow, arc: Arc, source: SettledLocation, twin: FlowRule | None, kept: set[str], due: Due, done: str
) -> Iterator[_SettlingStep]:
    """Enumerate the variants of a step, by the set of counters that it settles."""
    target = source.place if twin is None else twin.target
    memory = update_memory(arc, source.memory)
    sends = LinearComparison(LinearExpression.from_factors({done: 1}), "<", LinearExpression(constant=1))
    open_counters = [counter for counter, _ in arc.received if counter not in source.counters]
    for number in range(len(open_counters) + 1):
        for now in combinations(open_counters, number):
            counters = tuple(sorted({*source.counters, *now}))
            claims: list[Formula] = [sends] if arc.adds else []
            for counter, received in arc.received:
                amount = (
                    [due[counter].add(LinearExpression(constant=arc.compute_growth(due[counter])))]
                    if counter in counters
                    else []
                )
                claims += list_reception_conditions(received, (*memory[counter], *amount))
            remembered = tuple((name, memory[name]) for name in sorted(memory) if name in kept and memory[name])
            step = _SettlingStep(
                source,
                SettledLocation(target, remembered, counters),
                conjoin_all(dict.fromkeys(claims)),
                tuple(sorted((*arc.adds, *([(done, 1)] if now else [])))),
                twin,
            )
            if (twin is not None or now) and all(_is_threshold_guard(flow, claim) for claim in claims):
                yield step


def _is_threshold_guard(flow: ControlFlow, claim: Formula) -> bool:
    """Return whether every comparison is a threshold: shared variables occur with one sign only."""
    for part in iterate_subformulas(claim):
        if isinstance(part, LinearComparison):
            factors = [factor for name, factor in part.subtract_sides().factors if name in flow.shared]
            if min(factors, default=0) < 0 < max(factors, default=0):
                return False
    return True


def _name_locations(
    base: FlowLayout, reached: Iterable[SettledLocation], others: set[str]
) -> dict[SettledLocation, str]:
    """Name the locations; one without settled counters or more memory is the location of the base automaton."""
    taken = {*base.names.values(), *others}
    names = {SettledLocation(place, place.memory): name for place, name in base.names.items()}
    for settled in reached:
        if settled not in names:
            names[settled] = find_free_name(f"{base.names[settled.place]}_settled", taken)
            taken.add(names[settled])
    return names
