"""``verify-invariant --watch``: check proofs again whenever a file that they depend on is saved, until Ctrl-C."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic, perf_counter, sleep

from rich.console import Console

from fdverify.cli.output import ProgressLine, print_answer
from fdverify.cli.streams import reserve_stdout
from fdverify.deadline import lift_deadline
from fdverify.errors import FdverifyError, UsageError, shorten_path
from fdverify.models.python_files import walk_folders
from fdverify.printable import make_printable
from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.file_watch import FileDigester, is_affected, is_redirected
from fdverify.proofs.parallel_check import CheckProgress
from fdverify.proofs.proof_files import NoProofInFile, find_proof_files
from fdverify.proofs.proof_result import ProofResult
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.proofs.report import ProofsReport
from fdverify.proofs.tasks import import_worker_modules
from fdverify.reports.safe_text import Text
from fdverify.reports.step_table import render_text

_EVERY_SECONDS = 0.1
_SETTLES_SECONDS = 0.05
_FOLDERS_SECONDS = 1.0


class _FileSaved(Exception):
    """A file was saved during a check."""


def watch_proofs(paths: Sequence[Path], settings: ProofSettings, witness: bool, progress: ProgressLine) -> None:
    """Check, then wait for a change, for ever; raise an error if the paths are wrong at the beginning."""
    find_proof_files(paths)
    lift_deadline()  # the limit is for each check
    import_worker_modules(compares=True)
    watching = _ProofWatch(paths, settings, witness, progress)
    watching.check()
    while True:
        watching.wait()
        watching.check()


class _ProofWatch:
    def __init__(self, paths: Sequence[Path], settings: ProofSettings, witness: bool, progress: ProgressLine) -> None:
        self._progress = progress
        self._paths = paths
        self._settings = settings
        self._witness = witness
        self._disk = FileDigester()
        self._results: dict[Path, ProofResult] = {}
        """The known results, by proof file."""
        self._read: dict[Path, frozenset[Path]] = {}
        """The files that each proof read when it was last loaded."""
        self._optional: frozenset[Path] = frozenset()
        """Files in folders, which need not contain a proof."""
        self._below: set[Path] = set()
        self._folders_until = 0.0
        self._seen = self._read_disk()
        self._has_shown = False

    def check(self) -> None:
        """Check the proofs without a known result and show all results; start again if a file is saved meanwhile."""
        while True:
            try:
                self._check_once()
            except _FileSaved:
                self._take_changes(self._wait_until_settled())
                continue
            except UsageError as error:
                if not self._has_shown:
                    raise
                self._show_error(error)
            return

    def wait(self) -> None:
        """Wait for a change, and discard the results that it affects."""
        while self._read_disk() == self._seen and not any(map(is_redirected, self._results.values())):
            sleep(_EVERY_SECONDS)
        self._take_changes(self._wait_until_settled())

    def _check_once(self) -> None:
        selection = find_proof_files(self._paths)
        files, self._optional = selection.files, selection.get_optional_files()
        gone = [path for path in self._read if path not in files]
        for path in gone:
            self._results.pop(path, None)
            del self._read[path]
        unknown = [path for path in files if path not in self._results]
        start, results = perf_counter(), list[ProofResult]()
        try:
            if unknown:
                results = check_proofs(unknown, self._settings, self._show_stage, self._raise_if_saved)
        finally:
            self._progress.close()
        for path, result in zip(unknown, results, strict=True):
            self._results[path] = result
            # A proof that failed to load may not have read all its files.
            has_loaded = result.error is None and result.lost is None
            failed = frozenset() if has_loaded else self._read.get(path, frozenset())
            self._read[path] = frozenset(result.files) | failed
        self._note_what_was_run(results)
        self._show_results(files, results, gone, perf_counter() - start)

    def _note_what_was_run(self, results: Sequence[ProofResult]) -> None:
        """Record the state of the disk: newly known folders as they are now, files as they were when they were run."""
        folders, files = self._list_scope()
        before = {path: each for path, each in self._seen.items() if path.parent in folders or path in files}
        self._seen = {**self._read_disk(), **before}
        for result in results:
            self._seen.update(result.files)

    def _show_stage(self, stage: CheckProgress) -> None:
        self._progress.show(str(stage))

    def _raise_if_saved(self) -> None:
        if self._read_disk() != self._seen:
            raise _FileSaved

    def _read_disk(self) -> dict[Path, str]:
        return self._disk.digest_files(*self._list_scope())

    def _list_scope(self) -> tuple[set[Path], set[Path]]:
        """List the folders and the files to watch."""
        files = {file for read in self._read.values() for file in read}
        named = {path.parent for path in (path.resolve() for path in self._paths) if not path.is_dir()}
        return named | self._list_folders() | {file.parent for file in files}, files

    def _list_folders(self) -> set[Path]:
        """List the named folders and those below them; there may be many, so the list is renewed only now and then."""
        now = monotonic()
        if now >= self._folders_until:
            tops = [path for path in (path.resolve() for path in self._paths) if path.is_dir()]
            self._below = {folder for top in tops for folder in walk_folders(top)}
            self._folders_until = now + _FOLDERS_SECONDS
        return self._below

    def _wait_until_settled(self) -> dict[Path, str]:
        """Wait until the disk does not change for a moment, because a file may be half saved; return its state."""
        now = self._read_disk()
        while True:
            sleep(_SETTLES_SECONDS)
            before, now = now, self._read_disk()
            if now == before:
                return now

    def _take_changes(self, now: dict[Path, str]) -> None:
        everything = bool(self._settings.only)  # the names in --only may be in any of them
        kept = {
            path: result
            for path, result in self._results.items()
            if not everything and not is_affected(result, self._seen, now)
        }
        self._results, self._seen = kept, now

    def _show_results(
        self, files: Sequence[Path], checked: Sequence[ProofResult], gone: Sequence[Path], seconds: float
    ) -> None:
        self._has_shown = True
        if not sys.stdout.isatty():
            shown = [result for result in checked if self._has_proof(result)]
            lines = [
                *(f"{shorten_path(path)}: gone" for path in gone),
                *(_describe_in_line(result) for result in shown),
            ]
            print_answer("".join(f"{make_printable(line)}\n" for line in lines))
            return
        results = [result for result in (self._results[path] for path in files) if self._has_proof(result)]
        errors = "".join(f"error: {result.error}\n" for result in results if result.error is not None)
        self._redraw_screen(errors + render_text(ProofsReport(results, seconds, self._witness).render))

    def _has_proof(self, result: ProofResult) -> bool:
        return not (result.path in self._optional and isinstance(result.error, NoProofInFile))

    def _show_error(self, error: FdverifyError) -> None:
        if sys.stdout.isatty():
            self._redraw_screen(f"error: {error}\n")
        else:
            print_answer(f"error: {error}\n")

    def _redraw_screen(self, text: str) -> None:
        with reserve_stdout(False):
            Console().clear()
        print_answer(text + render_text(lambda console: console.print(Text("watching; Ctrl-C ends", style="dim"))))


def _describe_in_line(result: ProofResult) -> str:
    if result.error is not None:
        return f"error: {result.error}"
    decided = [checked.question.name for checked in result.checked if not checked.cached]
    cached = len(result.checked) - len(decided)
    what = f"; decided {', '.join(decided)}" if decided else ""
    return f"{shorten_path(result.path)}: {result.verdict}: {result.detail}; {cached} from the cache{what}"
