"""The check of a specification for all admissible parameters.  A violating run is replayed before it is shown."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

from fdverify.errors import FdverifyError, InternalError, UsageError
from fdverify.smt.print_terms import print_assertions
from fdverify.smt.script import Script, render_standalone_script
from fdverify.threshold.automaton import Automaton, Specification
from fdverify.threshold.claims.bounded_growth import refuse_unbounded_growth
from fdverify.threshold.claims.run_shapes import list_violating_shapes
from fdverify.threshold.counterexample_replay import Counterexample, project_run, replay_counterexample
from fdverify.threshold.fixed_parameters import describe_parameters
from fdverify.threshold.ltl_formula import Constant, Formula, Not, extract_premise
from fdverify.threshold.runs.drivers import AUTO, DRIVERS
from fdverify.threshold.runs.run_problem import DriverCallbacks, DriverOutcome, build_run_problem
from fdverify.threshold.text.write import format_formula
from fdverify.verdict import Verdict
from fdverify.workers.backends import WorkerSettings, open_executor
from fdverify.workers.executor import Task, TaskOutcome

Report = Callable[[str], None]


@dataclass(frozen=True)
class ThresholdSettings:
    """How to decide a specification; the solver ``second``, if given, must confirm every answer."""

    driver: str = AUTO
    second: str | None = None


_DEFAULT = ThresholdSettings()


@dataclass(frozen=True)
class SpecificationResult:
    """The result of a specification; without a verdict it is refused, and ``detail`` says why."""

    name: str
    formula: str
    verdict: Verdict | None
    detail: str
    seconds: float
    trace: Counterexample | None = None
    undecided: str | None = None
    """The SMT-LIB text that a solver could not decide."""
    smtlib: Path | None = None
    """The file in which that text is kept."""

    WRITTEN = ("name", "formula", "verdict", "detail", "seconds", "smtlib", "trace")

    @property
    def exit_code(self) -> int:
        return UsageError.exit_code if self.verdict is None else self.verdict.exit_code

    @property
    def word(self) -> str:
        return "refused" if self.verdict is None else str(self.verdict)


def check_specifications(
    automaton: Automaton,
    specifications: Sequence[Specification],
    settings: ThresholdSettings,
    time_limit: float | None = None,
    report: Report = lambda text: None,
    workers: WorkerSettings | None = None,
) -> list[SpecificationResult]:
    """Check each specification in a worker process of its own, by default one per core at a time.

    The time limit is for all of them.  A specification that cannot be decided is refused; if all are refused for the
    same reason, that is an error.
    """
    start = perf_counter()
    results: dict[str, SpecificationResult] = {}
    errors: dict[str, FdverifyError] = {}
    last = {specification.name: "it had not begun" for specification in specifications}

    def receive_report(task: Task, text: str) -> None:
        last[task.key.name] = text
        report(f"{task.key.name}: {text}")

    def record_outcome(task: Task, outcome: TaskOutcome) -> Iterable[Task]:
        name = task.key.name
        if outcome.error is not None and not isinstance(outcome.error, UsageError):
            errors[name] = outcome.error
            return ()
        if outcome.out_of_time:
            seconds = perf_counter() - start
            outcome = replace(outcome, lost=f"{outcome.lost} ({last[name]})", seconds=seconds)
        results[name] = _read_result(task.key, outcome)
        return ()

    # A fresh process for each: which run a solver finds depends on its history.
    tasks = [
        Task(each, partial(check, automaton, each, settings), patience=math.inf, alone=True, reports=True)
        for each in specifications
    ]
    deadline = None if time_limit is None else monotonic() + time_limit
    with open_executor(workers or WorkerSettings(), inherited=[automaton]) as executor:
        executor.run_tasks(tasks, record_outcome, deadline, on_event=receive_report)
    # Which of them fails first is chance, so the error of the first one in order is raised.
    for specification in specifications:
        if specification.name in errors:
            raise errors[specification.name]
    reasons = {checked.detail if checked.verdict is None else None for checked in results.values()}
    if len(reasons) == 1 and (reason := reasons.pop()) is not None:
        raise UsageError(reason)
    return [results[specification.name] for specification in specifications]


def _read_result(specification: Specification, outcome: TaskOutcome) -> SpecificationResult:
    """Read the result of a specification, which is refused or unknown if a worker process has none."""
    if outcome.error is None and outcome.lost is None:
        result: SpecificationResult = outcome.value
        return result
    verdict, detail = (None, str(outcome.error)) if outcome.lost is None else (Verdict.UNKNOWN, outcome.lost)
    formula = format_formula(specification.formula)
    return SpecificationResult(specification.name, formula, verdict, detail, outcome.seconds)


def refuse_undecided(automaton: Automaton, specification: Specification) -> None:
    """Refuse a specification that cannot be decided, with the reason."""
    refuse_unbounded_growth(automaton)
    for shape in list_violating_shapes(specification.name, specification.formula):
        build_run_problem(automaton, specification.name, shape)


def check(
    automaton: Automaton,
    specification: Specification,
    settings: ThresholdSettings = _DEFAULT,
    report: Report = lambda text: None,
) -> SpecificationResult:
    """Decide a specification."""
    start = perf_counter()
    refuse_undecided(automaton, specification)
    name, formula = specification.name, specification.formula

    def build_result(verdict: Verdict, detail: str, **more: Any) -> SpecificationResult:
        return SpecificationResult(name, format_formula(formula), verdict, detail, perf_counter() - start, **more)

    def build_unknown_result(outcome: DriverOutcome, about: str = "") -> SpecificationResult:
        text = _build_script(name, outcome.facts) if outcome.facts else None
        return build_result(
            Verdict.UNKNOWN, about + outcome.reason, undecided=None if text is None else render_standalone_script(text)
        )

    broken = _find_run(automaton, name, Not(formula), settings, report)
    if broken.run is not None and specification.under_approximation is not None:
        broken = _find_under_approximated_run(
            automaton, name, Not(specification.under_approximation.formula), specification, settings, report
        )
        if broken.status == "none":
            raise UsageError(
                specification.under_approximation.refusal, "let processes receive in steps by which they stay"
            )
    if broken.status == "unknown":
        return build_unknown_result(broken)
    if broken.run is not None:
        shown = replay_counterexample(automaton, specification, broken.run)
        return build_result(Verdict.VIOLATED, f"{name} is broken by the run shown", trace=shown)
    witness = _find_run(replace(automaton, rules=()), name, Constant(True), settings, report)
    if witness.status == "none":
        return build_result(Verdict.VACUOUS, f"no run starts {describe_parameters(automaton, 'any')}".rstrip())
    if witness.status != "unknown":
        witness = _find_run_meeting_premise(automaton, specification, settings, report)
    if witness.status == "none":
        return build_result(
            Verdict.VACUOUS, f"no run meets its premise {describe_parameters(automaton, 'any')}".rstrip()
        )
    if witness.status == "unknown":
        return build_unknown_result(witness, "whether it is vacuous: ")
    return build_result(Verdict.PROVED, f"{name} holds {describe_parameters(automaton)}".rstrip())


def _find_run_meeting_premise(
    automaton: Automaton, specification: Specification, settings: ThresholdSettings, report: Report
) -> DriverOutcome:
    """Find a run that meets the premise of a specification."""
    name, needed, certain = (
        specification.name,
        extract_premise(specification.formula),
        specification.under_approximation,
    )
    if needed == Constant(True):
        return DriverOutcome("found")
    try:
        outcome = _find_run(automaton, name, needed, settings, report)
        if outcome.status == "found" and certain is not None:
            outcome = _find_under_approximated_run(
                automaton, name, extract_premise(certain.formula), specification, settings, report
            )
            return DriverOutcome("unknown", certain.refusal) if outcome.status == "none" else outcome
        return outcome
    except UsageError as error:  # the premise does not matter to the verdict, so it was not refused before
        return DriverOutcome("unknown", error.placed_message)


def _find_under_approximated_run(
    automaton: Automaton,
    name: str,
    formula: Formula,
    specification: Specification,
    settings: ThresholdSettings,
    report: Report,
) -> DriverOutcome:
    """Find a run that certainly satisfies a formula, in the under-approximation, and project it to the automaton."""
    certain = specification.under_approximation
    assert certain is not None, "without an under-approximation, all runs are certain"
    outcome = _find_run(certain.extend(automaton), name, formula, settings, report)
    return outcome if outcome.run is None else replace(outcome, run=project_run(automaton, certain, outcome.run))


def _find_run(
    automaton: Automaton, name: str, formula: Formula, settings: ThresholdSettings, report: Report
) -> DriverOutcome:
    """Find a run that satisfies a formula, with the fewest processes."""

    def confirm_answer(facts: list[Any], status: str) -> str | None:
        return None if settings.second is None else _ask_second_solver(name, facts, status, settings.second)

    best = DriverOutcome("none")
    fewer: int | None = None
    for shape in list_violating_shapes(name, Not(formula)):
        outcome = DRIVERS[settings.driver](
            build_run_problem(automaton, name, shape, fewer), DriverCallbacks(confirm_answer, report)
        )
        if outcome.run is not None:
            best = outcome
            fewer = sum(outcome.run.start[location.name] for location in automaton.locations) - 1
        elif outcome.status == "unknown" and best.run is None:
            best = outcome
    return best


def _build_script(name: str, facts: Sequence[Any]) -> Script:
    *others, last = print_assertions(facts)
    return Script(name, tuple(others), (), last)


def _ask_second_solver(name: str, facts: Sequence[Any], status: str, second: str) -> str | None:
    """Say why another solver does not confirm an answer; ``None`` if it does.  Raise an error if it contradicts."""
    from fdverify.smt.second_opinion import decide_with_solver  # pysmt is slow to import and seldom needed

    opinion = decide_with_solver(_build_script(name, facts), second)
    if opinion.status == "unknown":
        return f"{second} does not know: {opinion.reason}"
    if opinion.status != status:
        raise InternalError(f"two solvers disagree on {name}: z3 says {status}, {second} {opinion.status}")
    return None
