"""The obligations of a proof file, found in a worker process: to load a file may take for ever, or end the process."""

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
    """How an obligation may fail, and the obligations of which one must fail in the first of these ways."""

    verdicts: tuple[Verdict, ...]
    about: tuple[Outlined, ...]


@dataclass(frozen=True)
class FoundObligation:
    """An obligation, its line, and what is expected of it if it is about a claim that is meant to fail."""

    obligation: Outlined
    line: int
    expected: Expected | None


def find_obligations(path: Path, settings: Settings) -> list[FoundObligation]:
    """Load a proof file and list its obligations, within the time limit of one obligation."""
    limit = LOADING_SECONDS if settings.time_limit is None else settings.time_limit
    try:
        found = run_in_worker(partial(_find, path, settings), limit, _ignore)
    except TimeLimitReached:
        why = f"{nearby(path)}: still loading when it was given up after {limit:g} s"
        raise UsageError(why, "is there an endless loop?") from None
    except WorkerDied as death:
        raise UsageError(f"{nearby(path)}: it was not loaded: {death}") from None
    if found is None:
        raise NoProof(path)
    if isinstance(found, str):
        pytest.skip(found, allow_module_level=True)
    return found


def _ignore(event: Any) -> None:
    """Nothing is reported meanwhile."""


def _find(path: Path, settings: Settings, send: Any) -> list[FoundObligation] | str | None:
    """The obligations, or why the file asks pytest to skip it; ``None`` if there is no proof in it."""
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
        FoundObligation(each, proof.sources.get(each.about, proof.source).line, expected.get(each.name))
        for each in obligations
    ]


def _expected(proof: Proof, obligations: list[Outlined]) -> dict[str, Expected]:
    """What is expected of each obligation about a claim that is meant to fail."""
    found = {}
    for claim, verdict in proof.expected().items():
        about = tuple(each for each in obligations if _is_about(each, claim, proof.roles[claim]))
        found.update({each.name: Expected((verdict,), about) for each in about})
        if verdict is Verdict.VIOLATED and proof.roles[claim] == "invariant":
            # A run that breaks the goal is what is expected, so the goal does not follow from the other conjuncts.
            goal = [each for each in obligations if each.kind is Kind.GOAL]
            broken = Expected((verdict, Verdict.NOT_INDUCTIVE), about)
            found.update({each.name: broken for each in goal if each.name not in found})
    return found


def _is_about(obligation: Outlined, claim: str, role: str) -> bool:
    """Whether it shows something of this claim; a conjunct may have the name of the goal."""
    match role:
        case "assumption":
            return obligation.name == ASSUMPTIONS
        case "goal":
            return obligation.kind in (Kind.GOAL, Kind.VACUITY)
        case _:
            return obligation.kind in (Kind.INITIATION, Kind.CONSECUTION) and obligation.about == claim
