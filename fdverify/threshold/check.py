"""Does a specification hold for all admissible parameters?  A run that breaks it is replayed before it is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from time import monotonic, perf_counter
from typing import Any

from fdverify.errors import InternalError
from fdverify.smt.script import Script, printed
from fdverify.smt.worker import TimeLimitReached, WorkerDied, run_in_worker
from fdverify.threshold.automaton import Automaton, Specification
from fdverify.threshold.bounded import refuse_unbounded
from fdverify.threshold.drivers import AUTO, DRIVERS
from fdverify.threshold.formula import And, Constant, Eventually, Formula, Globally, Implies, Not
from fdverify.threshold.interpret import Step, replayed
from fdverify.threshold.problem import problem
from fdverify.threshold.realise import Found, Outcome
from fdverify.threshold.shapes import shapes
from fdverify.threshold.temporal import holds_of_run
from fdverify.verdict import Verdict


@dataclass(frozen=True)
class Counterexample:
    """Parameters, the values at the start, and steps with the values after each; from ``loop`` on they go on for ever.

    Without steps from there on, nothing moves any more.
    """

    parameters: dict[str, int]
    start: dict[str, int]
    steps: tuple[tuple[Step, dict[str, int]], ...]
    loop: int


@dataclass(frozen=True)
class Checked:
    specification: str
    verdict: Verdict
    detail: str
    seconds: float
    counterexample: Counterexample | None = None


def check(automaton: Automaton, specification: Specification, driver: str = AUTO, second: str | None = None) -> Checked:
    """Decide a specification; every answer is also asked of the solver called ``second``, if there is one."""
    start = perf_counter()
    name, formula = specification.name, specification.formula

    def checked(verdict: Verdict, detail: str, found: Counterexample | None = None) -> Checked:
        return Checked(name, verdict, detail, perf_counter() - start, found)

    broken = _some_run(automaton, name, Not(formula), driver, second)
    if broken.status == "unknown":
        return checked(Verdict.UNKNOWN, broken.reason)
    if broken.found is not None:
        return checked(
            Verdict.VIOLATED, f"{name} is broken by the run shown", _shown(automaton, specification, broken.found)
        )
    for needed, without_rules, vacuous in _needed(formula):
        some = replace(automaton, rules=()) if without_rules else automaton
        possible = _some_run(some, name, needed, driver, second)
        if possible.status == "none":
            return checked(Verdict.VACUOUS, f"{vacuous} for any admissible parameters")
        if possible.status == "unknown":
            return checked(Verdict.UNKNOWN, f"whether there is a run to speak of: {possible.reason}")
    return checked(Verdict.PROVED, f"{name} holds for all admissible parameters")


def _some_run(automaton: Automaton, name: str, formula: Formula, driver: str, second: str | None) -> Outcome:
    """A run that satisfies a formula, with as few processes as any."""

    def confirm(facts: list[Any], status: str) -> str | None:
        return None if second is None else _doubt(name, facts, status, second)

    best = Outcome("none")
    fewer: int | None = None
    for shape in shapes(name, Not(formula)):
        outcome = DRIVERS[driver](problem(automaton, name, shape, fewer), confirm)
        if outcome.found is not None:
            best = outcome
            fewer = sum(outcome.found.start[location.name] for location in automaton.locations) - 1
        elif outcome.status == "unknown" and best.found is None:
            best = outcome
    return best


def _doubt(name: str, facts: list[Any], status: str, second: str) -> str | None:
    """Why another solver does not confirm an answer; none if it does, and an error if it contradicts."""
    from fdverify.smt.second import second_opinion  # pysmt is slow to import and seldom wanted

    *others, last = printed(facts)
    opinion = second_opinion(Script(name, tuple(others), (), last), second)
    if opinion.status == "unknown":
        return f"{second} does not know: {opinion.reason}"
    if opinion.status != status:
        raise InternalError(f"two solvers disagree on {name}: z3 says {status}, {second} {opinion.status}")
    return None


def check_all(
    automaton: Automaton,
    specifications: Sequence[Specification],
    time_limit: float | None = None,
    driver: str = AUTO,
    second: str | None = None,
) -> list[Checked]:
    """Each specification, in a worker process that can be given up; the time limit is for all of them."""
    # What is not decided is refused before anything is.
    refuse_unbounded(automaton)
    for specification in specifications:
        for shape in shapes(specification.name, specification.formula):
            problem(automaton, specification.name, shape)
    end = None if time_limit is None else monotonic() + time_limit
    return [_in_worker(automaton, specification, end, driver, second) for specification in specifications]


def _in_worker(
    automaton: Automaton, specification: Specification, end: float | None, driver: str, second: str | None
) -> Checked:
    def work(report: Callable[[Any], None]) -> Checked:
        return check(automaton, specification, driver, second)

    try:
        return run_in_worker(work, None if end is None else end - monotonic(), lambda event: None)
    except TimeLimitReached:
        return Checked(specification.name, Verdict.UNKNOWN, "the time limit was reached", 0.0)
    except WorkerDied as death:
        return Checked(specification.name, Verdict.UNKNOWN, str(death), 0.0)


def _needed(formula: Formula) -> list[tuple[Formula, bool, str]]:
    """What some run must satisfy for the specification to say something; whether it need not move; what else is so."""
    premise = _premise(formula)
    found: list[tuple[Formula, bool, str]] = [(Constant(True), True, "no run starts")]
    return found if premise == Constant(True) else [*found, (premise, False, "no run meets its premise")]


def _premise(formula: Formula) -> Formula:
    """What must be so for what follows ``->`` to matter."""
    match formula:
        case Implies(left, right):
            further = _premise(right)
            return left if further == Constant(True) else And(left, further)
        case Globally(operand):
            inside = _premise(operand)
            return inside if inside == Constant(True) else Eventually(inside)
        case _:
            return Constant(True)


def _shown(automaton: Automaton, specification: Specification, found: Found) -> Counterexample:
    """The run, replayed, if it breaks the specification."""
    configurations = replayed(found.rules, found.start)
    turns = found.loop < len(found.rules)
    if turns and configurations[-1] != configurations[found.loop]:
        raise InternalError("the loop of the run that was found does not come back")
    back = found.loop if turns else len(found.rules)
    if holds_of_run(specification.formula, configurations, back):
        raise InternalError(f"the run that was found does not break {specification.name} when it is replayed")
    steps: list[tuple[Step, dict[str, int]]] = []
    at = loop = 0
    for part in (found.rules[: found.loop], found.rules[found.loop :]):
        loop = len(steps) if at == found.loop else loop
        for rule, same in groupby(part):
            number = len(list(same))
            at += number
            steps.append((Step(rule, number), configurations[at]))
    parameters = {name: found.start[name] for name in (*automaton.parameters, *automaton.unknowns)}
    return Counterexample(parameters, found.start, tuple(steps), loop)
