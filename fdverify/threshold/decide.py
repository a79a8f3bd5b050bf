"""Is there a run of a problem?  The encoding is refined until it has no run, or one that can be replayed.

At first no threshold is tracked.  No run then means that there is none at all.  A run with the fewest processes is put
into an order and replayed; if that fails, the thresholds that were reached at the wrong time are tracked from then on.
With all of them tracked only sets of locations that must stay inhabited can fail, and stretches are cut into phases,
of which so many suffice (docs/threshold.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

from fdverify.errors import InternalError
from fdverify.smt.solver import Answer, ArithmeticSolver
from fdverify.threshold.automaton import Rule
from fdverify.threshold.encode import Runs
from fdverify.threshold.formula import holds
from fdverify.threshold.interpret import replayed, starts
from fdverify.threshold.lasting import Lasting
from fdverify.threshold.problem import Problem
from fdverify.threshold.schedule import Stuck, in_order
from fdverify.threshold.terms import total
from fdverify.threshold.thresholds import Threshold, thresholds

_MOST_PHASES = 32

Confirm = Callable[[list[Any], str], str | None]
"""Why another solver does not confirm an answer to these facts; none if it does."""


@dataclass(frozen=True)
class Found:
    """Values at the start and the rules that are taken, one after the other; from ``loop`` on again and again."""

    start: dict[str, int]
    rules: tuple[Rule, ...]
    loop: int


@dataclass(frozen=True)
class Outcome:
    status: Literal["none", "found", "unknown"]
    reason: str = ""
    found: Found | None = None


def decide(problem: Problem, confirm: Confirm) -> Outcome:
    tracked: list[Threshold] = []
    phases = fewest = 0
    while True:
        runs = Runs(problem, tracked, phases)
        solver = ArithmeticSolver()
        solver.add(runs.facts)
        # A run with as few processes as the last one is found soon if there is one, and need not be made smaller.
        answer = solver.ask(runs.processes <= fewest)
        if answer.status != "sat":
            answer = solver.ask()
        if answer.status == "unknown":
            return Outcome("unknown", f"the solver gave up: {answer.reason}")
        if answer.status == "unsat":
            if phases == 0 or _phases_suffice(problem, phases):
                doubt = confirm(runs.facts, "unsat")
                return Outcome("none") if doubt is None else Outcome("unknown", doubt)
            if phases >= _MOST_PHASES:
                return Outcome("unknown", f"no run in which locations stay inhabited in {phases} phases, perhaps in more")
            phases *= 2
            continue
        answer = _smallest(runs, solver, answer, fewest)
        fewest = int(answer.value(runs.processes))
        found = _realised(runs, answer)
        if isinstance(found, Found):
            doubt = confirm(runs.facts, "sat")
            return Outcome("found", found=found) if doubt is None else Outcome("unknown", doubt)
        if found:
            tracked = tracked + found
        elif phases == 0:
            tracked, phases = list(problem.thresholds), 1
        else:
            raise InternalError("a run of the solver, with all its phases, has no order")


def _phases_suffice(problem: Problem, phases: int) -> bool:
    """Whether a run that keeps its sets inhabited can do so in as many phases (docs/threshold.md)."""
    sets = problem.inhabited
    if len(sets) == 1:
        return phases >= 3
    return not problem.counts_on_cycles and phases >= prod(len(some) for some in sets)


def _smallest(runs: Runs, solver: ArithmeticSolver, answer: Answer, fewest: int) -> Answer:
    """The run with the fewest processes, which are not fewer than so many, and then with the smallest parameters."""
    for measure, low in ((runs.processes, fewest), (total(list(runs.parameters.values())), 0)):
        high = int(answer.value(measure))
        while low < high:
            middle = (low + high) // 2
            smaller = solver.ask(measure <= middle)
            if smaller.status == "sat":
                answer, high = smaller, int(smaller.value(measure))
            else:
                low = middle + 1
        solver.add([measure <= high])
    return answer


def _realised(runs: Runs, answer: Answer) -> Found | list[Threshold]:
    """The run as steps of single processes; if there is no order of them, the thresholds to track."""
    values = start = _numbers(runs.start, answer)
    if not starts(runs.problem.automaton, start):
        raise InternalError("the solver's run starts where none does")
    rules: list[Rule] = []
    loop = 0
    for at, leg in enumerate(runs.legs):
        if at == runs.loop:
            loop = len(rules)
        claims = _lasting_in(runs, answer, at)
        times = {rule: int(answer.value(number)) for rule, number in leg.taken.items()}
        resting = {place: int(answer.value(number)) for place, number in leg.resting.items()}
        order = in_order(times, values, resting, lambda now, claims=claims: all(claim.holds(now) for claim in claims))
        after = _numbers(leg.after, answer)
        if isinstance(order, Stuck):
            return _to_track(runs, order, values, after)
        rules += order
        values = replayed(order, values)[-1]
        if values != after:
            raise InternalError("interpreter and encoding disagree on where a stretch leads")
    return Found(start, tuple(rules), loop if runs.loop < len(runs.legs) else len(rules))


def _numbers(values: Mapping[str, Any], answer: Answer) -> dict[str, int]:
    return {name: int(answer.value(term)) for name, term in values.items()}


def _lasting_in(runs: Runs, answer: Answer, leg: int) -> list[Lasting]:
    """What holds throughout a leg."""
    if leg >= runs.loop:
        return [*(claim for claims in runs.problem.lasting for claim in claims), *runs.problem.in_loops]
    return [
        claim
        for over, claims in zip(runs.started, runs.problem.lasting, strict=True)
        if answer.value(over[leg])
        for claim in claims
    ]


def _to_track(
    runs: Runs, stuck: Stuck, before: Mapping[str, int], after: Mapping[str, int]
) -> list[Threshold]:
    """The thresholds that a stretch reaches too early or too late: if guards tell which, only those."""
    problem = runs.problem
    reached = [
        threshold
        for threshold in problem.thresholds
        if threshold not in runs.tracked and threshold.is_reached(before) != threshold.is_reached(after)
    ]
    guards = [
        rule.guard for rule in stuck.rules if stuck.values[rule.source] > 0 and not holds(rule.guard, stuck.values)
    ]
    blamed = thresholds(problem.automaton, guards)
    return [threshold for threshold in reached if threshold in blamed] or reached
