"""Schedules the tasks of one proof on a pool of worker processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from fdverify.cache.cache_folder import get_cache_folder
from fdverify.cache.undecided_scripts import keep_undecided_script
from fdverify.errors import FdverifyError, InternalError, SourceLocation, UsageError, find_python_line
from fdverify.models.model import OptionValue
from fdverify.obligations.inductive import NoCounterexample, ObligationKind, UnknownCounterexample
from fdverify.proofs import tasks as proof_tasks
from fdverify.proofs.proof import Proof
from fdverify.proofs.proof_result import CheckedObligation, ProofResult
from fdverify.smt.decide import Decision
from fdverify.smt.script import render_standalone_script
from fdverify.verdict import Obligation, Verdict
from fdverify.workers.atomic_files import make_file_name, write_report
from fdverify.workers.pool import Task, TaskOutcome

LOADING_SECONDS = 60.0
_EXPLAINED_IN_FULL = 3


@dataclass(frozen=True)
class ProofSettings:
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

    def build_case(self, source: Path | Proof) -> proof_tasks.ProofCase:
        return proof_tasks.ProofCase(source, self.parameters, self.options, self.k)


class ProofSchedule:
    """The tasks of one proof: load the file, prepare and decide its obligations, explain failures, conclude.

    Unless ``all_at_once``, obligations are decided only on request.
    """

    def __init__(
        self, case: proof_tasks.ProofCase, label: str, settings: ProofSettings, all_at_once: bool = True
    ) -> None:
        self._settings = settings
        self._label = label
        self._all_at_once = all_at_once
        self.case = case
        self.result = ProofResult(case.path, label)
        self._place = SourceLocation(case.path)
        self._running: set[Any] = set()
        self._has_weakened = False
        self._by_name: dict[str, CheckedObligation] = {}

    def list_first_tasks(self) -> list[Task]:
        return [self._build_task("load", "", partial(proof_tasks.load_file, self.case), LOADING_SECONDS)]

    def list_decision_tasks(self, obligations: Iterable[CheckedObligation]) -> list[Task]:
        """List the tasks that decide these obligations; those with a verdict need none."""
        self._running.clear()  # tasks that an exception interrupted are not running any more
        root, seed = get_cache_folder() if self._settings.cache else None, self._settings.seed
        return [
            self._build_task(
                "decide",
                checked.question.name,
                partial(proof_tasks.decide_obligation, checked.question.script, root, seed),
            )
            for checked in obligations
            if checked.verdict is None
        ]

    def list_vacuity_tasks(self) -> list[Task]:
        is_known = self.result.vacuity is not None
        return (
            []
            if is_known
            else [
                self._build_task(
                    "vacuity", "", partial(proof_tasks.compare_and_check_vacuity, self.case, self._get_reusable_cache())
                )
            ]
        )

    def list_comparison_tasks(self) -> list[Task]:
        """List the task that compares the author's functions across engines, if no vacuity task does so."""
        return [
            self._build_task(
                "compare", "", partial(proof_tasks.compare_author_code, self.case, self._get_reusable_cache())
            )
        ]

    def handle_outcome(self, task: Task, outcome: TaskOutcome) -> list[Task]:
        """Record the outcome of a task and return the tasks that follow."""
        _, stage, name, _ = task.key
        self._running.discard(task.key)
        self.result.seconds += outcome.seconds
        if outcome.error is not None:
            if self._is_more_telling(outcome.error, stage):
                self.result.error = outcome.error
            return []
        if self.result.error is not None:
            return []
        if stage == "load":
            return self._record_loading(outcome)
        if stage == "prepare":
            return self._record_preparation(outcome)
        if stage == "vacuity":
            self._record_vacuity(outcome)
            return []
        if stage == "compare":
            self._record_comparison(outcome)
            return []
        if stage == "weaken":
            self._record_weakening(outcome)
            return []
        checked = self._by_name[name]
        follow_up = []
        if stage == "decide":
            follow_up = self._record_decision(checked, outcome)
        elif stage == "second":
            self._record_second_opinion(checked, outcome)
        elif stage == "seed":
            self._record_seed(checked, task.key[3], outcome)
        else:
            self._record_explanation(checked, outcome)
        return follow_up or self._list_explanation_tasks() or self._list_weakening_tasks()

    def _bypasses_cache(self) -> bool:
        settings = self._settings
        return settings.second_opinion is not None or settings.stability > 0 or settings.seed != 0

    def _is_more_telling(self, error: FdverifyError, stage: str) -> bool:
        """Tell whether an error should replace the one recorded: which task fails first is a matter of timing."""
        recorded = self.result.error
        if recorded is None:
            return True
        # If a function means different things to two engines, the tool may contradict itself: report the function.
        if isinstance(recorded, InternalError) and isinstance(error, UsageError):
            return True
        if isinstance(recorded, UsageError) and isinstance(error, UsageError):
            has_line = find_python_line(error) is not None
            if has_line != (find_python_line(recorded) is not None):
                return has_line
        return stage == "prepare"  # the generation of obligations gives the best messages

    def _build_task(
        self, stage: str, name: str, function: Callable[[], Any], limit: float | None = None, seed: int = 0
    ) -> Task:
        # A fresh process makes results reproducible: the text of an obligation, which is its cache key, and the step
        # of a counterexample do not depend on earlier tasks.
        task = Task((self, stage, name, seed), function, limit, alone=stage in ("prepare", "explain", "weaken"))
        if stage not in ("load", "prepare", "vacuity", "compare", "weaken"):
            self._running.add(task.key)
        return task

    def _record_loading(self, outcome: TaskOutcome) -> list[Task]:
        if outcome.lost is not None and not outcome.overlong:
            self.result.lost = f"it was not loaded: {outcome.lost}"
            return []
        if outcome.lost is not None:
            self.result.error = UsageError(
                f"still loading when it was given up: {outcome.lost}",
                "is there an endless loop?",
                self._place,
            )
            return []
        loaded: proof_tasks.LoadedProof = outcome.value
        self.result.files = loaded.files
        if loaded.error is not None:
            self.result.error = loaded.error
            return []
        prepare = self._build_task(
            "prepare", "", partial(proof_tasks.prepare_obligations, self.case, self._get_reusable_cache())
        )
        checks_vacuity = self._all_at_once and not self._settings.only
        return [prepare, *(self.list_vacuity_tasks() if checks_vacuity else self.list_comparison_tasks())]

    def _get_reusable_cache(self) -> Path | None:
        """Return the cache folder if earlier results may be reused."""
        return get_cache_folder() if self._settings.cache and not self._bypasses_cache() else None

    def _record_preparation(self, outcome: TaskOutcome) -> list[Task]:
        if outcome.lost is not None:
            self.result.lost = f"its obligations were not generated: {outcome.lost}"
            return []
        prepared: proof_tasks.PreparedProof = outcome.value
        self.result.subject = prepared.subject
        self.result.files = prepared.files
        only = set(self._settings.only)
        for question, cached in prepared.questions:
            if only and not only & {question.name, question.about}:
                continue
            checked = CheckedObligation(question)
            self.result.checked.append(checked)
            self._by_name[question.name] = checked
            if cached:
                checked.verdict, checked.cached = Verdict.PROVED, True
            if self._settings.smtlib is not None:
                self._write_smtlib(checked, self._settings.smtlib, self._label)
        return self.list_decision_tasks(self.result.checked) if self._all_at_once else []

    def _record_decision(self, checked: CheckedObligation, outcome: TaskOutcome) -> list[Task]:
        checked.seconds += outcome.seconds
        if outcome.lost is not None:
            self._mark_unknown(checked, outcome.lost)
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
            opinion = partial(proof_tasks.ask_second_solver, script, self._settings.second_opinion)
            tasks.append(self._build_task("second", name, opinion))
        if decision.status == "unsat":
            seeds = range(1, self._settings.stability + 1)
            tasks += [
                self._build_task("seed", name, partial(proof_tasks.decide_obligation, script, None, seed), seed=seed)
                for seed in seeds
            ]
        return tasks

    def _record_second_opinion(self, checked: CheckedObligation, outcome: TaskOutcome) -> None:
        name, solver = checked.question.name, self._settings.second_opinion
        first = "sat" if checked.needs_explanation else "unsat"
        opinion = Decision("unknown", reason=outcome.lost) if outcome.lost is not None else outcome.value
        checked.second = opinion.status
        if opinion.status == "unknown":
            checked.needs_explanation = False
            self._mark_unknown(checked, f"{solver} does not know: {opinion.reason}")
        elif opinion.status != first:
            self.result.error = InternalError(
                f"two solvers disagree on {name}: z3 says {first}, {solver} says {opinion.status}",
                f"its text is kept in {self._keep_undecided(checked)}",
                self._place,
            )

    def _record_seed(self, checked: CheckedObligation, seed: int, outcome: TaskOutcome) -> None:
        decision = Decision("unknown", reason=outcome.lost) if outcome.lost is not None else outcome.value
        checked.decisions.append(decision)
        if decision.status == "sat":
            self.result.error = InternalError(
                f"{checked.question.name} is proved under one seed and refuted under seed {seed}",
                f"its text is kept in {self._keep_undecided(checked)}",
                self._place,
            )

    def _list_explanation_tasks(self) -> list[Task]:
        """Once every obligation is decided, list the tasks that explain the failures, the first ones in full."""
        if self._running:
            return []
        failed = [checked for checked in self.result.checked if checked.needs_explanation]
        tasks = []
        for index, checked in enumerate(failed):
            question = checked.question
            explain = partial(
                proof_tasks.explain_failure,
                self.case,
                question.kind,
                question.about,
                question.rounds,
                index < _EXPLAINED_IN_FULL,
            )
            tasks.append(self._build_task("explain", question.name, explain))
        return tasks

    def _record_explanation(self, checked: CheckedObligation, outcome: TaskOutcome) -> None:
        checked.seconds += outcome.seconds
        checked.needs_explanation = False
        explanation = outcome.value
        if outcome.lost is not None:
            finding = checked.detail or "apparently not inductive"
            self._mark_unknown(checked, f"{finding}; no counterexample was found in time: {outcome.lost}")
        elif isinstance(explanation, proof_tasks.CounterexampleDisplay):
            checked.broken = explanation
            checked.verdict = Verdict.VIOLATED if explanation.breaks_goal else Verdict.NOT_INDUCTIVE
        elif isinstance(explanation, NoCounterexample) and self._settings.second_opinion is None:
            checked.verdict = Verdict.PROVED
        elif isinstance(explanation, NoCounterexample):
            # The proof uses facts that are not in the text that the other solver got.
            solver = self._settings.second_opinion
            self._mark_unknown(checked, f"proved with more message ages, about which {solver} was not asked")
        else:
            self._mark_unknown(checked, checked.detail or explanation.reason)

    def _list_weakening_tasks(self) -> list[Task]:
        """Once failures are explained, list the task that finds the premises that rest on failed conjuncts."""
        subject, checked = self.result.subject, self.result.checked
        failed = frozenset(item.question.about for item in checked if item.is_about_conjunct and item.broken)
        has_argument = subject is not None and subject.reduction is not None
        if (
            self._running
            or self._has_weakened
            or not (failed and has_argument and self._all_at_once)
            or self._settings.only
        ):
            return []
        self._has_weakened = True
        return [
            self._build_task(
                "weaken", "", partial(proof_tasks.find_fallen_premises, self.case, failed, _EXPLAINED_IN_FULL)
            )
        ]

    def _record_weakening(self, outcome: TaskOutcome) -> None:
        for checked in self.result.checked:
            if checked.question.kind is not ObligationKind.PREMISE or checked.verdict is not Verdict.PROVED:
                continue
            finding = outcome.value.get(checked.question.name) if outcome.lost is None else outcome.lost
            if isinstance(finding, proof_tasks.CounterexampleDisplay):
                checked.verdict, checked.broken = Verdict.NOT_INDUCTIVE, finding
            elif finding is not None:
                reason = finding.reason if isinstance(finding, UnknownCounterexample) else finding
                self._mark_unknown(
                    checked, f"conjuncts fail, and it is unknown whether this premise needs them: {reason}"
                )

    def _record_vacuity(self, outcome: TaskOutcome) -> None:
        if outcome.lost is not None:
            lost = Obligation("vacuity", ObligationKind.VACUITY, Verdict.UNKNOWN, outcome.seconds, outcome.lost)
            self.result.vacuity = proof_tasks.VacuityDisplay((lost,), outcome.lost, (), (), None, ())
        else:
            self.result.author_code, self.result.vacuity = outcome.value

    def _record_comparison(self, outcome: TaskOutcome) -> None:
        if outcome.lost is not None:
            self.result.lost = self.result.lost or f"its functions were not compared: {outcome.lost}"
        else:
            self.result.author_code = outcome.value

    def _mark_unknown(self, checked: CheckedObligation, reason: str) -> None:
        checked.verdict, checked.detail = Verdict.UNKNOWN, reason
        self._keep_undecided(checked)

    def _keep_undecided(self, checked: CheckedObligation) -> Path | None:
        """Keep the text of an obligation for inspection; return its path, or ``None`` if it cannot be written."""
        if self._settings.smtlib is None:
            text = render_standalone_script(checked.question.script)
            checked.kept = keep_undecided_script(self.result.path, self.result.name, checked.question.name, text)
        return checked.kept

    def _write_smtlib(self, checked: CheckedObligation, directory: Path, label: str) -> None:
        path = directory / f"{make_file_name(f'{label}.{checked.question.name}')}.smt2"
        try:
            directory.mkdir(parents=True, exist_ok=True)
            write_report(path, render_standalone_script(checked.question.script))
        except OSError as error:
            self.result.error = UsageError(f"cannot write {path}: {error.strerror}")
            return
        checked.kept = path

    def conclude(self) -> ProofResult:
        """Compute the verdict once all tasks are done."""
        result = self.result
        if result.error is not None:
            return result
        if result.lost is not None:
            result.verdict, result.detail = Verdict.UNKNOWN, result.lost
            return result
        result.verdict = verdict = self._compute_verdict()
        result.detail = self._describe_verdict(verdict)
        if verdict is Verdict.PROVED and result.vacuity is not None and result.vacuity.false:
            result.error = InternalError(
                f"proved, but {', '.join(result.vacuity.false)} is false in a reachable state", place=self._place
            )
        return result

    def _compute_verdict(self) -> Verdict:
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

    def _describe_verdict(self, verdict: Verdict) -> str:
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
                only_premises = all(obligation.kind == ObligationKind.PREMISE for obligation in matching)
                failure = "the invariant does not imply a premise" if only_premises else "a step leaves the invariant"
                return f"{failure} ({names})"
            case _:
                return "; ".join(f"{obligation.name}: {obligation.detail}" for obligation in matching)
