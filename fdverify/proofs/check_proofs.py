"""Checks proofs: all obligations of all files, in parallel and independently of each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from fdverify.cache.cache_folder import get_cache_folder, tidy_folder_once
from fdverify.cache.signing import check_key
from fdverify.errors import UsageError
from fdverify.obligations.obligation import ObligationKind
from fdverify.proofs.conclusion import conclude_proof
from fdverify.proofs.proof import Proof
from fdverify.proofs.proof_result import ProofResult
from fdverify.proofs.schedule import ProofSchedule, ProofSettings
from fdverify.proofs.tasks import import_worker_modules
from fdverify.workers.pool import Pool
from fdverify.workers.task_flow import run_flows


@dataclass(frozen=True)
class CheckProgress:
    """The progress of a check: for each kind of obligation, how many are done and how many there are."""

    done: Mapping[str, int]
    total: Mapping[str, int]

    def __str__(self) -> str:
        return ", ".join(f"{kind} {self.done[kind]}/{total}" for kind, total in self.total.items())


def check_proofs(
    sources: Iterable[Path | Proof],
    settings: ProofSettings,
    report: Callable[[CheckProgress], None] = lambda stage: None,
    beat: Callable[[], None] | None = None,
) -> list[ProofResult]:
    """Check proofs, given as files or as objects; a bad file does not stop the others.

    ``beat`` is called often during the check, and may raise an exception to cancel it.
    """
    if settings.cache:
        check_key()
    cases = [settings.build_case(source) for source in sources]
    labels = _label_files([case.path for case in cases])
    schedules = [ProofSchedule(case, label, settings) for case, label in zip(cases, labels, strict=True)]
    deadline = None if settings.time_limit is None else monotonic() + settings.time_limit
    import_worker_modules(compares=not settings.cache)
    with Pool(settings.jobs, settings.memory_limit, cases) as pool:
        run_flows(
            pool,
            [schedule.check_proof() for schedule in schedules],
            deadline,
            lambda: report(_count_progress(schedules, settings)),
            beat,
        )
    if settings.cache:
        tidy_folder_once(get_cache_folder())
    results = [schedule.result for schedule in schedules]
    for result in results:
        conclude_proof(result, is_selection=bool(settings.only))
    _refuse_unknown_names(results, settings.only)
    return results


def _label_files(paths: Sequence[Path]) -> list[str]:
    """Return a unique label for each file: its name, preceded by as many folders as distinguish it from the others.

    Labels that are still equal, such as those of two proof objects of one file, are numbered.
    """
    parts = [path.with_suffix("").absolute().parts[1:] for path in paths]

    def find_shortest_label(own: tuple[str, ...]) -> str:
        others = {other for other in parts if other != own}
        lengths = range(1, len(own))
        sufficient = (length for length in lengths if all(other[-length:] != own[-length:] for other in others))
        return "-".join(own[-next(sufficient, len(own)) :])

    labels = [find_shortest_label(own) for own in parts]
    repeated = {label for label in labels if labels.count(label) > 1}
    return [
        f"{label}-{labels[: index + 1].count(label)}" if label in repeated else label
        for index, label in enumerate(labels)
    ]


def _refuse_unknown_names(results: list[ProofResult], only: tuple[str, ...]) -> None:
    questions = [checked.question for result in results for checked in result.checked]
    names = {name for question in questions for name in (question.name, question.about)}
    for name in only:
        if name not in names and not any(result.error or result.lost for result in results):
            raise UsageError(f"--only {name}: no proof has a conjunct or an obligation of that name")


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
