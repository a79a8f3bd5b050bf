"""Specifications of control flow automata, with FAIR expanded.

In the ``formula`` of a specification, FAIR as a premise is weakened to a necessary condition, and FAIR as a conclusion
is false.  So every violation of the specification violates the formula, and a proof of the formula is a proof of the
specification.  Where the converse is not known, violations are searched in certainly fair runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fdverify.errors import UsageError
from fdverify.threshold.automaton import Specification
from fdverify.threshold.claims.run_shapes import list_violating_shapes
from fdverify.threshold.cycles import select_edges_on_cycles
from fdverify.threshold.flow.arcs import Arc
from fdverify.threshold.flow.control_flow import FAIR, ControlFlow
from fdverify.threshold.flow.fairness import FairnessCondition
from fdverify.threshold.flow.flow_locations import FlowLayout
from fdverify.threshold.flow.reception_history import compute_histories, find_disabled_arcs
from fdverify.threshold.flow.settled_automaton import SettledAutomaton, build_settled_automaton
from fdverify.threshold.ltl_formula import (
    And,
    Constant,
    Eventually,
    Formula,
    Globally,
    Implies,
    LinearComparison,
    LinearExpression,
    Not,
    Or,
    collect_formula_names,
    extract_premise,
)
from fdverify.threshold.text.read import parse_specification

_FAIR = LinearComparison(LinearExpression.from_factors({FAIR: 1}), ">=", LinearExpression(constant=1))
"""A placeholder for FAIR, until it is expanded according to its polarity."""


def translate_specifications(
    flow: ControlFlow,
    arcs: Sequence[Arc],
    layout: FlowLayout,
    fair: FairnessCondition,
    due: Mapping[str, LinearExpression],
) -> tuple[Specification, ...]:
    """Translate the specifications, each with certainly fair runs where its formula is not exact."""
    known = (*flow.statuses, *flow.shared, *flow.parameters)
    hindrance = _find_disabled_steps(flow, arcs)
    settling: SettledAutomaton | None = None
    translated = []
    for name, text in flow.specifications.items():
        raw = parse_specification(text, known, {FAIR: _FAIR}, f"{flow.name}: {name}")
        formula = _expand_fair(_sum_over_locations(flow, raw, layout), fair.needed, Constant(False))
        doubt = _find_doubt(name, raw, fair, hindrance) if FAIR in collect_formula_names(raw) else None
        if doubt is None:
            translated.append(Specification(name, formula))
            continue
        settling = settling or build_settled_automaton(flow, arcs, layout, due)
        certain = _expand_fair(_sum_over_locations(flow, raw, settling), settling.build_fairness(), Constant(True))
        otherwise = f"{name}: {doubt}, which is not kept"
        translated.append(Specification(name, formula, settling.build_under_approximation(certain, otherwise)))
    return tuple(translated)


@dataclass(frozen=True)
class _DisabledSteps:
    """Sentences about the first step that earlier receptions may disable.

    ``in_the_end`` is about steps on cycles that send nothing, ``at_some_time`` about all steps.
    """

    in_the_end: str | None
    at_some_time: str | None


def _find_disabled_steps(flow: ControlFlow, arcs: Sequence[Arc]) -> _DisabledSteps:
    rules = [arc for arc in arcs if arc.has_effect]
    stopped = find_disabled_arcs(flow, rules, compute_histories(flow, arcs))
    turning = [arc for arc in select_edges_on_cycles(arc for arc in rules if not arc.adds) if arc in stopped]
    return _DisabledSteps(*(_describe_first(steps, stopped) for steps in (turning, stopped)))


def _describe_first(arcs: Iterable[Arc], stopped: dict[Arc, set[str]]) -> str | None:
    """Describe the first step that may be disabled."""
    arc = next(iter(arcs), None)
    if arc is None:
        return None
    counters = " and ".join(sorted(stopped[arc]))
    return f"whether a process goes from {arc.source} to {arc.target} depends on what it has received of {counters}"


def _find_doubt(name: str, formula: Formula, fair: FairnessCondition, hindrance: _DisabledSteps) -> str | None:
    """Return why a violation of the formula may not be one of the specification; ``None`` if it always is."""
    try:
        cases = [*list_violating_shapes(name, formula), *list_violating_shapes(name, Not(extract_premise(formula)))]
    except UsageError:  # the formula may still be accepted once FAIR is expanded
        return "nothing follows from the position of FAIR in it about what was received"
    times = [claim for shape in cases for moment in shape.moments for claim in moment.holds]
    lasting = [claim for shape in cases for moment in shape.moments for claim in moment.globally]
    ends = [claim for shape in cases for claim in (*shape.eventually_always, *shape.infinitely_often)]
    if any(_denies_fair(claim) for claim in (*times, *lasting, *ends)):
        return "a run that violates it is not FAIR at some time, and that depends on what was received"
    if any(
        FAIR in collect_formula_names(claim) for claim in lasting
    ):  # a message is not received in the step that sends it
        return "a run that violates it is FAIR at all times, and that depends on when something was received"
    if any(FAIR in collect_formula_names(claim) for shape in cases for claim in shape.moments[0].holds):
        return "it says that the start is FAIR, before anything is received"
    if any(FAIR in collect_formula_names(claim) for claim in times) and hindrance.at_some_time is not None:
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
        case LinearComparison(left, operator, _):
            return FAIR in left.collect_names() and operator != ">="
        case _:
            return False


def _expand_fair(formula: Formula, premised: Formula, asserted: Formula) -> Formula:
    """Expand FAIR by polarity: ``premised`` where a violating run is fair, ``asserted`` where it is not."""

    def expand_part(part: Formula, is_positive: bool) -> Formula:
        match part:
            case Not(operand):
                return Not(expand_part(operand, not is_positive))
            case And(left, right) | Or(left, right):
                return type(part)(expand_part(left, is_positive), expand_part(right, is_positive))
            case Implies(left, right):
                return Implies(expand_part(left, not is_positive), expand_part(right, is_positive))
            case Eventually(operand) | Globally(operand):
                return type(part)(expand_part(operand, is_positive))
            case LinearComparison() if part == _FAIR:
                return asserted if is_positive else premised
            case _:
                return part

    return expand_part(formula, True)


def _sum_over_locations(flow: ControlFlow, formula: Formula, layout: FlowLayout | SettledAutomaton) -> Formula:
    """Replace the number of processes with a status by the sum over its locations."""
    locations = {status: layout.list_locations(status) for status in flow.statuses}

    def spread_sum(linear: LinearExpression) -> LinearExpression:
        factors: dict[str, int] = {}
        for name, factor in linear.factors:
            for location in locations.get(name, [name]):
                factors[location] = factor
        return LinearExpression.from_factors(factors, linear.constant)

    def rewrite_part(part: Formula) -> Formula:
        match part:
            case Not(operand) | Eventually(operand) | Globally(operand):
                return type(part)(rewrite_part(operand))
            case And(left, right) | Or(left, right) | Implies(left, right):
                return type(part)(rewrite_part(left), rewrite_part(right))
            case LinearComparison(left, operator, right):
                return LinearComparison(spread_sum(left), operator, spread_sum(right))
            case _:
                return part

    return rewrite_part(formula)
