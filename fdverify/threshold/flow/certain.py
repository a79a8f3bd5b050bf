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
from fdverify.threshold.automaton import Certain, Location, Rule
from fdverify.threshold.claims.normal import all_of, either
from fdverify.threshold.flow.arcs import Arc, at_most
from fdverify.threshold.flow.automaton import ControlFlow
from fdverify.threshold.flow.memory import needed_memory
from fdverify.threshold.flow.places import Layout, Memory, Passage, Place, free_name, pass_along, possible, remember
from fdverify.threshold.formula import Comparison, Constant, Formula, Linear, parts

_MOST_RULES = 3_000

Due = Mapping[str, Linear]


@dataclass(frozen=True)
class Settled:
    """A location with its settled counters, and a memory that also covers steps without an effect."""

    place: Place
    memory: Memory = ()
    counters: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Step:
    source: Settled
    target: Settled
    guard: Formula
    adds: tuple[tuple[str, int], ...]
    twin: Passage | None


@dataclass(frozen=True)
class Settling:
    """The locations and steps of certainly fair runs, and their fairness condition."""

    flow: ControlFlow
    base: Layout
    names: Mapping[Settled, str]
    steps: tuple[_Step, ...]
    done: str
    due: Due

    def of_status(self, status: str) -> list[str]:
        return [name for settled, name in self.names.items() if settled.place.status == status]

    def fair(self) -> Formula:
        """State that every process has settled all counters, or that nothing is due for the others."""
        by_condition: dict[Formula, list[str]] = {}
        for settled, name in self.names.items():
            open_amounts = [amount for counter, amount in self.due.items() if counter not in settled.counters]
            left = settled.place.status in self.flow.left
            nothing = Constant(False) if left else all_of(at_most(amount, Linear()) for amount in open_amounts)
            by_condition.setdefault(nothing, []).append(name)
        return all_of(
            either(Comparison(Linear.of(dict.fromkeys(names, 1)), "==", Linear()), nothing)
            for nothing, names in by_condition.items()
        )

    def certain(self, formula: Formula, otherwise: str) -> Certain:
        """Build the extension of the automaton in which a violation of this formula is a violation for certain."""
        known = set(self.base.names.values())
        added = [name for name in self.names.values() if name not in known]
        values = (0, 0) if self.base.remembers else (0,)
        numbers = {passage: number for number, passage in enumerate(self.base.passages)}
        return Certain(
            formula=formula,
            shared=(self.done,),
            locations=tuple(Location(name, values) for name in added),
            rules=tuple(
                Rule(number, self.names[step.source], self.names[step.target], step.guard, step.adds)
                for number, step in enumerate(self.steps)
            ),
            initial=tuple(Comparison(Linear.of({name: 1}), "==", Linear()) for name in (self.done, *added)),
            twins=tuple(None if step.twin is None else numbers[step.twin] for step in self.steps),
            otherwise=otherwise,
        )


def settle(flow: ControlFlow, arcs: Sequence[Arc], base: Layout, due: Due) -> Settling:
    """Build the automaton of certainly fair runs: all steps before, while and after counters are settled."""
    done = free_name("done", {*flow.parameters, *flow.shared, *base.names.values()})
    outside = needed_memory(flow, [arc for arc in arcs if arc.has_effect])
    inside = needed_memory(flow, arcs)
    reached = [Settled(Place(status)) for status in flow.initial]
    seen = set(reached)
    steps: dict[_Step, None] = {}
    for settled in reached:  # the list grows meanwhile
        for arc in arcs:
            if arc.source != settled.place.status or (arc.adds and settled.counters):
                continue
            twin = pass_along(arc, settled.place, outside[arc.target]) if arc.has_effect else None
            for step in _steps(flow, arc, settled, twin, inside[arc.target], due, done):
                steps[step] = None
                if step.target not in seen:
                    seen.add(step.target)
                    reached.append(step.target)
        if len(steps) > _MOST_RULES:
            raise UsageError(f"{flow.name}: there are more than {_MOST_RULES} ways to receive what is due")
    names = _named(base, reached, {done, *flow.parameters, *flow.shared})
    return Settling(flow, base, names, tuple(steps), done, due)


def _steps(
    flow: ControlFlow, arc: Arc, source: Settled, twin: Passage | None, kept: set[str], due: Due, done: str
) -> Iterator[_Step]:
    """Enumerate the variants of a step, by the set of counters that it settles."""
    target = source.place if twin is None else twin.target
    memory = remember(arc, source.memory)
    sends = Comparison(Linear.of({done: 1}), "<", Linear(constant=1))
    open_counters = [counter for counter, _ in arc.received if counter not in source.counters]
    for number in range(len(open_counters) + 1):
        for now in combinations(open_counters, number):
            counters = tuple(sorted({*source.counters, *now}))
            claims: list[Formula] = [sends] if arc.adds else []
            for counter, received in arc.received:
                amount = [due[counter].plus(Linear(constant=arc.adding(due[counter])))] if counter in counters else []
                claims += possible(received, (*memory[counter], *amount))
            remembered = tuple((name, memory[name]) for name in sorted(memory) if name in kept and memory[name])
            step = _Step(
                source,
                Settled(target, remembered, counters),
                all_of(dict.fromkeys(claims)),
                tuple(sorted((*arc.adds, *([(done, 1)] if now else [])))),
                twin,
            )
            if (twin is not None or now) and all(_changes_once(flow, claim) for claim in claims):
                yield step


def _changes_once(flow: ControlFlow, claim: Formula) -> bool:
    """Return whether every comparison is a threshold: shared variables occur with one sign only."""
    for part in parts(claim):
        if isinstance(part, Comparison):
            factors = [factor for name, factor in part.difference().factors if name in flow.shared]
            if min(factors, default=0) < 0 < max(factors, default=0):
                return False
    return True


def _named(base: Layout, reached: Iterable[Settled], others: set[str]) -> dict[Settled, str]:
    """Name the locations; one without settled counters or more memory is the location of the base automaton."""
    taken = {*base.names.values(), *others}
    names = {Settled(place, place.memory): name for place, name in base.names.items()}
    for settled in reached:
        if settled not in names:
            names[settled] = free_name(f"{base.names[settled.place]}_settled", taken)
            taken.add(names[settled])
    return names
