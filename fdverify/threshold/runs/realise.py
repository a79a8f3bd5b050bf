"""From a solver's answer to a run of single steps, replayed by the interpreter."""

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
    """Values at the start and the rules that are taken, one after the other; from ``loop`` on again and again."""

    start: dict[str, int]
    rules: tuple[Rule, ...]
    loop: int


@dataclass(frozen=True)
class NoOrder:
    """The steps of a leg cannot be put into an order."""

    stuck: Stuck
    before: Mapping[str, int]
    after: Mapping[str, int]


def smallest(legs: Legs, solver: Solver, answer: Answer, fewest: int) -> Answer:
    """The run with the fewest processes, which are not fewer than so many, then the smallest parameters and few steps.

    A run with few steps goes round in no circles that it need not, and so is also put into an order more often.
    """
    steps = total([times for leg in legs.legs for times in leg.taken.values()])
    limits: list[Any] = []
    for measure, low in ((legs.processes, fewest), (total(list(legs.parameters.values())), 0), (steps, 0)):
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
    """A run has so many steps that it is not replayed, and so is not shown."""

    steps: int

    def __str__(self) -> str:
        return f"a run of {self.steps} steps that may break it is too long to be replayed"


_MOST_STEPS = 100_000


def realised(legs: Legs, answer: Answer) -> Found | NoOrder | TooLong:
    """The run as steps of single processes."""
    steps = sum(int(answer.value(times)) for leg in legs.legs for times in leg.taken.values())
    if steps > _MOST_STEPS:
        return TooLong(steps)
    values = start = _numbers(legs.start, answer)
    rules: list[Rule] = []
    loop: int | None = None
    for at, leg in enumerate(legs.legs):
        if at == legs.loop:
            loop = len(rules)
        claims = [claim for condition, claim in leg.lasting if answer.value(condition)]
        times = {rule: int(answer.value(number)) for rule, number in leg.taken.items()}
        resting = {place: int(answer.value(number)) for place, number in leg.resting.items()}
        order = in_order(times, values, resting, claims)
        after = _numbers(leg.after, answer)
        if isinstance(order, Stuck):
            return NoOrder(order, values, after)
        rules += order
        values = replayed(order, values)[-1]
        if values != after:
            raise InternalError("interpreter and encoding disagree on where a stretch leads")
    return Found(start, tuple(rules), len(rules) if loop is None else loop)


def _numbers(values: Mapping[str, Any], answer: Answer) -> dict[str, int]:
    return {name: int(answer.value(term)) for name, term in values.items()}
