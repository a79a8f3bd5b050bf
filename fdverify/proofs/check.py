"""Checks proofs: all obligations of all files, in parallel and independently of each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from fdverify.engines.inductive import Kind
from fdverify.errors import UsageError
from fdverify.proofs.course import Course, Settings
from fdverify.proofs.proof import Proof
from fdverify.proofs.result import ProofResult
from fdverify.proofs.work import Case
from fdverify.signing import check_key
from fdverify.smt.cache import folder
from fdverify.smt.cache_folder import tidy_once
from fdverify.smt.pool import Outcome, Pool, Task


@dataclass(frozen=True)
class Stage:
    """The progress of a check: for each kind of obligation, how many are done and how many there are."""

    done: Mapping[str, int]
    total: Mapping[str, int]

    def __str__(self) -> str:
        return ", ".join(f"{kind} {self.done[kind]}/{total}" for kind, total in self.total.items())


def check(
    sources: Iterable[Path | Proof],
    settings: Settings,
    report: Callable[[Stage], None] = lambda stage: None,
    beat: Callable[[], None] | None = None,
) -> list[ProofResult]:
    """Check proofs, given as files or as objects; a bad file does not stop the others.

    ``beat`` is called often during the check, and may raise an exception to cancel it.
    """
    if settings.cache:
        check_key()
    courses = _courses([settings.case(source) for source in sources], settings)
    deadline = None if settings.time_limit is None else monotonic() + settings.time_limit

    def finished(task: Task, outcome: Outcome) -> list[Task]:
        tasks: list[Task] = task.key[0].finished(task, outcome)
        report(_stage(courses, settings))
        return tasks

    _import_for_workers(settings)
    with Pool(settings.jobs, settings.memory_limit, [course.case for course in courses]) as pool:
        pool.run([task for course in courses for task in course.first_tasks()], finished, deadline, beat)
    if settings.cache:
        tidy_once(folder())
    results = [course.concluded() for course in courses]
    _check_only(results, settings.only)
    return results


def _import_for_workers(settings: Settings) -> None:
    """Import the modules that every worker process needs: forked workers share them."""
    import fdverify.author_code.check
    import fdverify.engines.vacuity

    if not settings.cache:  # with the cache, most functions need not be compared again
        import fdverify.author_code.rounds
        import fdverify.author_code.source_rules  # noqa: F401


def _courses(cases: list[Case], settings: Settings) -> list[Course]:
    labels = _labels([case.path for case in cases])
    return [Course(case, label, settings) for case, label in zip(cases, labels, strict=True)]


def _labels(paths: Sequence[Path]) -> list[str]:
    """Return a unique label for each file: its name, preceded by as many folders as distinguish it from the others.

    Labels that are still equal, such as those of two proof objects of one file, are numbered.
    """
    parts = [path.with_suffix("").absolute().parts[1:] for path in paths]

    def shortest(own: tuple[str, ...]) -> str:
        others = {other for other in parts if other != own}
        lengths = range(1, len(own))
        sufficient = (length for length in lengths if all(other[-length:] != own[-length:] for other in others))
        return "-".join(own[-next(sufficient, len(own)) :])

    labels = [shortest(own) for own in parts]
    repeated = {label for label in labels if labels.count(label) > 1}
    return [
        f"{label}-{labels[: index + 1].count(label)}" if label in repeated else label
        for index, label in enumerate(labels)
    ]


def _check_only(results: list[ProofResult], only: tuple[str, ...]) -> None:
    questions = [checked.question for result in results for checked in result.checked]
    names = {name for question in questions for name in (question.name, question.about)}
    for name in only:
        if name not in names and not any(result.error for result in results):
            raise UsageError(f"--only {name}: no proof has a conjunct or an obligation of that name")


def _stage(courses: list[Course], settings: Settings) -> Stage:
    done: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for course in courses:
        for checked in course.result.checked:
            total[checked.question.kind] += 1
            done[checked.question.kind] += checked.verdict is not None
            if settings.second_opinion is not None:
                total["second opinion"] += 1
                done["second opinion"] += checked.second is not None
            if settings.stability:
                total["seeds"] += settings.stability
                done["seeds"] += len(checked.decisions)
        total[Kind.VACUITY] += 1
        done[Kind.VACUITY] += course.result.vacuity is not None
    return Stage(done, total)
