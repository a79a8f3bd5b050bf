"""Checks proofs: those that were proved before and have not changed are known, the others are checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fdverify.cache.cache_folder import get_cache_folder, tidy_folder_once
from fdverify.cache.signing import check_key
from fdverify.errors import UsageError
from fdverify.proofs.known_outcomes import KnownOutcomes
from fdverify.proofs.proof_result import ProofResult
from fdverify.proofs.proof_settings import ProofSettings

if TYPE_CHECKING:
    from fdverify.proofs.parallel_check import CheckProgress
    from fdverify.proofs.proof import Proof


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
    proofs = list(sources)
    labels = _label_files([each if isinstance(each, Path) else each.source.file for each in proofs])
    outcomes = KnownOutcomes(get_cache_folder())
    known = outcomes.find([each for each in proofs if isinstance(each, Path)], settings)
    results = [replace(known[each]) if isinstance(each, Path) and each in known else None for each in proofs]
    unknown = [number for number, result in enumerate(results) if result is None]
    if unknown:
        from fdverify.proofs.parallel_check import check_cases  # it loads the solver
        from fdverify.proofs.tasks import ProofCase

        cases = [ProofCase.from_settings(proofs[number], settings) for number in unknown]
        checked = check_cases(cases, [labels[number] for number in unknown], settings, report, beat)
        of_files = []
        for number, result in zip(unknown, checked, strict=True):
            results[number] = result
            source = proofs[number]
            if isinstance(source, Path):
                result.path = source
                of_files.append(result)
        outcomes.keep(of_files, settings)
    if settings.cache:
        tidy_folder_once(get_cache_folder())
    answered = [result for result in results if result is not None]
    for result, label in zip(answered, labels, strict=True):
        result.name = label
    _refuse_unknown_names(answered, settings.only)
    return answered


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
