"""Collects the obligations of a proof file in a worker process: loading may not terminate, or may end the process."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fdverify.engines.inductive import ASSUMPTIONS, Kind, Outlined, outline
from fdverify.errors import UsageError, nearby
from fdverify.proofs.course import LOADING_SECONDS, Settings
from fdverify.proofs.files import NoProof, load_proof
from fdverify.proofs.proof import Proof
from fdverify.smt.worker import TimeLimitReached, WorkerDied, run_in_worker
from fdverify.verdict import Verdict


@dataclass(frozen=True)
class Expected:
    """The verdicts an obligation may have; at least one obligation of ``about`` must have the first of them."""

    verdicts: tuple[Verdict, ...]
    about: tuple[Outlined, ...]


@dataclass(frozen=True)
class FoundObligation:
    """An obligation, its line, and the expected failure if its claim is meant to fail."""

    obligation: Outlined
    line: int
    expected: Expected | None


def find_obligations(path: Path, settings: Settings) -> list[FoundObligation]:
    """Load a proof file and list its obligations, within the time limit of one obligation."""
    limit = LOADING_SECONDS if settings.time_limit is None else settings.time_limit
    try:
        collected = run_in_worker(partial(_find, path, settings), limit, _ignore)
    except TimeLimitReached:
        message = f"{nearby(path)}: still loading when it was given up after {limit:g} s"
        raise UsageError(message, "is there an endless loop?") from None
    except WorkerDied as death:
        raise UsageError(f"{nearby(path)}: it was not loaded: {death}") from None
    if collected is None:
        raise NoProof(path)
    if isinstance(collected, str):
        pytest.skip(collected, allow_module_level=True)
    return collected


def _ignore(event: Any) -> None:
    """Ignore an event of the worker; loading reports no progress."""


def _find(path: Path, settings: Settings, send: Any) -> list[FoundObligation] | str | None:
    """Return the obligations, or the reason if the file asks pytest to skip it, or ``None`` if it has no proof."""
    try:
        proof, case = load_proof(path), settings.case(path)
    except NoProof:
        return None
    except UsageError as error:
        if isinstance(error.__cause__, pytest.skip.Exception):
            return str(error.__cause__.msg)
        raise
    with case.at_home():
        obligations = outline(case.invariant())
    expected = _expected(proof, obligations)
    return [
        FoundObligation(
            obligation, proof.sources.get(obligation.about, proof.source).line, expected.get(obligation.name)
        )
        for obligation in obligations
    ]


def _expected(proof: Proof, obligations: list[Outlined]) -> dict[str, Expected]:
    """Return the expected failure of each obligation whose claim is meant to fail."""
    failures = {}
    for claim, verdict in proof.expected().items():
        about = tuple(obligation for obligation in obligations if _is_about(obligation, claim, proof.roles[claim]))
        failures.update({obligation.name: Expected((verdict,), about) for obligation in about})
        if verdict is Verdict.VIOLATED and proof.roles[claim] == "invariant":
            # A run is expected to break the goal, so the goal does not follow from the other conjuncts.
            goals = [obligation.name for obligation in obligations if obligation.kind is Kind.GOAL]
            failure = Expected((verdict, Verdict.NOT_INDUCTIVE), about)
            failures.update({name: failure for name in goals if name not in failures})
    return failures


def _is_about(obligation: Outlined, claim: str, role: str) -> bool:
    """Tell whether an obligation is about this claim; a conjunct may have the same name as the goal."""
    match role:
        case "assumption":
            return obligation.name == ASSUMPTIONS
        case "goal":
            return obligation.kind in (Kind.GOAL, Kind.VACUITY)
        case _:
            return obligation.kind in (Kind.INITIATION, Kind.CONSECUTION) and obligation.about == claim
