"""A folder with proofs and tests, and pytest run on it in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.in_process import call_command
from tests.launch import launch

OLDEST_PYTEST = Path(sys.prefix) / "oldest-pytest"
LONG_ENOUGH = 300.0
XDIST = (("-n", "2"), ())
"""With and without."""
_OUTCOME = re.compile(r"^(PASSED|FAILED|ERROR|XFAIL|XPASS) (\S+)", flags=re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """A test in the JUnit report."""

    outcome: str
    properties: Mapping[str, list[str]]
    text: str


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    error: str

    @property
    def outcomes(self) -> dict[str, str]:
        """By id; those of skipped tests are not told by pytest."""
        return {nodeid: outcome for outcome, nodeid in _OUTCOME.findall(self.out)}

    @property
    def passed(self) -> set[str]:
        return self._that("PASSED")

    @property
    def failed(self) -> set[str]:
        return self._that("FAILED")

    def _that(self, outcome: str) -> set[str]:
        return {nodeid for nodeid, found in self.outcomes.items() if found == outcome}

    def section(self, title: str) -> list[str]:
        """The lines below a title between = signs."""
        parts = re.split(r"^=+ (.+?) =+$", self.out, flags=re.MULTILINE)
        titled = dict(zip(parts[1::2], parts[2::2], strict=False))
        return [line for line in titled[title].splitlines() if line]


class Project:
    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self._monkeypatch = monkeypatch
        monkeypatch.chdir(folder)
        self.environment(XDG_CACHE_HOME=str(self.folder / ".cache"), FORCE_COLOR=None, CI=None)
        # Another plugin that is installed here; it takes longer to load than most of these runs.
        self.environment(PYTEST_ADDOPTS="-p no:hypothesispytest")

    def environment(self, **values: str | None) -> None:
        for name, value in values.items():
            if value is None:
                self._monkeypatch.delenv(name, raising=False)
            else:
                self._monkeypatch.setenv(name, value)

    def write(self, **texts: str) -> None:
        """Python files; ``__`` in a name is a slash."""
        for name, text in texts.items():
            path = self.folder / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)

    def pytest(self, *arguments: str) -> Ran:
        return self._launched("pytest", "-rA", *arguments)

    def ids(self, *arguments: str) -> list[str]:
        """What is collected, in order."""
        found = self._launched("pytest", "--collect-only", "-q", *arguments)
        assert found.code == 0, found.out + found.error
        return [line for line in found.out.splitlines() if "::" in line]

    def verify_invariant(self, *arguments: str) -> Ran:
        return _decode(call_command("verify-invariant", arguments, os.environ.copy(), self.folder))

    def run(self, *command: str) -> Ran:
        return _decode(subprocess.run(command, cwd=self.folder, capture_output=True, timeout=LONG_ENOUGH))

    def _launched(self, name: str, *arguments: str) -> Ran:
        return _decode(launch(name, arguments, os.environ, self.folder))


def _decode(done: subprocess.CompletedProcess[bytes]) -> Ran:
    out, error = (text.decode().removesuffix("\n") for text in (done.stdout, done.stderr))
    return Ran(done.returncode, out, error)


def junit(path: Path) -> dict[str, Case]:
    """The cases of a report by name."""
    cases = {}
    for case in ElementTree.parse(path).iter("testcase"):
        bad = [child for child in case if child.tag in ("failure", "error", "skipped")]
        properties: dict[str, list[str]] = {}
        for entry in case.iter("property"):
            properties.setdefault(entry.attrib["name"], []).append(entry.attrib["value"])
        assert case.attrib["name"] not in cases, "reported twice"
        text = (bad[0].text or "") if bad else ""
        cases[case.attrib["name"]] = Case(bad[0].tag if bad else "passed", properties, text)
    return cases
