"""The plugin's options: globs in pytest's ini file, and flags on its command line."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fdverify import __version__
from fdverify.errors import UsageError, shorten_path

if TYPE_CHECKING:
    from fdverify.proofs.proof_settings import ProofSettings

INI_OPTION = "fdverify_files"
_DEFAULT_FILES = ("proof_*.py",)
_UNKNOWN = ("fail", "xfail")


class CollectDecision(Enum):
    """Whether pytest collects a file as a proof file."""

    NO = "it is not a proof file"
    PERHAPS = "it seems to make a proof; if it makes none, it is skipped"
    YES = "it is a proof file; if it makes no proof, that is an error"
    MISSES = "it was named and mentions proofs, but makes none; that is an error"


@dataclass(frozen=True)
class PluginOptions:
    """The plugin's options, checked."""

    files: tuple[str, ...]
    """The globs of the ini file; if there are none, proof files are recognised by name or by content."""
    unknown_is_xfail: bool
    time_limit: float | None
    seed: int
    cache: bool
    second_opinion: str | None
    tests: tuple[str, ...] = ()
    """The globs of pytest's own test files."""
    jobs: int = 1
    """The number of worker processes of a proof."""

    def decide_collection(self, path: Path, root: Path, named: bool = False) -> CollectDecision:
        """Decide whether to collect a file.  Helpers, whose names start with _, and conftest.py are no proof files.

        A file that is ``named`` on the command line and makes a proof is collected, whatever the globs say.
        """
        if path.suffix != ".py" or path.name.startswith("_") or path.name == "conftest.py":
            return CollectDecision.NO
        below = _make_relative(path, root)
        if matches_any_glob(below, self.files or _DEFAULT_FILES):
            return CollectDecision.YES
        # A test file may make proofs of its own, to test them.
        if matches_any_glob(below, self.tests) or (self.files and not named):
            return CollectDecision.NO
        from fdverify.models.proof_scan import has_proof, has_tests, mentions_package

        if has_proof(path):
            return CollectDecision.YES if named else CollectDecision.PERHAPS
        # A named file that mentions proofs is probably meant to be a proof file.
        return (
            CollectDecision.MISSES if named and mentions_package(path) and not has_tests(path) else CollectDecision.NO
        )

    def find_unmatched_globs(self, root: Path) -> list[str]:
        """Return the globs of the ini file that match no file: the files they were meant for would go unchecked."""
        unmatched = list(self.files)
        if not unmatched:
            return []
        from fdverify.models.python_files import list_python_files, walk_folders

        for folder in walk_folders(root):
            for path in list_python_files(folder):
                unmatched = [glob for glob in unmatched if not matches_any_glob(_make_relative(path, root), [glob])]
            if not unmatched:
                break
        return [glob for glob in unmatched if not any(root.glob(glob))]

    def build_settings(self) -> ProofSettings:
        from fdverify.proofs.proof_settings import ProofSettings

        return ProofSettings(
            time_limit=self.time_limit,
            seed=self.seed,
            cache=self.cache,
            second_opinion=self.second_opinion,
            jobs=self.jobs,
        )

    def format_header(self) -> str:
        """Format all options in one line, so that a log records under which options a proof passed."""
        return ", ".join(
            (
                f"fdverify {__version__}: {' '.join(self.files or (*_DEFAULT_FILES, 'and files that make a proof'))}",
                f"unknown is {'xfail' if self.unknown_is_xfail else 'a failure'}",
                "no time limit" if self.time_limit is None else f"time limit {self.time_limit:g} s",
                f"seed {self.seed}",
                "cache" if self.cache else "no cache",
                f"second opinion {self.second_opinion}" if self.second_opinion else "no second opinion",
            )
        )

    def format_proof_command(self, path: Path, only: str | None) -> str:
        """Format the command that checks a proof, or one of its obligations, under the same options."""
        selection = [] if only is None else ["--only", only]
        return shlex.join(["verify-invariant", str(shorten_path(path)), *selection, *self._list_flags("--")])

    def format_test_command(self, nodeid: str) -> str:
        """Format the command that runs a test under the same options."""
        return shlex.join(["pytest", nodeid, *self._list_flags("--fdverify-")])

    def _list_flags(self, prefix: str) -> list[str]:
        flags = [] if self.time_limit is None else [f"{prefix}time-limit", f"{self.time_limit:g}"]
        flags += [] if self.seed == 0 else [f"{prefix}seed", str(self.seed)]
        flags += [] if self.cache else [f"{prefix}no-cache"]
        flags += [] if self.second_opinion is None else [f"{prefix}second-opinion", self.second_opinion]
        return flags


def _make_relative(path: Path, root: Path) -> Path:
    return "/" / path.relative_to(root) if path.is_relative_to(root) else path


OPTIONS_KEY = pytest.StashKey[PluginOptions]()


def matches_any_glob(path: Path, globs: Iterable[str]) -> bool:
    """Match a path as pytest matches its own files: a glob with a slash against the path, others against the name."""
    return any(
        fnmatchcase(path.as_posix(), glob if glob.startswith("/") else f"*/{glob}")
        if "/" in glob
        else fnmatchcase(path.name, glob)
        for glob in globs
    )


def add_options(parser: pytest.Parser) -> None:
    description = "globs of proof files; default: proof_*.py and files that make a proof"
    parser.addini(INI_OPTION, description, type="args", default=[])
    group = parser.getgroup("fdverify", "proofs (fdverify)")
    # Values are taken as text and checked below: a bad value then gets one line instead of pytest's usage message.
    group.addoption(
        "--fdverify-unknown",
        metavar="fail|xfail",
        default="fail",
        help="how to report an unknown verdict; default: fail",
    )
    group.addoption(
        "--fdverify-time-limit",
        metavar="SECONDS",
        help="time limit for each obligation; what is undecided by then is unknown",
    )
    group.addoption("--fdverify-seed", metavar="N", default="0", help="the solver's seed; default: 0")
    group.addoption("--fdverify-no-cache", action="store_true", help="do not reuse what was proved before")
    group.addoption(
        "--fdverify-second-opinion",
        metavar="SOLVER",
        help="decide every obligation with a second solver, too, such as cvc5",
    )


def read_options(config: pytest.Config) -> PluginOptions:
    return PluginOptions(
        files=_read_globs(config.getini(INI_OPTION)),
        unknown_is_xfail=_parse_choice("--fdverify-unknown", config.getoption("--fdverify-unknown")) == "xfail",
        time_limit=_parse_seconds("--fdverify-time-limit", config.getoption("--fdverify-time-limit")),
        seed=_parse_seed("--fdverify-seed", config.getoption("--fdverify-seed")),
        cache=not config.getoption("--fdverify-no-cache"),
        second_opinion=_parse_solver("--fdverify-second-opinion", config.getoption("--fdverify-second-opinion")),
        tests=tuple(config.getini("python_files")),
        # Under pytest-xdist, other workers use the other cores.
        jobs=1 if hasattr(config, "workerinput") else len(os.sched_getaffinity(0)),
    )


def check_globs(config: pytest.Config) -> None:
    """Refuse a glob that matches nothing."""
    unmatched = config.stash[OPTIONS_KEY].find_unmatched_globs(config.rootpath)
    if unmatched:
        raise pytest.UsageError(f"{INI_OPTION}: {unmatched[0]!r} matches no file below {config.rootpath}")


def _read_globs(globs: list[str]) -> tuple[str, ...]:
    for glob in globs:
        problem = _find_glob_problem(glob)
        if problem is not None:
            raise pytest.UsageError(f"{INI_OPTION}: {glob!r} {problem}")
    return tuple(globs)


def _find_glob_problem(glob: str) -> str | None:
    """Return why a glob can match no proof file or is misleading; ``None`` if it is fine."""
    if not glob.endswith(".py"):
        return "does not end in .py, and proofs are .py files"
    if glob.startswith(("/", "./", "../")) or "/../" in glob or "\\" in glob:
        return "is not a path below the root folder with / between its parts"
    if "**" in glob:
        return "has **, but * matches across folders already"
    if glob.count("[") != glob.count("]"):
        return "has a [ without a ]" if glob.count("[") > glob.count("]") else "has a ] without a ["
    return None


def _parse_choice(flag: str, text: str) -> str:
    if text not in _UNKNOWN:
        raise pytest.UsageError(f"{flag} must be {' or '.join(_UNKNOWN)}, got {text!r}")
    return text


def _parse_seconds(flag: str, text: str | None) -> float | None:
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise pytest.UsageError(f"{flag} must be a positive number of seconds, got {text!r}")
    return seconds


def _parse_seed(flag: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and int(text) < 1 << 32):
        raise pytest.UsageError(f"{flag} must be a number from 0 to {(1 << 32) - 1}, got {text!r}")
    return int(text)


def _parse_solver(flag: str, name: str | None) -> str | None:
    if name is not None:
        from fdverify.smt.second_opinion import check_solver_available

        try:
            check_solver_available(name)
        except UsageError as error:
            raise pytest.UsageError(f"{flag}: {error}") from None
    return name
