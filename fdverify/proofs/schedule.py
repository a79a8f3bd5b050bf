"""The schedule of one proof: which tasks follow which, from loading its file to its last obligation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from fdverify.cache.cache_folder import get_cache_folder, keep_undecided_script
from fdverify.errors import FdverifyError, InternalError, SourceLocation, UsageError, find_python_line
from fdverify.obligations.obligation import NoCounterexample, ObligationKind, UnknownCounterexample
from fdverify.proofs import tasks as proof_tasks
from fdverify.proofs.proof_result import CheckedObligation, CounterexampleDisplay, ProofResult, VacuityDisplay
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.proofs.tasks import NO_OBLIGATIONS, ObligationSelection
from fdverify.smt.script import Decision, render_standalone_script
from fdverify.verdict import Obligation, Verdict
from fdverify.workers.atomic_files import make_file_name, write_report
from fdverify.workers.executor import TaskOutcome
from fdverify.workers.task_flow import Flow, FlowEnded, run_task, run_together

LOADING_SECONDS = 60.0
_EXPLAINED_IN_FULL = 3


class _Stage(IntEnum):
    """What a task is for.  Preparation and comparison take place whatever else fails."""

    LATER = 0
    COMPARISON = 1
    PREPARATION = 2


class ProofSchedule:
    """Checks one proof by tasks for worker processes, and records what comes of them in ``result``.

    ``check_proof`` is the whole way.  Its parts can also be run one by one, on request.
    """

    def __init__(self, case: proof_tasks.ProofCase, label: str, settings: ProofSettings) -> None:
        self._settings = settings
        self._label = label
        self.case = case
        self.result = ProofResult(case.path, label)
        self._error_rank: tuple[int, ...] = ()
        self._place = SourceLocation(case.path)
        self._selection = ObligationSelection(frozenset(settings.only)) if settings.only else ObligationSelection()
        self._proofs: dict[str, Decision] = {}
        """Proofs that were found at once, by the names of obligations; further opinions may be wanted of them."""

    async def check_proof(self) -> None:
        """Prepare, decide and explain all obligations; beside that, show that the proof is not vacuous."""
        checks_all = not self._settings.only
        await run_together(
            [self._check_obligations(), self.check_vacuity() if checks_all else self.compare_author_code()]
        )

    async def _check_obligations(self) -> None:
        await self.prepare_obligations(self._selection)
        await self.decide_obligations(self.result.checked)
        if not self._settings.only:
            await self._find_fallen_premises()

    async def prepare_obligations(self, proved_at_once: ObligationSelection) -> None:
        """Load the file, generate the obligations, and try to prove the selected ones at once, which is quick."""
        if self._settings.seed != 0:  # another seed is for a solver of one's own
            proved_at_once = NO_OBLIGATIONS
        outcome = await self._run_preparation(proved_at_once)
        if outcome.lost is not None and not outcome.was_loading and proved_at_once != NO_OBLIGATIONS:
            outcome = await self._run_preparation(NO_OBLIGATIONS)  # perhaps it was the solver that ended the process
        if outcome.lost is not None:
            missed = "it was not loaded" if outcome.was_loading else "its obligations were not generated"
            self.result.lost = f"{missed}: {outcome.lost}"
            raise FlowEnded
        prepared: proof_tasks.PreparedProof = outcome.value
        self.result.subject = prepared.subject
        for each in prepared.obligations:
            if not self._selection.includes(each.question):
                continue
            checked = CheckedObligation(each.question)
            self.result.checked.append(checked)
            if each.is_cached:
                checked.verdict, checked.cached = Verdict.PROVED, True
            elif each.proof is not None:
                self._proofs[each.question.name] = each.proof
            if self._settings.smtlib is not None:
                self._write_smtlib(checked, self._settings.smtlib)

    async def _run_preparation(self, proved_at_once: ObligationSelection) -> TaskOutcome:
        # A fresh process makes the text of an obligation, which is its cache key, independent of earlier tasks.
        return await self._run_on_proof(
            proof_tasks.prepare_obligations,
            self._get_reusable_cache(),
            self._get_cache(),
            proved_at_once,
            alone=True,
            stage=_Stage.PREPARATION,
        )

    async def decide_obligations(self, obligations: Sequence[CheckedObligation]) -> None:
        """Decide these obligations, then explain those that fail; those with a verdict need neither."""
        undecided = [checked for checked in obligations if checked.verdict is None]
        await run_together(self._decide_obligation(checked) for checked in undecided)
        failed = [checked for checked in undecided if checked.verdict is None]
        await run_together(
            self._explain_failure(checked, in_full=index < _EXPLAINED_IN_FULL) for index, checked in enumerate(failed)
        )

    async def _decide_obligation(self, checked: CheckedObligation) -> None:
        """Decide an obligation unless it was proved at once, with as many opinions as are wanted.

        It gets no verdict if it seems to fail.
        """
        script, settings = checked.question.script, self._settings
        proof = self._proofs.get(checked.question.name)
        if proof is None:
            work = partial(proof_tasks.decide_obligation, script, self._get_cache(), settings.seed)
            outcome = await self._run_task(work)
            checked.seconds += outcome.seconds
            if outcome.lost is not None:
                self._mark_unknown(checked, outcome.lost)
                return
            decision: Decision = outcome.value
        else:
            decision = proof
            checked.seconds += proof.seconds
        checked.effort, checked.detail = decision.effort, decision.reason
        opinions = list[Flow]()
        if settings.second_opinion is not None and decision.status != "unknown":
            opinions.append(self._ask_second_solver(checked, settings.second_opinion, decision.status))
        if decision.status == "unsat":
            opinions += [self._decide_again(checked, seed) for seed in range(1, settings.stability + 1)]
        await run_together(opinions)
        if decision.status == "unsat" and checked.verdict is None and self.result.error is None:
            checked.verdict = Verdict.PROVED

    async def _ask_second_solver(self, checked: CheckedObligation, solver: str, first: str) -> None:
        outcome = await self._run_task(partial(proof_tasks.ask_second_solver, checked.question.script, solver))
        opinion = _read_decision(outcome)
        checked.second = opinion.status
        if opinion.status == "unknown":
            self._mark_unknown(checked, f"{solver} does not know: {opinion.reason}")
        elif opinion.status != first:
            name = checked.question.name
            self._end_with_error(
                InternalError(
                    f"two solvers disagree on {name}: z3 says {first}, {solver} says {opinion.status}",
                    f"its text is kept in {self._keep_undecided(checked)}",
                    self._place,
                )
            )

    async def _decide_again(self, checked: CheckedObligation, seed: int) -> None:
        outcome = await self._run_task(partial(proof_tasks.decide_obligation, checked.question.script, None, seed))
        decision = _read_decision(outcome)
        checked.decisions.append(decision)
        if decision.status == "sat":
            self._end_with_error(
                InternalError(
                    f"{checked.question.name} is proved under one seed and refuted under seed {seed}",
                    f"its text is kept in {self._keep_undecided(checked)}",
                    self._place,
                )
            )

    async def _explain_failure(self, checked: CheckedObligation, in_full: bool) -> None:
        """Find a counterexample to induction; without one, the obligation is proved after all or unknown."""
        question = checked.question
        outcome = await self._run_on_proof(
            proof_tasks.explain_failure, question.kind, question.about, question.rounds, in_full, alone=True
        )
        checked.seconds += outcome.seconds
        explanation = outcome.value
        if outcome.lost is not None:
            finding = checked.detail or "apparently not inductive"
            self._mark_unknown(checked, f"{finding}; no counterexample was found in time: {outcome.lost}")
        elif isinstance(explanation, CounterexampleDisplay):
            checked.broken = explanation
            checked.verdict = Verdict.VIOLATED if explanation.breaks_goal else Verdict.NOT_INDUCTIVE
        elif isinstance(explanation, NoCounterexample) and self._settings.second_opinion is None:
            await self._confirm_proof(checked)
        elif isinstance(explanation, NoCounterexample):
            # The proof uses facts that are not in the text that the other solver got.
            solver = self._settings.second_opinion
            self._mark_unknown(checked, f"proved with more message ages, about which {solver} was not asked")
        else:
            self._mark_unknown(checked, checked.detail or explanation.reason)

    async def _confirm_proof(self, checked: CheckedObligation) -> None:
        """Make sure that what a process has proved without the text of an obligation is that obligation."""
        outcome = await self._run_on_proof(proof_tasks.confirm_proof, checked.question, alone=True)
        checked.seconds += outcome.seconds
        if outcome.value is True:
            checked.verdict = Verdict.PROVED
        else:
            self._mark_unknown(
                checked, f"proved once, which was not confirmed: {outcome.lost or 'the file now says something else'}"
            )

    async def _find_fallen_premises(self) -> None:
        """If conjuncts fail, find the premises of the argument that rest on them: those are not proved."""
        subject, checked = self.result.subject, self.result.checked
        failed = frozenset(item.question.about for item in checked if item.is_about_conjunct and item.broken)
        if not failed or subject is None or subject.reduction is None:
            return
        outcome = await self._run_on_proof(proof_tasks.find_fallen_premises, failed, _EXPLAINED_IN_FULL, alone=True)
        self._record_fallen_premises(outcome)

    def _record_fallen_premises(self, outcome: TaskOutcome) -> None:
        for checked in self.result.checked:
            if checked.question.kind is not ObligationKind.PREMISE or checked.verdict is not Verdict.PROVED:
                continue
            finding = outcome.value.get(checked.question.name) if outcome.lost is None else outcome.lost
            if isinstance(finding, CounterexampleDisplay):
                checked.verdict, checked.broken = Verdict.NOT_INDUCTIVE, finding
            elif finding is not None:
                reason = finding.reason if isinstance(finding, UnknownCounterexample) else finding
                self._mark_unknown(
                    checked, f"conjuncts fail, and it is unknown whether this premise needs them: {reason}"
                )

    async def check_vacuity(self) -> None:
        """Compare the author's functions across engines, and show that the proof is not vacuous."""
        if self.result.vacuity is not None:
            return
        outcome = await self._run_on_proof(
            proof_tasks.compare_and_check_vacuity, self._get_reusable_cache(), stage=_Stage.COMPARISON
        )
        if outcome.lost is not None:
            lost = Obligation("vacuity", ObligationKind.VACUITY, Verdict.UNKNOWN, outcome.seconds, outcome.lost)
            self.result.vacuity = VacuityDisplay((lost,), outcome.lost, (), (), None, ())
        else:
            self.result.author_code, self.result.vacuity = outcome.value

    async def compare_author_code(self) -> None:
        """Compare the author's functions across engines."""
        outcome = await self._run_on_proof(
            proof_tasks.compare_author_code, self._get_reusable_cache(), stage=_Stage.COMPARISON
        )
        if outcome.lost is not None:
            self.result.lost = self.result.lost or f"its functions were not compared: {outcome.lost}"
        else:
            self.result.author_code = outcome.value

    def _record_files(self, files: Mapping[Path, str], stage: _Stage) -> None:
        """Record the files that a process has read for the proof; refuse those that another process read otherwise."""
        known = self.result.files
        changed = [path for path, digest in files.items() if known.get(path, digest) != digest]
        # What a changed file says now is not what all processes have read.
        self.result.files = {**known, **files, **dict.fromkeys(changed, "")}
        if changed:
            message = f"it was changed while {self._place} was checked"
            self._end_with_error(UsageError(message, "check it again", SourceLocation(changed[0])), stage)

    async def _run_on_proof(
        self, work: Callable[..., Any], *arguments: Any, alone: bool = False, stage: _Stage = _Stage.LATER
    ) -> TaskOutcome:
        """Run ``work(loaded, *arguments)`` in a process that has loaded the proof."""
        task = proof_tasks.TaskOnProof(work, arguments)
        outcome = await self._run_task(task, stage, limit=LOADING_SECONDS, alone=alone, loading=self.case.load)
        if outcome.overlong:
            message = f"still loading when it was given up: {outcome.lost}"
            self._end_with_error(UsageError(message, "is there an endless loop?", self._place), stage)
        if outcome.lost is not None:
            return outcome
        answer: proof_tasks.AnswerOnProof = outcome.value
        reads = self.result.reads
        self.result.reads = answer.reads if reads is None else reads.merge(answer.reads)
        self._record_files(answer.files, stage)
        if answer.error is not None:
            self._end_with_error(answer.error, stage)
        return replace(outcome, value=answer.value)

    async def _run_task(self, work: Callable[..., Any], stage: _Stage = _Stage.LATER, **more: Any) -> TaskOutcome:
        """Run a task, unless the proof has an error already.  If the task fails, end the flow."""
        if self.result.error is not None:
            raise FlowEnded
        outcome = await run_task(work, **more)
        self.result.seconds += outcome.seconds
        if outcome.error is not None:
            self._end_with_error(outcome.error, stage)
        return outcome

    def _end_with_error(self, error: FdverifyError, stage: _Stage = _Stage.LATER) -> NoReturn:
        """Record an error unless a more telling one is recorded: which task fails first is a matter of timing."""
        recorded, rank = self.result.error, _rank_error(error, stage)
        if recorded is None or (rank, str(recorded)) > (self._error_rank, str(error)):
            self.result.error, self._error_rank = error, rank
        raise FlowEnded

    def _get_cache(self) -> Path | None:
        """Return the cache folder if results may be stored."""
        return get_cache_folder() if self._settings.cache else None

    def _get_reusable_cache(self) -> Path | None:
        """Return the cache folder if earlier results may be reused."""
        return get_cache_folder() if self._settings.reuses_results else None

    def _mark_unknown(self, checked: CheckedObligation, reason: str) -> None:
        checked.verdict, checked.detail = Verdict.UNKNOWN, reason
        self._keep_undecided(checked)

    def _keep_undecided(self, checked: CheckedObligation) -> Path | None:
        """Keep the text of an obligation for inspection; return its path, or ``None`` if it cannot be written."""
        if self._settings.smtlib is None:
            text = render_standalone_script(checked.question.script)
            checked.kept = keep_undecided_script(self.result.path, self.result.name, checked.question.name, text)
        return checked.kept

    def _write_smtlib(self, checked: CheckedObligation, directory: Path) -> None:
        path = directory / f"{make_file_name(f'{self._label}.{checked.question.name}')}.smt2"
        try:
            directory.mkdir(parents=True, exist_ok=True)
            write_report(path, render_standalone_script(checked.question.script))
        except OSError as error:
            self._end_with_error(UsageError(f"cannot write {path}: {error.strerror}"), _Stage.PREPARATION)
        checked.kept = path


def _read_decision(outcome: TaskOutcome) -> Decision:
    return Decision("unknown", reason=outcome.lost) if outcome.lost is not None else outcome.value


def _rank_error(error: FdverifyError, stage: _Stage) -> tuple[int, ...]:
    """Rank an error by how telling it is."""
    # Later tasks are not started once there is an error.  If a function means different things to two engines, the tool
    # may contradict itself later: report the function.
    always_found = stage is not _Stage.LATER
    blames_input = isinstance(error, UsageError)
    names_line = blames_input and find_python_line(error) is not None
    return always_found, blames_input, names_line, stage  # the generation of obligations gives the best messages
