"""Specifications of control flow automata: FAIR is written out, in two ways where it cannot be in one.

A run of processes that breaks a specification breaks its ``formula``, in which FAIR is what is so if everybody has
received what is due.  Where the converse is not known, runs are looked for in which it is certain.
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
"""Stands for FAIR until it is known where it occurs."""


def specifications(
    flow: ControlFlow, arcs: Sequence[Arc], layout: Layout, fair: Fairness, due: Mapping[str, Linear]
) -> tuple[Specification, ...]:
    known = (*flow.statuses, *flow.shared, *flow.parameters)
    hindrance = _hindrance(flow, arcs)
    settling: Settling | None = None
    found = []
    for name, text in flow.specifications.items():
        raw = read_specification(text, known, {FAIR: _FAIR}, f"{flow.name}: {name}")
        formula = _replaced(_by_location(flow, raw, layout), fair.needed, Constant(False))
        why = _doubt(name, raw, fair, hindrance) if FAIR in names(raw) else None
        if why is None:
            found.append(Specification(name, formula))
            continue
        settling = settling or settle(flow, arcs, layout, due)
        certain = _replaced(_by_location(flow, raw, settling), settling.fair(), Constant(True))
        otherwise = f"{name}: {why}, which is not kept"
        found.append(Specification(name, formula, settling.certain(certain, otherwise)))
    return tuple(found)


@dataclass(frozen=True)
class _Hindrance:
    """What keeps processes that have received what is due from going on as before."""

    in_the_end: str | None
    at_some_time: str | None


def _hindrance(flow: ControlFlow, arcs: Sequence[Arc]) -> _Hindrance:
    rules = [arc for arc in arcs if arc.has_effect]
    stopped = hindered(flow, rules, histories(flow, arcs))
    turning = [arc for arc in _on_cycles(arc for arc in rules if not arc.adds) if arc in stopped]
    return _Hindrance(*(_first(each, stopped) for each in (turning, stopped)))


def _first(arcs: Iterable[Arc], stopped: dict[Arc, set[str]]) -> str | None:
    arc = next(iter(arcs), None)
    if arc is None:
        return None
    counters = " and ".join(sorted(stopped[arc]))
    return f"whether a process goes from {arc.source} to {arc.target} depends on what it has received of {counters}"


def _on_cycles(arcs: Iterable[Arc]) -> Iterator[Arc]:
    moves = list(arcs)
    graph: Any = nx.DiGraph([(arc.source, arc.target) for arc in moves])
    component = {place: at for at, places in enumerate(nx.strongly_connected_components(graph)) for place in places}
    return (arc for arc in moves if component[arc.source] == component[arc.target])


def _doubt(name: str, formula: Formula, fair: Fairness, hindrance: _Hindrance) -> str | None:
    """Why processes cannot be said to receive what is due when a formula says so; none if they can."""
    try:
        found = [*shapes(name, formula), *shapes(name, Not(premise(formula)))]
    except UsageError:  # once FAIR is written out, what is left may not be refused
        return "where FAIR stands in it tells nothing of what was received"
    times = [claim for shape in found for each in shape.moments for claim in each.holds]
    lasting = [claim for shape in found for each in shape.moments for claim in each.for_good]
    ends = [claim for shape in found for claim in (*shape.at_last, *shape.again)]
    if any(_denies_fair(claim) for claim in (*times, *lasting, *ends)):
        return "a run that breaks it is not FAIR at some time, and that depends on what was received"
    if any(FAIR in names(claim) for claim in lasting):  # what has just been sent is not received in the same step
        return "a run that breaks it is FAIR at all times, and that depends on when something was received"
    if any(FAIR in names(claim) for shape in found for claim in shape.moments[0].holds):
        return "it says that the start is FAIR, before anything is received"
    if any(FAIR in names(claim) for claim in times) and hindrance.at_some_time is not None:
        return f"FAIR is not only said of the end of a run, and {hindrance.at_some_time}"
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
    """With FAIR written out where a run that breaks the formula is fair, and otherwise where it is not."""

    def within(part: Formula, breaks: bool) -> Formula:
        match part:
            case Not(operand):
                return Not(within(operand, not breaks))
            case And(left, right) | Or(left, right):
                return type(part)(within(left, breaks), within(right, breaks))
            case Implies(left, right):
                return Implies(within(left, not breaks), within(right, breaks))
            case Eventually(operand) | Globally(operand):
                return type(part)(within(operand, breaks))
            case Comparison() if part == _FAIR:
                return asserted if breaks else premised
            case _:
                return part

    return within(formula, True)


def _by_location(flow: ControlFlow, formula: Formula, layout: Layout | Settling) -> Formula:
    """With the number of processes of a status as the sum over its locations."""
    places = {status: layout.of_status(status) for status in flow.statuses}

    def spread(linear: Linear) -> Linear:
        found: dict[str, int] = {}
        for name, factor in linear.factors:
            for place in places.get(name, [name]):
                found[place] = factor
        return Linear.of(found, linear.constant)

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
