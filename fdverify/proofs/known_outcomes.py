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
import warnings
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable
from dataclasses import asdict, is_dataclass, replace
from enum import Enum
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import Any

from fdverify.cache.signed_records import SignedRecords
from fdverify.models.read_recorder import Disk, Reads
from fdverify.proofs.proof_result import CheckedObligation, ProofResult
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.smt.script import Assertion, Script
from fdverify.verdict import Verdict
from fdverify.workers.software import digest_package, digest_running_package

_PYTHONS_VARIABLES = ("PYTHON", "LANG", "LC_", "TZ")
_LIBRARIES = ("z3-solver", "numpy", "networkx")
_FORGOTTEN = Script("a script that is not kept", (), (), Assertion("true", ()))
"""Stands for a script that is not stored: it is satisfiable, so it proves nothing."""


class KnownOutcomes:
    """Outcomes of proved proofs in the cache folder."""

    def __init__(self, root: Path) -> None:
        self._records = SignedRecords(root / "checked")
        self._keys: dict[Path, str] = {}
        """The keys under which the files were looked up."""

    def find(self, paths: Iterable[Path], settings: ProofSettings) -> dict[Path, ProofResult]:
        """Find the outcomes of the proof files that were proved before and for which nothing has changed since."""
        keys, disk = _compute_keys(paths, settings), Disk()
        self._keys.update(keys)
        found = {path: self._find_outcome(path, key, disk) for path, key in keys.items()}
        return {path: result for path, result in found.items() if result is not None}

    def _find_outcome(self, path: Path, key: str, disk: Disk) -> ProofResult | None:
        content = self._records.read(key)
        if content is None:
            return None
        try:
            reads, result = json.loads(content)
            is_current = Reads(**{**reads, "missing": frozenset(reads["missing"])}).is_current(disk)
            return replace(_restore_result(result), path=path) if is_current else None
        except Exception:  # another layout: what a pickle raises then can be anything
            return None

    def keep(self, results: Iterable[ProofResult], settings: ProofSettings) -> None:
        """Store the outcomes of proofs that were looked up, if they were proved and would be the same the next time.

        Nothing that they depend on may have changed meanwhile: a file may have had another content when it was read.
        """
        lasting = [result for result in results if _may_be_kept(result)]
        keys = _compute_keys([result.path for result in lasting], settings)
        same = [result for result in lasting if keys.get(result.path, "") == self._keys.get(result.path)]
        if not same or digest_package() != digest_running_package():
            return
        disk = Disk()
        for result in same:
            reads = result.reads
            if reads is not None and reads.is_current(disk):
                parts = {**asdict(reads), "missing": sorted(reads.missing)}
                self._records.write(keys[result.path], json.dumps([parts, _store_result(result)]))


def _may_be_kept(result: ProofResult) -> bool:
    """Tell whether a result is a proof that was checked now, and whose author meant nothing in it to fail.

    For a test, a claim that is meant to fail is a failure.
    """
    subject, reads = result.subject, result.reads
    is_proved = result.error is None and result.verdict is Verdict.PROVED
    is_repeatable = reads is not None and reads.unrepeatable is None
    return is_proved and is_repeatable and subject is not None and not subject.meant_to_fail


def _is_reusable(settings: ProofSettings) -> bool:
    """Tell whether a whole outcome answers what is asked: a selection is not a proof, and texts are to be written."""
    # A worker of a cluster need not have the variables and options of Python that a record names.
    is_checked_here = settings.knows_outcomes and settings.cluster is None
    return settings.reuses_results and is_checked_here and not settings.only and settings.smtlib is None


def _compute_keys(paths: Iterable[Path], settings: ProofSettings) -> dict[Path, str]:
    """Compute the keys of the outcomes of proof files; there are none if no outcome answers what is asked."""
    checked = list(paths)
    if not checked or not _is_reusable(settings):
        return {}
    try:
        process = _describe_process()
        checks = {path: [process, _describe_check(path, settings)] for path in checked}
    except OSError:  # the working directory is gone
        return {}
    return {path: sha256(json.dumps(check).encode()).hexdigest() for path, check in checks.items()}


def _describe_process() -> list[Any]:
    return [
        digest_running_package(),
        sys.version,
        list(sys.flags),
        sorted(sys._xoptions.items()),
        _list_variables_of_python(),
        _list_strict_filters(),
        "pytest" in sys.modules,  # a conftest.py may have changed what a proof imports
        os.getcwd(),
        [version(library) for library in _LIBRARIES],
        [os.path.abspath(entry) for entry in sys.path],
    ]


def _describe_check(path: Path, settings: ProofSettings) -> list[Any]:
    return [
        str(path.resolve()),
        os.path.abspath(path),  # where the proof looks for its data, if the file is a link
        sorted(settings.parameters.items()),
        sorted(settings.options.items()),
        settings.k,
    ]


def _list_variables_of_python() -> list[tuple[str, str]]:
    """List the environment variables that Python and the C library read by themselves."""
    return sorted((name, value) for name, value in os.environ.items() if name.startswith(_PYTHONS_VARIABLES))


def _list_strict_filters() -> list[str]:
    """List the filters of warnings if some warnings are errors; otherwise the filters make no difference."""
    return [str(each) for each in warnings.filters] if any(each[0] == "error" for each in warnings.filters) else []


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
