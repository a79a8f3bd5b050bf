"""Specifications of control flow automata, with FAIR expanded.

In the ``formula`` of a specification, FAIR as a premise is weakened to a necessary condition, and FAIR as a conclusion
is false.  So every violation of the specification violates the formula, and a proof of the formula is a proof of the
specification.  Where the converse is not known, violations are searched in certainly fair runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx

from fdverify.errors import UsageError
from fdverify.threshold.automaton import Specification
from fdverify.threshold.claims.premise import premise
from fdverify.threshold.claims.shapes import shapes
from fdverify.threshold.flow.arcs import Arc
from fdverify.threshold.flow.automaton import FAIR, ControlFlow
from fdverify.threshold.flow.certain import Settling, settle
from fdverify.threshold.flow.fairness import Fairness
from fdverify.threshold.flow.memory import hindered, histories
from fdverify.threshold.flow.places import Layout
from fdverify.threshold.formula import (
    And,
    Comparison,
    Constant,
    Eventually,
    Formula,
    Globally,
    Implies,
    Linear,
    Not,
    Or,
    names,
)
from fdverify.threshold.text.read import read_specification

_FAIR = Comparison(Linear.of({FAIR: 1}), ">=", Linear(constant=1))
"""A placeholder for FAIR, until it is expanded according to its polarity."""


def specifications(
    flow: ControlFlow, arcs: Sequence[Arc], layout: Layout, fair: Fairness, due: Mapping[str, Linear]
) -> tuple[Specification, ...]:
    """Translate the specifications, each with certainly fair runs where its formula is not exact."""
    known = (*flow.statuses, *flow.shared, *flow.parameters)
    hindrance = _hindrance(flow, arcs)
    settling: Settling | None = None
    translated = []
    for name, text in flow.specifications.items():
        raw = read_specification(text, known, {FAIR: _FAIR}, f"{flow.name}: {name}")
        formula = _replaced(_by_location(flow, raw, layout), fair.needed, Constant(False))
        doubt = _doubt(name, raw, fair, hindrance) if FAIR in names(raw) else None
        if doubt is None:
            translated.append(Specification(name, formula))
            continue
        settling = settling or settle(flow, arcs, layout, due)
        certain = _replaced(_by_location(flow, raw, settling), settling.fair(), Constant(True))
        otherwise = f"{name}: {doubt}, which is not kept"
        translated.append(Specification(name, formula, settling.certain(certain, otherwise)))
    return tuple(translated)


@dataclass(frozen=True)
class _Hindrance:
    """Sentences about the first step that earlier receptions may disable.

    ``in_the_end`` is about steps on cycles that send nothing, ``at_some_time`` about all steps.
    """

    in_the_end: str | None
    at_some_time: str | None


def _hindrance(flow: ControlFlow, arcs: Sequence[Arc]) -> _Hindrance:
    rules = [arc for arc in arcs if arc.has_effect]
    stopped = hindered(flow, rules, histories(flow, arcs))
    turning = [arc for arc in _on_cycles(arc for arc in rules if not arc.adds) if arc in stopped]
    return _Hindrance(*(_first(steps, stopped) for steps in (turning, stopped)))


def _first(arcs: Iterable[Arc], stopped: dict[Arc, set[str]]) -> str | None:
    """Describe the first step that may be disabled."""
    arc = next(iter(arcs), None)
    if arc is None:
        return None
    counters = " and ".join(sorted(stopped[arc]))
    return f"whether a process goes from {arc.source} to {arc.target} depends on what it has received of {counters}"


def _on_cycles(arcs: Iterable[Arc]) -> Iterator[Arc]:
    """Return the steps on cycles of statuses: both ends are in one strongly connected component."""
    moves = list(arcs)
    graph: Any = nx.DiGraph([(arc.source, arc.target) for arc in moves])
    components = enumerate(nx.strongly_connected_components(graph))
    component = {status: number for number, statuses in components for status in statuses}
    return (arc for arc in moves if component[arc.source] == component[arc.target])


def _doubt(name: str, formula: Formula, fair: Fairness, hindrance: _Hindrance) -> str | None:
    """Return why a violation of the formula may not be one of the specification; ``None`` if it always is."""
    try:
        cases = [*shapes(name, formula), *shapes(name, Not(premise(formula)))]
    except UsageError:  # the formula may still be accepted once FAIR is expanded
        return "nothing follows from the position of FAIR in it about what was received"
    times = [claim for shape in cases for moment in shape.moments for claim in moment.holds]
    lasting = [claim for shape in cases for moment in shape.moments for claim in moment.for_good]
    ends = [claim for shape in cases for claim in (*shape.at_last, *shape.again)]
    if any(_denies_fair(claim) for claim in (*times, *lasting, *ends)):
        return "a run that violates it is not FAIR at some time, and that depends on what was received"
    if any(FAIR in names(claim) for claim in lasting):  # a message is not received in the step that sends it
        return "a run that violates it is FAIR at all times, and that depends on when something was received"
    if any(FAIR in names(claim) for shape in cases for claim in shape.moments[0].holds):
        return "it says that the start is FAIR, before anything is received"
    if any(FAIR in names(claim) for claim in times) and hindrance.at_some_time is not None:
        return f"FAIR is claimed not only of the end of a run, and {hindrance.at_some_time}"
    if hindrance.in_the_end is not None:
        return hindrance.in_the_end
    if not fair.unclear:
        return None
    statuses = " or ".join(fair.unclear)
    return f"whether a process has received what is due depends on what it received before it had status {statuses}"


def _denies_fair(formula: Formula) -> bool:
    match formula:
        case And(left, right) | Or(left, right):
            return _denies_fair(left) or _denies_fair(right)
        case Comparison(left, operator, _):
            return FAIR in left.names() and operator != ">="
        case _:
            return False


def _replaced(formula: Formula, premised: Formula, asserted: Formula) -> Formula:
    """Expand FAIR by polarity: ``premised`` where a violating run is fair, ``asserted`` where it is not."""

    def within(part: Formula, is_positive: bool) -> Formula:
        match part:
            case Not(operand):
                return Not(within(operand, not is_positive))
            case And(left, right) | Or(left, right):
                return type(part)(within(left, is_positive), within(right, is_positive))
            case Implies(left, right):
                return Implies(within(left, not is_positive), within(right, is_positive))
            case Eventually(operand) | Globally(operand):
                return type(part)(within(operand, is_positive))
            case Comparison() if part == _FAIR:
                return asserted if is_positive else premised
            case _:
                return part

    return within(formula, True)


def _by_location(flow: ControlFlow, formula: Formula, layout: Layout | Settling) -> Formula:
    """Replace the number of processes with a status by the sum over its locations."""
    locations = {status: layout.of_status(status) for status in flow.statuses}

    def spread(linear: Linear) -> Linear:
        factors: dict[str, int] = {}
        for name, factor in linear.factors:
            for location in locations.get(name, [name]):
                factors[location] = factor
        return Linear.of(factors, linear.constant)

    def within(part: Formula) -> Formula:
        match part:
            case Not(operand) | Eventually(operand) | Globally(operand):
                return type(part)(within(operand))
            case And(left, right) | Or(left, right) | Implies(left, right):
                return type(part)(within(left), within(right))
            case Comparison(left, operator, right):
                return Comparison(spread(left), operator, spread(right))
            case _:
                return part

    return within(formula)
