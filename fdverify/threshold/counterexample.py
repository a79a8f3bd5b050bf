"""A run that breaks a specification, replayed step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from fdverify.errors import InternalError
from fdverify.threshold.automaton import Automaton, Certain, Specification
from fdverify.threshold.interpret import Step, replayed, starts
from fdverify.threshold.runs.realise import Found
from fdverify.threshold.temporal import holds_of_run
from fdverify.threshold.text.write import formula_text


@dataclass(frozen=True)
class CounterexampleStep:
    """A step, and the values of locations and shared variables after it."""

    step: Step
    after: Mapping[str, int]

    WRITTEN = ("rule", "guard", "source", "target", "processes", "after")

    @property
    def rule(self) -> int:
        return self.step.rule.number

    @property
    def guard(self) -> str:
        return formula_text(self.step.rule.guard)

    @property
    def source(self) -> str:
        return self.step.rule.source

    @property
    def target(self) -> str:
        return self.step.rule.target

    @property
    def processes(self) -> int:
        """How many processes take the rule, one after the other."""
        return self.step.processes


@dataclass(frozen=True)
class Counterexample:
    """A run; the steps after the first ``loop`` ones are taken for ever, and without any nothing moves any more.

    ``start`` has the values of locations and shared variables at the beginning.
    """

    parameters: Mapping[str, int]
    start: Mapping[str, int]
    steps: tuple[CounterexampleStep, ...]
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
    parameters = {name: found.start[name] for name in (*automaton.parameters, *automaton.unknowns)}

    def counts(values: Mapping[str, int]) -> dict[str, int]:
        return {name: value for name, value in values.items() if name not in parameters}

    before = _in_steps(found, configurations, 0, found.loop)
    steps = [*before, *_in_steps(found, configurations, found.loop, len(found.rules))]
    shown = tuple(CounterexampleStep(step, counts(after)) for step, after in steps)
    return Counterexample(parameters, counts(found.start), shown, len(before))


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
