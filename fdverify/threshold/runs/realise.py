"""Concretisation: from a solver's model to a run of single steps, replayed on the counter system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fdverify.errors import InternalError
from fdverify.smt.solver import Answer, Solver
from fdverify.threshold.automaton import Rule
from fdverify.threshold.interpret import replayed
from fdverify.threshold.runs.legs import Legs
from fdverify.threshold.runs.schedule import Stuck, in_order
from fdverify.threshold.runs.terms import total


@dataclass(frozen=True)
class Found:
    """An initial configuration and the rules taken in turn; those from index ``loop`` on repeat for ever."""

    start: dict[str, int]
    rules: tuple[Rule, ...]
    loop: int


@dataclass(frozen=True)
class NoOrder:
    """A segment whose steps could not be put into an order, with the configurations at its ends."""

    stuck: Stuck
    before: Mapping[str, int]
    after: Mapping[str, int]


def smallest(run: Legs, solver: Solver, answer: Answer, fewest: int) -> Answer:
    """Minimise the number of processes (at least ``fewest``), then the sum of the parameters, then the number of steps.

    A run with few steps has no needless cycles, so its steps can more often be put into an order.
    """
    steps = total([times for segment in run.legs for times in segment.taken.values()])
    limits: list[Any] = []
    for measure, low in ((run.processes, fewest), (total(list(run.parameters.values())), 0), (steps, 0)):
        high = int(answer.value(measure))
        while low < high:
            middle = (low + high) // 2
            smaller = solver.ask(*limits, measure <= middle)
            if smaller.status == "sat":
                answer, high = smaller, int(smaller.value(measure))
            else:
                low = middle + 1
        limits.append(measure <= high)
    return answer


@dataclass(frozen=True)
class TooLong:
    """A run that has too many steps to be replayed, and so is not shown."""

    steps: int

    def __str__(self) -> str:
        return f"a run of {self.steps} steps that may break it is too long to be replayed"


_MOST_STEPS = 100_000


def realised(run: Legs, answer: Answer) -> Found | NoOrder | TooLong:
    """Turn a solution for a symbolic run into single steps of processes, and replay them."""
    steps = sum(int(answer.value(times)) for segment in run.legs for times in segment.taken.values())
    if steps > _MOST_STEPS:
        return TooLong(steps)
    values = start = _numbers(run.start, answer)
    rules: list[Rule] = []
    loop: int | None = None
    for index, segment in enumerate(run.legs):
        if index == run.loop:
            loop = len(rules)
        claims = [claim for condition, claim in segment.lasting if answer.value(condition)]
        times = {rule: int(answer.value(number)) for rule, number in segment.taken.items()}
        resting = {location: int(answer.value(number)) for location, number in segment.resting.items()}
        order = in_order(times, values, resting, claims)
        after = _numbers(segment.after, answer)
        if isinstance(order, Stuck):
            return NoOrder(order, values, after)
        rules += order
        values = replayed(order, values)[-1]
        if values != after:
            raise InternalError("the replay and the encoding disagree on the configuration after a segment")
    return Found(start, tuple(rules), len(rules) if loop is None else loop)


def _numbers(values: Mapping[str, Any], answer: Answer) -> dict[str, int]:
    return {name: int(answer.value(term)) for name, term in values.items()}
