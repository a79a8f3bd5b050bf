"""Translation of a control flow automaton to a threshold automaton, for any number of processes."""

from __future__ import annotations

from dataclasses import dataclass

from fdverify.threshold.automaton import Automaton, Location, Rule
from fdverify.threshold.flow.arcs import enumerate_arcs
from fdverify.threshold.flow.control_flow import FAIR, STATUS, ControlFlow, check_flow
from fdverify.threshold.flow.fairness import build_fairness, parse_due
from fdverify.threshold.flow.flow_locations import FlowLayout, compute_layout, find_free_name
from fdverify.threshold.flow.specifications import translate_specifications
from fdverify.threshold.ltl_formula import Formula, LinearComparison, LinearExpression
from fdverify.threshold.text.read import parse_claim, parse_linear
from fdverify.threshold.text.write import format_linear, write_automaton


@dataclass(frozen=True)
class _Translation:
    automaton: Automaton
    layout: FlowLayout
    fair: Formula


def build_threshold_automaton(flow: ControlFlow) -> Automaton:
    """Build the threshold automaton; its locations are statuses with a memory of what was received."""
    return _translate_flow(flow).automaton


def write_threshold_text(flow: ControlFlow) -> str:
    """Write the threshold automaton in ByMC's text format."""
    translation = _translate_flow(flow)
    remembered = [
        f"{name}: has status {place.status} and received "
        + ", ".join(f"{counter} >= {format_linear(number)}" for counter, numbers in place.memory for number in numbers)
        for place, name in translation.layout.names.items()
        if place.memory
    ]
    about = "\n   ".join([flow.about, *remembered]) if flow.about else "\n   ".join(remembered)
    return write_automaton(translation.automaton, about, {FAIR: translation.fair})


def _translate_flow(flow: ControlFlow) -> _Translation:
    check_flow(flow)
    steps = enumerate_arcs(flow)
    layout = compute_layout(flow, [step for step in steps if step.has_effect])
    due = parse_due(flow)
    fair = build_fairness(flow, steps, layout, due)
    numbers = {status: number for number, status in enumerate(flow.statuses)}
    automaton = Automaton(
        name=flow.name,
        local=_name_local_variables(flow, layout),
        shared=tuple(flow.shared),
        parameters=tuple(flow.parameters),
        unknowns=(),
        assumptions=tuple(
            parse_claim(claim, flow.parameters, f"{flow.name}: the resilience condition") for claim in flow.assumptions
        ),
        locations=tuple(
            Location(name, (numbers[place.status], position) if layout.remembers else (numbers[place.status],))
            for position, (place, name) in enumerate(layout.names.items())
        ),
        initial=_build_initial_condition(flow, layout),
        rules=tuple(
            Rule(number, layout.names[step.source], layout.names[step.target], step.guard, step.adds)
            for number, step in enumerate(layout.rules, start=1)
        ),
        specifications=translate_specifications(flow, steps, layout, fair, due),
    )
    return _Translation(automaton, layout, fair.needed)


def _name_local_variables(flow: ControlFlow, layout: FlowLayout) -> tuple[str, ...]:
    if not layout.remembers:
        return (STATUS,)
    return (STATUS, find_free_name("received", {*flow.shared, *flow.parameters, *layout.names.values()}))


def _build_initial_condition(flow: ControlFlow, layout: FlowLayout) -> tuple[Formula, ...]:
    processes = parse_linear(flow.processes, flow.parameters, f"{flow.name}: processes")
    start = LinearComparison(LinearExpression.from_factors(dict.fromkeys(flow.initial, 1)), "==", processes)
    others = [name for name in (*layout.names.values(), *flow.shared) if name not in flow.initial]
    return (
        start,
        *(LinearComparison(LinearExpression.from_factors({name: 1}), "==", LinearExpression()) for name in others),
    )
