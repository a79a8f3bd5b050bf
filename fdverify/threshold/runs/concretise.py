"""Concretisation: from a solver's model to a run of single steps, replayed on the counter system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fdverify.errors import InternalError
from fdverify.smt.solver import Solver, SolverAnswer
from fdverify.threshold.automaton import Rule
from fdverify.threshold.counter_system import replay_rules
from fdverify.threshold.runs.segments import SymbolicRun
from fdverify.threshold.runs.step_order import StuckConfiguration, order_steps
from fdverify.threshold.runs.z3_terms import sum_terms


@dataclass(frozen=True)
class ConcreteRun:
    """An initial configuration and the rules taken in turn; those from index ``loop`` on repeat for ever."""

    start: dict[str, int]
    rules: tuple[Rule, ...]
    loop: int


@dataclass(frozen=True)
class OrderingFailure:
    """A segment whose steps could not be put into an order, with the configurations at its ends."""

    stuck: StuckConfiguration
    before: Mapping[str, int]
    after: Mapping[str, int]


def minimise_run(run: SymbolicRun, solver: Solver, answer: SolverAnswer, fewest: int) -> SolverAnswer:
    """Minimise the number of processes (at least ``fewest``), then the sum of the parameters, then the number of steps.

    A run with few steps has no needless cycles, so its steps can more often be put into an order.
    """
    steps = sum_terms([times for segment in run.segments for times in segment.rule_counts.values()])
    limits: list[Any] = []
    for measure, low in ((run.processes, fewest), (sum_terms(list(run.parameters.values())), 0), (steps, 0)):
        high = int(answer.get_value(measure))
        while low < high:
            middle = (low + high) // 2
            smaller = solver.ask(*limits, measure <= middle)
            if smaller.status == "sat":
                answer, high = smaller, int(smaller.get_value(measure))
            else:
                low = middle + 1
        limits.append(measure <= high)
    return answer


@dataclass(frozen=True)
class RunTooLong:
    """A run that has too many steps to be replayed, and so is not shown."""

    steps: int

    def __str__(self) -> str:
        return f"a run of {self.steps} steps that may break it is too long to be replayed"


_MOST_STEPS = 100_000


def concretise_run(run: SymbolicRun, answer: SolverAnswer) -> ConcreteRun | OrderingFailure | RunTooLong:
    """Turn a solution for a symbolic run into single steps of processes, and replay them."""
    steps = sum(int(answer.get_value(times)) for segment in run.segments for times in segment.rule_counts.values())
    if steps > _MOST_STEPS:
        return RunTooLong(steps)
    values = start = _read_values(run.start, answer)
    rules: list[Rule] = []
    loop: int | None = None
    for index, segment in enumerate(run.segments):
        if index == run.loop:
            loop = len(rules)
        claims = [claim for condition, claim in segment.lasting_claims if answer.get_value(condition)]
        times = {rule: int(answer.get_value(number)) for rule, number in segment.rule_counts.items()}
        resting = {location: int(answer.get_value(number)) for location, number in segment.resting.items()}
        order = order_steps(times, values, resting, claims)
        after = _read_values(segment.after, answer)
        if isinstance(order, StuckConfiguration):
            return OrderingFailure(order, values, after)
        rules += order
        values = replay_rules(order, values)[-1]
        if values != after:
            raise InternalError("the replay and the encoding disagree on the configuration after a segment")
    return ConcreteRun(start, tuple(rules), len(rules) if loop is None else loop)


def _read_values(values: Mapping[str, Any], answer: SolverAnswer) -> dict[str, int]:
    return {name: int(answer.get_value(term)) for name, term in values.items()}
