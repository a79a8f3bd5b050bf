"""A run that breaks a specification, replayed step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from fdverify.errors import InternalError
from fdverify.threshold.automaton import Automaton, Certain, Specification
from fdverify.threshold.interpret import Step, replayed, starts
from fdverify.threshold.runs.realise import Found
from fdverify.threshold.temporal import holds_of_run


@dataclass(frozen=True)
class Counterexample:
    """Parameters, the values at the start, and steps with the values after each; from ``loop`` on they go on for ever.

    Without steps from there on, nothing moves any more.
    """

    parameters: dict[str, int]
    start: dict[str, int]
    steps: tuple[tuple[Step, dict[str, int]], ...]
    loop: int


def counterexample(automaton: Automaton, specification: Specification, found: Found) -> Counterexample:
    """The run, replayed, if it breaks the specification."""
    if not starts(automaton, found.start):
        raise InternalError("the run that was found starts where none does")
    configurations = replayed(found.rules, found.start)
    if found.loop < len(found.rules) and configurations[-1] != configurations[found.loop]:
        raise InternalError("the loop of the run that was found does not come back")
    if holds_of_run(specification.formula, configurations, found.loop):
        raise InternalError(f"the run that was found does not break {specification.name} when it is replayed")
    before = _in_steps(found, configurations, 0, found.loop)
    steps = (*before, *_in_steps(found, configurations, found.loop, len(found.rules)))
    parameters = {name: found.start[name] for name in (*automaton.parameters, *automaton.unknowns)}
    return Counterexample(parameters, found.start, steps, len(before))


def seen(automaton: Automaton, certain: Certain, found: Found) -> Found:
    """The run as others see it: each rule is the one that it is a twin of."""
    twins = [certain.twins[rule.number] for rule in found.rules]
    names = {
        *automaton.parameters,
        *automaton.unknowns,
        *automaton.shared,
        *(each.name for each in automaton.locations),
    }
    return Found(
        {name: value for name, value in found.start.items() if name in names},
        tuple(automaton.rules[twin] for twin in twins if twin is not None),
        sum(twin is not None for twin in twins[: found.loop]),
    )


def _in_steps(
    found: Found, configurations: Sequence[dict[str, int]], start: int, end: int
) -> list[tuple[Step, dict[str, int]]]:
    """Processes that take the same rule one after the other are one step."""
    steps = []
    for rule, same in groupby(found.rules[start:end]):
        number = len(list(same))
        start += number
        steps.append((Step(rule, number), configurations[start]))
    return steps
