"""Checks proofs by worker processes: all obligations of all proofs, in parallel and independently of each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

from fdverify.errors import UsageError
from fdverify.obligations.obligation import ObligationKind
from fdverify.proofs.conclusion import conclude_proof
from fdverify.proofs.proof_result import ProofResult
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.proofs.schedule import ProofSchedule
from fdverify.proofs.tasks import ProofCase, import_worker_modules
from fdverify.workers.backends import WorkerSettings, open_executor
from fdverify.workers.task_flow import run_flows


@dataclass(frozen=True)
class CheckProgress:
    """The progress of a check: for each kind of obligation, how many are done and how many there are."""

    done: Mapping[str, int]
    total: Mapping[str, int]

    def __str__(self) -> str:
        return ", ".join(f"{kind} {self.done[kind]}/{total}" for kind, total in self.total.items())


def check_cases(
    cases: Sequence[ProofCase],
    labels: Sequence[str],
    settings: ProofSettings,
    report: Callable[[CheckProgress], None],
    beat: Callable[[], None] | None,
) -> list[ProofResult]:
    """Check proofs; ``beat`` is called often, and may raise an exception to cancel the check."""
    workers = WorkerSettings(settings.jobs, settings.cluster)
    if settings.cluster is None:
        import_worker_modules(compares=not settings.cache)
    else:
        # Another machine has neither this working directory nor the key that signs what is stored.
        cases, settings = [_make_absolute(case) for case in cases], replace(settings, cache=False)
    schedules = [ProofSchedule(case, label, settings) for case, label in zip(cases, labels, strict=True)]
    deadline = None if settings.time_limit is None else monotonic() + settings.time_limit
    with open_executor(workers, settings.memory_limit, cases) as executor:
        run_flows(
            executor,
            [schedule.check_proof() for schedule in schedules],
            deadline,
            lambda: report(_count_progress(schedules, settings)),
            beat,
        )
    results = [schedule.result for schedule in schedules]
    for result in results:
        conclude_proof(result, is_selection=bool(settings.only))
    return results


def _make_absolute(case: ProofCase) -> ProofCase:
    if not isinstance(case.source, Path):
        raise UsageError("only a proof in a file can be checked on a cluster", "leave out the cluster")
    return replace(case, source=case.source.absolute())


def _count_progress(schedules: list[ProofSchedule], settings: ProofSettings) -> CheckProgress:
    done: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for schedule in schedules:
        for checked in schedule.result.checked:
            total[checked.question.kind] += 1
            done[checked.question.kind] += checked.verdict is not None
            if settings.second_opinion is not None:
                total["second opinion"] += 1
                done["second opinion"] += checked.second is not None
            if settings.stability:
                total["seeds"] += settings.stability
                done["seeds"] += len(checked.decisions)
        total[ObligationKind.VACUITY] += 1
        done[ObligationKind.VACUITY] += schedule.result.vacuity is not None
    return CheckProgress(done, total)
