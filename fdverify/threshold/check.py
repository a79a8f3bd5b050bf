"""Does a specification hold for all admissible parameters?  A run that breaks it is replayed before it is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

from fdverify.errors import InternalError, UsageError
from fdverify.smt.script import Script, printed, self_contained
from fdverify.smt.worker import TimeLimitReached, WorkerDied, run_in_worker
from fdverify.threshold.automaton import Automaton, Specification
from fdverify.threshold.claims.bounded import refuse_unbounded
from fdverify.threshold.claims.premise import premise
from fdverify.threshold.claims.shapes import shapes
from fdverify.threshold.counterexample import Counterexample, counterexample, seen
from fdverify.threshold.formula import Constant, Formula, Not
from fdverify.threshold.instance import parameters_text
from fdverify.threshold.runs.drivers import AUTO, DRIVERS
from fdverify.threshold.runs.outcome import Outcome, Watch
from fdverify.threshold.runs.problem import problem
from fdverify.threshold.text.write import formula_text
from fdverify.verdict import Verdict

Report = Callable[[str], None]


@dataclass(frozen=True)
class Settings:
    """How to decide; every answer is also asked of the solver called ``second``, if there is one."""

    driver: str = AUTO
    second: str | None = None


_DEFAULT = Settings()


@dataclass(frozen=True)
class Checked:
    """What came of a specification; without a verdict it is refused, and ``detail`` says why."""

    name: str
    formula: str
    verdict: Verdict | None
    detail: str
    seconds: float
    trace: Counterexample | None = None
    undecided: str | None = None
    """The SMT-LIB text that a solver could not decide."""
    smtlib: Path | None = None
    """Where that text is kept."""

    WRITTEN = ("name", "formula", "verdict", "detail", "seconds", "smtlib", "trace")

    @property
    def exit_code(self) -> int:
        return UsageError.exit_code if self.verdict is None else self.verdict.exit_code

    @property
    def word(self) -> str:
        return "refused" if self.verdict is None else str(self.verdict)


def check_all(
    automaton: Automaton,
    specifications: Sequence[Specification],
    settings: Settings,
    time_limit: float | None = None,
    report: Report = lambda text: None,
) -> list[Checked]:
    """Each specification, in a worker process that can be given up; the time limit is for all of them.

    One that is not decided here is refused by itself; what is wrong with the automaton is an error.
    """
    end = None if time_limit is None else monotonic() + time_limit
    found = [_in_worker(automaton, specification, settings, end, report) for specification in specifications]
    reasons = {checked.detail if checked.verdict is None else None for checked in found}
    if len(reasons) == 1 and (reason := reasons.pop()) is not None:
        raise UsageError(reason)
    return found


def refuse_undecided(automaton: Automaton, specification: Specification) -> None:
    """Refuse what is not decided here, with the reason."""
    refuse_unbounded(automaton)
    for shape in shapes(specification.name, specification.formula):
        problem(automaton, specification.name, shape)


def _in_worker(
    automaton: Automaton, specification: Specification, settings: Settings, end: float | None, report: Report
) -> Checked:
    last = ["it had not begun"]

    def heard(text: str) -> None:
        last[0] = text
        report(f"{specification.name}: {text}")

    def work(send: Report) -> Checked:
        return check(automaton, specification, settings, send)

    start, formula = perf_counter(), formula_text(specification.formula)
    try:
        return run_in_worker(work, None if end is None else end - monotonic(), heard)
    except TimeLimitReached:
        detail = f"the time limit was reached ({last[0]})"
    except WorkerDied as death:
        detail = str(death)
    except UsageError as error:
        return Checked(specification.name, formula, None, str(error), perf_counter() - start)
    return Checked(specification.name, formula, Verdict.UNKNOWN, detail, perf_counter() - start)


def check(
    automaton: Automaton,
    specification: Specification,
    settings: Settings = _DEFAULT,
    report: Report = lambda text: None,
) -> Checked:
    """Decide a specification."""
    start = perf_counter()
    refuse_undecided(automaton, specification)
    name, formula = specification.name, specification.formula

    def checked(verdict: Verdict, detail: str, **more: Any) -> Checked:
        return Checked(name, formula_text(formula), verdict, detail, perf_counter() - start, **more)

    def unknown(outcome: Outcome, about: str = "") -> Checked:
        text = _script(name, outcome.facts) if outcome.facts else None
        return checked(
            Verdict.UNKNOWN, about + outcome.reason, undecided=None if text is None else self_contained(text)
        )

    broken = _some_run(automaton, name, Not(formula), settings, report)
    if broken.found is not None and specification.certain is not None:
        broken = _certain_run(automaton, name, Not(specification.certain.formula), specification, settings, report)
        if broken.status == "none":
            raise UsageError(specification.certain.otherwise, "let processes receive in steps by which they stay")
    if broken.status == "unknown":
        return unknown(broken)
    if broken.found is not None:
        shown = counterexample(automaton, specification, broken.found)
        return checked(Verdict.VIOLATED, f"{name} is broken by the run shown", trace=shown)
    some = _some_run(replace(automaton, rules=()), name, Constant(True), settings, report)
    if some.status == "none":
        return checked(Verdict.VACUOUS, f"no run starts {parameters_text(automaton, 'any')}".rstrip())
    if some.status != "unknown":
        some = _meets_premise(automaton, specification, settings, report)
    if some.status == "none":
        return checked(Verdict.VACUOUS, f"no run meets its premise {parameters_text(automaton, 'any')}".rstrip())
    if some.status == "unknown":
        return unknown(some, "whether there is a run to speak of: ")
    return checked(Verdict.PROVED, f"{name} holds {parameters_text(automaton)}".rstrip())


def _meets_premise(automaton: Automaton, specification: Specification, settings: Settings, report: Report) -> Outcome:
    """A run of which the specification says something."""
    name, needed, certain = specification.name, premise(specification.formula), specification.certain
    if needed == Constant(True):
        return Outcome("found")
    try:
        outcome = _some_run(automaton, name, needed, settings, report)
        if outcome.status == "found" and certain is not None:
            outcome = _certain_run(automaton, name, premise(certain.formula), specification, settings, report)
            return Outcome("unknown", certain.otherwise) if outcome.status == "none" else outcome
        return outcome
    except UsageError as error:  # of a premise that matters to nothing, so that it was not refused at first
        return Outcome("unknown", error.message)


def _certain_run(
    automaton: Automaton,
    name: str,
    formula: Formula,
    specification: Specification,
    settings: Settings,
    report: Report,
) -> Outcome:
    """A run that certainly satisfies a formula, as others see it."""
    certain = specification.certain
    assert certain is not None, "else all runs are certain"
    outcome = _some_run(certain.extended(automaton), name, formula, settings, report)
    return outcome if outcome.found is None else replace(outcome, found=seen(automaton, certain, outcome.found))


def _some_run(automaton: Automaton, name: str, formula: Formula, settings: Settings, report: Report) -> Outcome:
    """A run that satisfies a formula, with as few processes as any."""

    def confirm(facts: list[Any], status: str) -> str | None:
        return None if settings.second is None else _doubt(name, facts, status, settings.second)

    best = Outcome("none")
    fewer: int | None = None
    for shape in shapes(name, Not(formula)):
        outcome = DRIVERS[settings.driver](problem(automaton, name, shape, fewer), Watch(confirm, report))
        if outcome.found is not None:
            best = outcome
            fewer = sum(outcome.found.start[location.name] for location in automaton.locations) - 1
        elif outcome.status == "unknown" and best.found is None:
            best = outcome
    return best


def _script(name: str, facts: Sequence[Any]) -> Script:
    *others, last = printed(facts)
    return Script(name, tuple(others), (), last)


def _doubt(name: str, facts: Sequence[Any], status: str, second: str) -> str | None:
    """Why another solver does not confirm an answer; none if it does, and an error if it contradicts."""
    from fdverify.smt.second import second_opinion  # pysmt is slow to import and seldom wanted

    opinion = second_opinion(_script(name, facts), second)
    if opinion.status == "unknown":
        return f"{second} does not know: {opinion.reason}"
    if opinion.status != status:
        raise InternalError(f"two solvers disagree on {name}: z3 says {status}, {second} {opinion.status}")
    return None
