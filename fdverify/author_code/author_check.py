"""The check of an author's functions: their source is read, and their results are compared on concrete states."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import fdverify
from fdverify.author_code.author_functions import AuthorCall, list_system_functions
from fdverify.author_code.ownership import is_package_function
from fdverify.cache.signed_records import SignedRecords
from fdverify.models.planned_runs import GrowingLoop, WorstRun
from fdverify.models.read_recorder import UNKNOWN_CONTENT, Reads
from fdverify.models.system import Property, System


@dataclass(frozen=True)
class AuthorCodeReport:
    """The outcome of a check that all of an author's functions passed."""

    sampled_only: tuple[str, ...] = ()
    """Functions that were only sampled, because not all of their source can be read."""

    def format_notes(self) -> tuple[str, ...]:
        if not self.sampled_only:
            return ()
        *others, last = self.sampled_only
        if not others:
            return (f"{last} has no source to read: it was compared on sampled states only",)
        return (f"{', '.join(others)} and {last} have no source to read: they were compared on sampled states only",)


def check_author_code(system: System, claims: Sequence[AuthorCall]) -> AuthorCodeReport:
    """Refuse a system or a claim whose meaning differs between engines."""
    functions = dict.fromkeys((*list_system_functions(system), *(claim.author for claim in claims)))
    theirs = [each for each in functions if not is_package_function(each.function)]
    if not theirs:
        return AuthorCodeReport()  # what this package ships is compared by its tests
    # These take long to import, and most commands check only what this package ships.
    from fdverify.author_code.source.source_reader import check_sources
    from fdverify.author_code.system_comparison import compare_on_states

    unread = check_sources(theirs)
    compare_on_states(system, claims)
    return AuthorCodeReport(tuple(str(each) for each in unread))


def build_claim_calls(role: str, claims: Iterable[Property]) -> list[AuthorCall]:
    return [AuthorCall.from_state_function(role, claim.name, claim.holds) for claim in claims]


def build_plan_calls(system: System) -> list[AuthorCall]:
    """Build calls of the functions that a system declares about runs that break a claim."""
    calls: list[AuthorCall] = []
    plans: tuple[GrowingLoop | WorstRun, ...] = (*system.growing, *system.worst)
    for plan in plans:
        parts = ("within", "left", "plan", *(("starts",) if isinstance(plan, GrowingLoop) else ()))
        whose = f"of the run that breaks {plan.breaks}"
        calls += [AuthorCall.from_state_function(f"the {part}", whose, getattr(plan, part)) for part in parts]
    return calls


class PassedChecks:
    """A cache of passed checks, keyed by what they rest on; each entry is a file in the cache folder."""

    def __init__(self, root: Path) -> None:
        self._entries = SignedRecords(root / "passed")

    def find(self, key: str) -> AuthorCodeReport | None:
        content = self._entries.read(key)
        return None if content is None else AuthorCodeReport(tuple(json.loads(content)))

    def keep(self, key: str, report: AuthorCodeReport) -> None:
        self._entries.write(key, json.dumps(list(report.sampled_only)))


def compute_check_key(system: System, claims: Sequence[AuthorCall], reads: Reads) -> str | None:
    """Hash what a check rests on: what was read, and the claims; ``None`` if that need not be the same again."""
    if not reads.files or reads.unrepeatable is not None or UNKNOWN_CONTENT in reads.files.values():
        return None
    parts = [
        fdverify.__version__,
        *(repr(sorted(each.items())) for each in (reads.files, reads.statuses, reads.variables)),
        repr((system.name, sorted(system.options.items()), sorted(system.describe_parameters().items()))),
        repr([(each.author.role, each.author.name) for each in claims]),
    ]
    return sha256("\n".join(parts).encode()).hexdigest()
