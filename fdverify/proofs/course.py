"""Schedules the tasks of one proof on a pool of worker processes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from fdverify.engines.inductive import Kind, Unbroken
from fdverify.errors import FdverifyError, InternalError, UsageError, nearby
from fdverify.files import safe_name, write_report
from fdverify.models.model import OptionValue
from fdverify.proofs import work
from fdverify.proofs.proof import Proof
from fdverify.proofs.result import Checked, ProofResult
from fdverify.smt.cache import folder
from fdverify.smt.decide import Decision
from fdverify.smt.pool import Outcome, Task
from fdverify.smt.script import self_contained
from fdverify.smt.undecided import keep_undecided
from fdverify.verdict import Obligation, Verdict

LOADING_SECONDS = 60.0
_EXPLAINED_IN_FULL = 3


@dataclass(frozen=True)
class Settings:
    """How to check proofs, as the command line says."""

    parameters: Mapping[str, int] = field(default_factory=dict)
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    k: int = 1
    only: tuple[str, ...] = ()
    time_limit: float | None = None
    memory_limit: int | None = None
    jobs: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))
    smtlib: Path | None = None
    second_opinion: str | None = None
    stability: int = 0
    seed: int = 0
    cache: bool = True

    def case(self, source: Path | Proof) -> work.Case:
        return work.Case(source, self.parameters, self.options, self.k)


class Course:
    """The tasks of one proof: load the file, prepare and decide its obligations, explain failures, conclude.

    Unless ``all_at_once``, obligations are decided only on request.
    """

    def __init__(self, case: work.Case, label: str, settings: Settings, all_at_once: bool = True) -> None:
        self._settings = settings
        self._label = label
        self._all_at_once = all_at_once
        self.case = case
        self.result = ProofResult(case.path, label)
        self._place = nearby(case.path)
        self._running: set[Any] = set()
        self._weakened = False
        self._by_name: dict[str, Checked] = {}

    def first_tasks(self) -> list[Task]:
        return [self._task("load", "", partial(work.load, self.case), LOADING_SECONDS)]

    def deciding(self, obligations: Iterable[Checked]) -> list[Task]:
        """List the tasks that decide these obligations; those with a verdict need none."""
        self._running.clear()  # tasks that an exception interrupted are not running any more
        root, seed = folder() if self._settings.cache else None, self._settings.seed
        return [
            self._task("decide", checked.question.name, partial(work.decided, checked.question.script, root, seed))
            for checked in obligations
            if checked.verdict is None
        ]

    def looking_for_vacuity(self) -> list[Task]:
        is_known = self.result.vacuity is not None
        return [] if is_known else [self._task("vacuity", "", partial(work.vacuous, self.case, self._reused()))]

    def comparing(self) -> list[Task]:
        """List the task that compares the author's functions across engines, if no vacuity task does so."""
        return [self._task("compare", "", partial(work.compared, self.case, self._reused()))]

    def finished(self, task: Task, outcome: Outcome) -> list[Task]:
        """Record the outcome of a task and return the tasks that follow."""
        _, stage, name, _ = task.key
        self._running.discard(task.key)
        self.result.seconds += outcome.seconds
        if outcome.error is not None:
            if self._is_told_better(outcome.error, stage):
                self.result.error = outcome.error
            return []
        if self.result.error is not None:
            return []
        if stage == "load":
            return self._loaded(outcome)
        if stage == "prepare":
            return self._prepared(outcome)
        if stage == "vacuity":
            self._looked_for_vacuity(outcome)
            return []
        if stage == "compare":
            self._compared(outcome)
            return []
        if stage == "weaken":
            self._looked_at_premises(outcome)
            return []
        checked = self._by_name[name]
        follow_up = []
        if stage == "decide":
            follow_up = self._decided(checked, outcome)
        elif stage == "second":
            self._heard_second_opinion(checked, outcome)
        elif stage == "seed":
            self._tried_seed(checked, task.key[3], outcome)
        else:
            self._explained(checked, outcome)
        return follow_up or self._explanations() or self._weakening()

    def _bypasses_cache(self) -> bool:
        settings = self._settings
        return settings.second_opinion is not None or settings.stability > 0 or settings.seed != 0

    def _is_told_better(self, error: FdverifyError, stage: str) -> bool:
        """Tell whether an error should replace the one recorded: which task fails first is a matter of timing."""
        recorded = self.result.error
        if recorded is None:
            return True
        # If a function means different things to two engines, the tool may contradict itself: report the function.
        if isinstance(recorded, InternalError) and isinstance(error, UsageError):
            return True
        if isinstance(recorded, UsageError) and isinstance(error, UsageError):
            has_line = _has_line(error)
            if has_line != _has_line(recorded):
                return has_line
        return stage == "prepare"  # the generation of obligations gives the best messages

    def _task(
        self, stage: str, name: str, function: Callable[[], Any], limit: float | None = None, seed: int = 0
    ) -> Task:
        # A fresh process makes results reproducible: the text of an obligation, which is its cache key, and the step
        # of a counterexample do not depend on earlier tasks.
        task = Task((self, stage, name, seed), function, limit, alone=stage in ("prepare", "explain", "weaken"))
        if stage not in ("load", "prepare", "vacuity", "compare", "weaken"):
            self._running.add(task.key)
        return task

    def _loaded(self, outcome: Outcome) -> list[Task]:
        if outcome.lost is not None and not outcome.overlong:
            self.result.lost = f"it was not loaded: {outcome.lost}"
            return []
        if outcome.lost is not None:
            self.result.error = UsageError(
                f"{self._place}: still loading when it was given up: {outcome.lost}",
                "is there an endless loop?",
            )
            return []
        loaded: work.Loaded = outcome.value
        self.result.files = loaded.files
        if loaded.error is not None:
            self.result.error = loaded.error
            return []
        prepare = self._task("prepare", "", partial(work.prepare, self.case, self._reused()))
        checks_vacuity = self._all_at_once and not self._settings.only
        return [prepare, *(self.looking_for_vacuity() if checks_vacuity else self.comparing())]

    def _reused(self) -> Path | None:
        """Return the cache folder if earlier results may be reused."""
        return folder() if self._settings.cache and not self._bypasses_cache() else None

    def _prepared(self, outcome: Outcome) -> list[Task]:
        if outcome.lost is not None:
            self.result.lost = f"its obligations were not generated: {outcome.lost}"
            return []
        prepared: work.Prepared = outcome.value
        self.result.subject = prepared.subject
        self.result.files = prepared.files
        only = set(self._settings.only)
        for question, cached in prepared.questions:
            if only and not only & {question.name, question.about}:
                continue
            checked = Checked(question)
            self.result.checked.append(checked)
            self._by_name[question.name] = checked
            if cached:
                checked.verdict, checked.cached = Verdict.PROVED, True
            if self._settings.smtlib is not None:
                self._keep(checked, self._settings.smtlib, self._label)
        return self.deciding(self.result.checked) if self._all_at_once else []

    def _decided(self, checked: Checked, outcome: Outcome) -> list[Task]:
        checked.seconds += outcome.seconds
        if outcome.lost is not None:
            self._unknown(checked, outcome.lost)
            return []
        decision: Decision = outcome.value
        checked.effort = decision.effort
        if decision.status == "unsat":
            checked.verdict = Verdict.PROVED
        else:
            checked.needs_explanation = True
            checked.detail = decision.reason
        name, script, tasks = checked.question.name, checked.question.script, list[Task]()
        if self._settings.second_opinion is not None and decision.status != "unknown":
            opinion = partial(work.second_opinion, script, self._settings.second_opinion)
            tasks.append(self._task("second", name, opinion))
        if decision.status == "unsat":
            seeds = range(1, self._settings.stability + 1)
            tasks += [self._task("seed", name, partial(work.decided, script, None, seed), seed=seed) for seed in seeds]
        return tasks

    def _heard_second_opinion(self, checked: Checked, outcome: Outcome) -> None:
        name, solver = checked.question.name, self._settings.second_opinion
        first = "sat" if checked.needs_explanation else "unsat"
        opinion = Decision("unknown", reason=outcome.lost) if outcome.lost is not None else outcome.value
        checked.second = opinion.status
        if opinion.status == "unknown":
            checked.needs_explanation = False
            self._unknown(checked, f"{solver} does not know: {opinion.reason}")
        elif opinion.status != first:
            self.result.error = InternalError(
                f"{self._place}: two solvers disagree on {name}: z3 says {first}, {solver} says {opinion.status}",
                f"its text is kept in {self._kept(checked)}",
            )

    def _tried_seed(self, checked: Checked, seed: int, outcome: Outcome) -> None:
        decision = Decision("unknown", reason=outcome.lost) if outcome.lost is not None else outcome.value
        checked.decisions.append(decision)
        if decision.status == "sat":
            self.result.error = InternalError(
                f"{self._place}: {checked.question.name} is proved under one seed and refuted under seed {seed}",
                f"its text is kept in {self._kept(checked)}",
            )

    def _explanations(self) -> list[Task]:
        """Once every obligation is decided, list the tasks that explain the failures, the first ones in full."""
        if self._running:
            return []
        failed = [checked for checked in self.result.checked if checked.needs_explanation]
        tasks = []
        for index, checked in enumerate(failed):
            question = checked.question
            explain = partial(
                work.explained,
                self.case,
                question.kind,
                question.about,
                question.rounds,
                index < _EXPLAINED_IN_FULL,
            )
            tasks.append(self._task("explain", question.name, explain))
        return tasks

    def _explained(self, checked: Checked, outcome: Outcome) -> None:
        checked.seconds += outcome.seconds
        checked.needs_explanation = False
        explanation = outcome.value
        if outcome.lost is not None:
            finding = checked.detail or "apparently not inductive"
            self._unknown(checked, f"{finding}; no counterexample was found in time: {outcome.lost}")
        elif isinstance(explanation, work.BrokenShown):
            checked.broken = explanation
            checked.verdict = Verdict.VIOLATED if explanation.breaks_goal else Verdict.NOT_INDUCTIVE
        elif isinstance(explanation, Unbroken) and self._settings.second_opinion is None:
            checked.verdict = Verdict.PROVED
        elif isinstance(explanation, Unbroken):
            # The proof uses facts that are not in the text that the other solver got.
            solver = self._settings.second_opinion
            self._unknown(checked, f"proved with more message ages, about which {solver} was not asked")
        else:
            self._unknown(checked, checked.detail or explanation.reason)

    def _weakening(self) -> list[Task]:
        """Once failures are explained, list the task that finds the premises that rest on failed conjuncts."""
        subject, checked = self.result.subject, self.result.checked
        failed = frozenset(item.question.about for item in checked if item.is_about_conjunct and item.broken)
        has_argument = subject is not None and subject.reduction is not None
        if (
            self._running
            or self._weakened
            or not (failed and has_argument and self._all_at_once)
            or self._settings.only
        ):
            return []
        self._weakened = True
        return [self._task("weaken", "", partial(work.fallen, self.case, failed, _EXPLAINED_IN_FULL))]

    def _looked_at_premises(self, outcome: Outcome) -> None:
        for checked in self.result.checked:
            if checked.question.kind is not Kind.PREMISE or checked.verdict is not Verdict.PROVED:
                continue
            finding = outcome.value.get(checked.question.name) if outcome.lost is None else outcome.lost
            if isinstance(finding, work.BrokenShown):
                checked.verdict, checked.broken = Verdict.NOT_INDUCTIVE, finding
            elif finding is not None:
                self._unknown(checked, f"conjuncts fail, and it is unknown whether this premise needs them: {finding}")

    def _looked_for_vacuity(self, outcome: Outcome) -> None:
        if outcome.lost is not None:
            lost = Obligation("vacuity", Kind.VACUITY, Verdict.UNKNOWN, outcome.seconds, outcome.lost)
            self.result.vacuity = work.VacuityShown((lost,), outcome.lost, (), (), None, ())
        else:
            self.result.author_code, self.result.vacuity = outcome.value

    def _compared(self, outcome: Outcome) -> None:
        if outcome.lost is not None:
            self.result.lost = self.result.lost or f"its functions were not compared: {outcome.lost}"
        else:
            self.result.author_code = outcome.value

    def _unknown(self, checked: Checked, reason: str) -> None:
        checked.verdict, checked.detail = Verdict.UNKNOWN, reason
        self._kept(checked)

    def _kept(self, checked: Checked) -> Path | None:
        """Keep the text of an obligation for inspection; return its path, or ``None`` if it cannot be written."""
        if self._settings.smtlib is None:
            text = self_contained(checked.question.script)
            checked.kept = keep_undecided(self.result.path, self.result.name, checked.question.name, text)
        return checked.kept

    def _keep(self, checked: Checked, directory: Path, label: str) -> None:
        path = directory / f"{safe_name(f'{label}.{checked.question.name}')}.smt2"
        try:
            directory.mkdir(parents=True, exist_ok=True)
            write_report(path, self_contained(checked.question.script))
        except OSError as error:
            self.result.error = UsageError(f"cannot write {path}: {error.strerror}")
            return
        checked.kept = path

    def concluded(self) -> ProofResult:
        """Compute the verdict once all tasks are done."""
        result = self.result
        if result.error is not None:
            return result
        if result.lost is not None:
            result.verdict, result.detail = Verdict.UNKNOWN, result.lost
            return result
        result.verdict = verdict = self._verdict()
        result.detail = self._detail(verdict)
        if verdict is Verdict.PROVED and result.vacuity is not None and result.vacuity.false:
            result.error = InternalError(
                f"{self._place}: proved, but {', '.join(result.vacuity.false)} is false in a reachable state"
            )
        return result

    def _verdict(self) -> Verdict:
        """Return the most serious verdict of all obligations; without a proof of every one of them it is unknown."""
        verdicts = {obligation.verdict for obligation in self.result.obligations}
        for failure in (Verdict.VIOLATED, Verdict.NOT_INDUCTIVE, Verdict.VACUOUS):
            if failure in verdicts:
                return failure
        if self.result.author_code is None:
            return Verdict.UNKNOWN
        if self._settings.only:
            return Verdict.PARTIAL if verdicts <= {Verdict.PROVED} else Verdict.UNKNOWN
        complete = verdicts == {Verdict.PROVED} and self.result.vacuity is not None
        return Verdict.PROVED if complete else Verdict.UNKNOWN

    def _detail(self, verdict: Verdict) -> str:
        matching = [obligation for obligation in self.result.obligations if obligation.verdict is verdict]
        names = ", ".join(obligation.name for obligation in matching)
        match verdict:
            case Verdict.PROVED:
                assert self.result.subject is not None, "a proved proof was prepared"
                if self.result.subject.reduction is not None:
                    return f"{self.result.subject.goal}, by {self.result.subject.reduction}"
                return f"{self.result.subject.goal} holds in every reachable state"
            case Verdict.PARTIAL:
                return f"{len(self.result.checked)} obligations hold, the others were not checked; nothing is claimed"
            case Verdict.VIOLATED:
                return f"a run from the initial state breaks the goal ({names})"
            case Verdict.NOT_INDUCTIVE:
                only_premises = all(obligation.kind == Kind.PREMISE for obligation in matching)
                failure = "the invariant does not imply a premise" if only_premises else "a step leaves the invariant"
                return f"{failure} ({names})"
            case _:
                return "; ".join(f"{obligation.name}: {obligation.detail}" for obligation in matching)


def _has_line(error: UsageError) -> bool:
    """Tell whether the message of an error names a line."""
    return re.search(r"\.py:\d+", error.message) is not None
