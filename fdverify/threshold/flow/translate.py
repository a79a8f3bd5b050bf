"""Translation of a control flow automaton to a threshold automaton, for any number of processes."""

from __future__ import annotations

from dataclasses import dataclass

from fdverify.threshold.automaton import Automaton, Location, Rule
from fdverify.threshold.flow.arcs import arcs
from fdverify.threshold.flow.automaton import FAIR, STATUS, ControlFlow, check_flow
from fdverify.threshold.flow.fairness import fairness, read_due
from fdverify.threshold.flow.places import Layout, free_name, lay_out
from fdverify.threshold.flow.specifications import specifications
from fdverify.threshold.formula import Comparison, Formula, Linear
from fdverify.threshold.text.read import read_claim, read_linear
from fdverify.threshold.text.write import linear_text, written


@dataclass(frozen=True)
class _Translation:
    automaton: Automaton
    layout: Layout
    fair: Formula


def threshold_automaton(flow: ControlFlow) -> Automaton:
    """Build the threshold automaton; its locations are statuses with a memory of what was received."""
    return _translated(flow).automaton


def threshold_text(flow: ControlFlow) -> str:
    """Write the threshold automaton in ByMC's text format."""
    translation = _translated(flow)
    remembered = [
        f"{name}: has status {place.status} and received "
        + ", ".join(f"{counter} >= {linear_text(number)}" for counter, numbers in place.memory for number in numbers)
        for place, name in translation.layout.names.items()
        if place.memory
    ]
    about = "\n   ".join([flow.about, *remembered]) if flow.about else "\n   ".join(remembered)
    return written(translation.automaton, about, {FAIR: translation.fair})


def _translated(flow: ControlFlow) -> _Translation:
    check_flow(flow)
    steps = arcs(flow)
    layout = lay_out(flow, [step for step in steps if step.has_effect])
    due = read_due(flow)
    fair = fairness(flow, steps, layout, due)
    numbers = {status: number for number, status in enumerate(flow.statuses)}
    automaton = Automaton(
        name=flow.name,
        local=_locals(flow, layout),
        shared=tuple(flow.shared),
        parameters=tuple(flow.parameters),
        unknowns=(),
        assumptions=tuple(
            read_claim(claim, flow.parameters, f"{flow.name}: the resilience condition") for claim in flow.assumptions
        ),
        locations=tuple(
            Location(name, (numbers[place.status], position) if layout.remembers else (numbers[place.status],))
            for position, (place, name) in enumerate(layout.names.items())
        ),
        initial=_initial(flow, layout),
        rules=tuple(
            Rule(number, layout.names[step.source], layout.names[step.target], step.guard, step.adds)
            for number, step in enumerate(layout.passages, start=1)
        ),
        specifications=specifications(flow, steps, layout, fair, due),
    )
    return _Translation(automaton, layout, fair.needed)


def _locals(flow: ControlFlow, layout: Layout) -> tuple[str, ...]:
    if not layout.remembers:
        return (STATUS,)
    return (STATUS, free_name("received", {*flow.shared, *flow.parameters, *layout.names.values()}))


def _initial(flow: ControlFlow, layout: Layout) -> tuple[Formula, ...]:
    processes = read_linear(flow.processes, flow.parameters, f"{flow.name}: processes")
    start = Comparison(Linear.of(dict.fromkeys(flow.initial, 1)), "==", processes)
    others = [name for name in (*layout.names.values(), *flow.shared) if name not in flow.initial]
    return (start, *(Comparison(Linear.of({name: 1}), "==", Linear()) for name in others))
