"""The outcomes of proofs that were proved before, reused while nothing that they depend on has changed.

A record is found by the file and by how it is checked: parameters, options, the package's own sources, and the versions
of Python and of the libraries.  It is valid if users' code would read the same again (:mod:`read_recorder`).
"""

from __future__ import annotations

import io
import json
import os
import pickle
import sys
import zlib
from base64 import b64decode, b64encode
from dataclasses import asdict, is_dataclass, replace
from enum import Enum
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import Any

from fdverify.cache.signed_records import SignedRecords
from fdverify.models.read_recorder import Reads
from fdverify.proofs.proof_result import CheckedObligation, ProofResult
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.smt.script import Assertion, Script
from fdverify.verdict import Verdict
from fdverify.workers.software import digest_package

_LIBRARIES = ("z3-solver", "numpy", "networkx")
_FORGOTTEN = Script("a script that is not kept", (), (), Assertion("true", ()))
"""Stands for a script that is not stored: it is satisfiable, so it proves nothing."""


class KnownOutcomes:
    """Outcomes of proved proofs in the cache folder."""

    def __init__(self, root: Path) -> None:
        self._records = SignedRecords(root / "checked")

    def find(self, path: Path, settings: ProofSettings) -> ProofResult | None:
        """Find the outcome of a proof file if it was proved before and nothing has changed since."""
        content = self._records.read(_compute_key(path, settings)) if _is_reusable(settings) else None
        if content is None:
            return None
        try:
            reads, result = json.loads(content)
            is_current = Reads(**{**reads, "missing": frozenset(reads["missing"])}).is_current()
            return replace(_restore_result(result), path=path) if is_current else None
        except Exception:  # another layout: what a pickle raises then can be anything
            return None

    def keep(self, result: ProofResult, settings: ProofSettings) -> None:
        """Store the outcome of a proof, if it was proved and can be told to be the same the next time."""
        reads, subject = result.reads, result.subject
        is_proved = result.error is None and result.verdict is Verdict.PROVED
        if subject is None or subject.meant_to_fail:
            return  # for a test, such a proof is a failure
        if not is_proved or reads is None or reads.unrepeatable is not None or not _is_reusable(settings):
            return
        parts = {**asdict(reads), "missing": sorted(reads.missing)}
        self._records.write(_compute_key(result.path, settings), json.dumps([parts, _store_result(result)]))


def _is_reusable(settings: ProofSettings) -> bool:
    """Tell whether a whole outcome answers what is asked: a selection is not a proof, and texts are to be written."""
    return settings.reuses_results and not settings.only and settings.smtlib is None


def _compute_key(path: Path, settings: ProofSettings) -> str:
    about = [
        digest_package(),
        sys.version,
        list(sys.flags),
        os.getcwd(),
        [version(library) for library in _LIBRARIES],
        [os.path.abspath(entry) for entry in sys.path],
        str(path.resolve()),
        sorted(settings.parameters.items()),
        sorted(settings.options.items()),
        settings.k,
    ]
    return sha256(json.dumps(about).encode()).hexdigest()


def _store_result(result: ProofResult) -> str:
    slim = replace(result, checked=[_forget_script(checked) for checked in result.checked], reads=None, seconds=0.0)
    return b64encode(zlib.compress(pickle.dumps(slim), 1)).decode()


def _forget_script(checked: CheckedObligation) -> CheckedObligation:
    question = replace(checked.question, script=_FORGOTTEN)
    return replace(checked, question=question, cached=True, seconds=0.0, kept=None)


def _restore_result(text: str) -> ProofResult:
    result = _DataUnpickler(io.BytesIO(zlib.decompress(b64decode(text)))).load()
    assert isinstance(result, ProofResult), "a record of this kind has a result"
    return result


class _DataUnpickler(pickle.Unpickler):
    """Restores plain data only: whoever can sign a record must not be able to run code by it."""

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name) if module.partition(".")[0] in ("fdverify", "pathlib") else None
        is_data = isinstance(found, type) and (is_dataclass(found) or issubclass(found, Enum | PurePath | tuple))
        if not is_data:
            raise pickle.UnpicklingError(f"{module}.{name} is not plain data")
        return found
