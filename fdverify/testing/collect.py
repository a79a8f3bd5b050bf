"""Collects the obligations of a proof file in a worker process: loading may not terminate, or may end the process."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fdverify.cache.cache_folder import get_cache_folder
from fdverify.errors import SourceLocation, UsageError
from fdverify.obligations.inductive import outline_obligations
from fdverify.obligations.obligation import ASSUMPTIONS, VACUITY, ObligationKind, ObligationOutline
from fdverify.proofs.known_outcomes import KnownOutcomes
from fdverify.proofs.proof import Proof
from fdverify.proofs.proof_files import NoProofInFile
from fdverify.proofs.proof_result import ProofResult
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.proofs.schedule import LOADING_SECONDS
from fdverify.proofs.tasks import ProofCase
from fdverify.verdict import Verdict
from fdverify.workers.worker_process import TimeLimitReached, WorkerDied, run_in_worker


@dataclass(frozen=True)
class ExpectedFailure:
    """The verdicts an obligation may have; at least one obligation of ``about`` must have the first of them."""

    verdicts: tuple[Verdict, ...]
    about: tuple[ObligationOutline, ...]


@dataclass(frozen=True)
class CollectedObligation:
    """An obligation, its line, and the expected failure if its claim is meant to fail."""

    obligation: ObligationOutline
    line: int
    expected: ExpectedFailure | None


def collect_obligations(path: Path, settings: ProofSettings) -> list[CollectedObligation]:
    """List the obligations of a proof file; unless they are known, load it, within the time limit of one obligation."""
    known = KnownOutcomes(get_cache_folder()).find([path], settings).get(path)
    if known is not None:
        return _list_known_obligations(known)
    limit = LOADING_SECONDS if settings.time_limit is None else settings.time_limit
    try:
        collected = run_in_worker(partial(_collect_in_worker, path, settings), limit, _ignore_event)
    except TimeLimitReached:
        message = f"still loading when it was given up after {limit:g} s"
        raise UsageError(message, "is there an endless loop?", SourceLocation(path)) from None
    except WorkerDied as death:
        raise UsageError(f"it was not loaded: {death}", place=SourceLocation(path)) from None
    if collected is None:
        raise NoProofInFile(path)
    if isinstance(collected, str):
        pytest.skip(collected, allow_module_level=True)
    return collected


def _list_known_obligations(known: ProofResult) -> list[CollectedObligation]:
    """List the obligations of a proof that was proved, and none of whose claims is meant to fail."""
    subject = known.subject
    assert subject is not None, "a proved proof was prepared"
    outlines = [
        *(ObligationOutline(each.question.name, each.question.kind, each.question.about) for each in known.checked),
        *(ObligationOutline(name, ObligationKind.VACUITY, subject.goal) for name in VACUITY),
    ]
    lines = {each.name: subject.sources.get(each.about, subject.begins).line or 1 for each in outlines}
    return [CollectedObligation(each, lines[each.name], None) for each in outlines]


def _ignore_event(event: Any) -> None:
    """Ignore an event of the worker; loading reports no progress."""


def _collect_in_worker(path: Path, settings: ProofSettings, send: Any) -> list[CollectedObligation] | str | None:
    """Return the obligations, or the reason if the file asks pytest to skip it, or ``None`` if it has no proof."""
    try:
        loaded = ProofCase.from_settings(path, settings).load()
        proof = loaded.proof
    except NoProofInFile:
        return None
    except UsageError as error:
        if isinstance(error.__cause__, pytest.skip.Exception):
            return str(error.__cause__.msg)
        raise
    with loaded.enter_author_context():
        obligations = outline_obligations(loaded.invariant)
    expected = _find_expected_failures(proof, obligations)
    return [
        CollectedObligation(
            obligation, proof.sources.get(obligation.about, proof.source).line or 1, expected.get(obligation.name)
        )
        for obligation in obligations
    ]


def _find_expected_failures(proof: Proof, obligations: list[ObligationOutline]) -> dict[str, ExpectedFailure]:
    """Return the expected failure of each obligation whose claim is meant to fail."""
    failures = {}
    for claim, verdict in proof.get_expected_verdicts().items():
        about = tuple(obligation for obligation in obligations if _is_about(obligation, claim, proof.roles[claim]))
        failures.update({obligation.name: ExpectedFailure((verdict,), about) for obligation in about})
        if verdict is Verdict.VIOLATED and proof.roles[claim] == "invariant":
            # A run is expected to break the goal, so the goal does not follow from the other conjuncts.
            goals = [obligation.name for obligation in obligations if obligation.kind is ObligationKind.GOAL]
            failure = ExpectedFailure((verdict, Verdict.NOT_INDUCTIVE), about)
            failures.update({name: failure for name in goals if name not in failures})
    return failures


def _is_about(obligation: ObligationOutline, claim: str, role: str) -> bool:
    """Tell whether an obligation is about this claim; a conjunct may have the same name as the goal."""
    match role:
        case "assumption":
            return obligation.name == ASSUMPTIONS
        case "goal":
            return obligation.kind in (ObligationKind.GOAL, ObligationKind.VACUITY)
        case _:
            return (
                obligation.kind in (ObligationKind.INITIATION, ObligationKind.CONSECUTION) and obligation.about == claim
            )
