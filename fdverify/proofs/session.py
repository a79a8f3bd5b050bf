"""Sessions, which check the obligations of one proof on request."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from time import monotonic

from fdverify.cache.cache_folder import get_cache_folder, tidy_folder_once
from fdverify.cache.signing import check_key
from fdverify.obligations.obligation import VACUITY
from fdverify.proofs.conclusion import conclude_proof
from fdverify.proofs.known_outcomes import KnownOutcomes
from fdverify.proofs.proof_result import CheckedObligation, ProofResult, VacuityDisplay
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.proofs.schedule import ProofSchedule
from fdverify.proofs.tasks import ObligationSelection, ProofCase, import_worker_modules
from fdverify.workers.pool import Pool
from fdverify.workers.task_flow import Flow, run_flows


class ProofSession:
    """Checks one proof in worker processes, which live until ``close``.  The time limit applies to each request.

    What is ``likely`` to be requested is tried at once, because that is quicker.
    """

    def __init__(self, path: Path, settings: ProofSettings, likely: Collection[str] = ()) -> None:
        if settings.cache:
            check_key()
            tidy_folder_once(get_cache_folder())
        self._case = ProofCase.from_settings(path, settings)
        self._settings = settings
        self._schedule = ProofSchedule(self._case, path.stem, settings)
        self._pool = Pool(settings.jobs, settings.memory_limit, [self._case])
        self._outcomes = KnownOutcomes(get_cache_folder())
        known = self._outcomes.find([path], settings).get(path)
        if known is not None:
            self._schedule.result = known  # it has all verdicts, so nothing is left to run
            return
        import_worker_modules(compares=not settings.cache)
        self._prepare(frozenset(likely))
        if likely and (self.result.lost is not None or self.result.author_code is None):
            # What was tried may have taken the time or the memory of all.
            self._schedule = ProofSchedule(self._case, path.stem, settings)
            self._prepare(frozenset())

    def _prepare(self, likely: frozenset[str]) -> None:
        """Generate the obligations and compare the author's functions; try what is likely to be requested."""
        schedule = self._schedule
        checks_vacuity = self._settings.jobs > 1 and not likely.isdisjoint(VACUITY)
        self._run_flows(
            schedule.prepare_obligations(ObligationSelection(likely)),
            schedule.check_vacuity() if checks_vacuity else schedule.compare_author_code(),
        )

    @property
    def result(self) -> ProofResult:
        """The result so far; its verdict is not computed yet."""
        return self._schedule.result

    def check_obligation(self, name: str) -> CheckedObligation:
        """Check the obligation of this name."""
        obligation = next(checked for checked in self.result.checked if checked.question.name == name)
        self._run_flows(self._schedule.decide_obligations([obligation]))
        return obligation

    def check_vacuity(self) -> VacuityDisplay:
        """Check all vacuity obligations, which are decided together."""
        self._run_flows(self._schedule.check_vacuity())
        assert self.result.vacuity is not None, "vacuity was checked"
        if self.result.vacuity.false:
            # A claim is false in a reachable state.  If every obligation holds, the tool contradicts itself.
            self._run_flows(self._schedule.decide_obligations(self.result.checked))
            conclude_proof(self.result, is_selection=False)
            self._raise_error()
        return self.result.vacuity

    def close(self) -> None:
        """End the worker processes, and store the outcome if everything was checked."""
        self._pool.close()
        conclude_proof(self.result, is_selection=False)
        self._outcomes.keep([self.result], self._settings)

    def _run_flows(self, *flows: Flow) -> None:
        limit = self._settings.time_limit
        run_flows(self._pool, flows, None if limit is None else monotonic() + limit)
        self._raise_error()

    def _raise_error(self) -> None:
        if self.result.error is not None:
            self._pool.close()
            raise self.result.error
