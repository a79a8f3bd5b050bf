"""Run whole commands and measure them: what the pages in docs/ report."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

ROOT = Path(__file__).parents[1]
ANSWERED = (0, 1, 3)
"""The exit codes of commands that have answered: it holds, it does not, or it was given up."""


@dataclass(frozen=True)
class Cost:
    """What a process and its descendants took: wall and CPU time in seconds, the memory of the largest one in MB."""

    wall: float
    cpu: float
    memory: int


@dataclass(frozen=True)
class FinishedProcess:
    """How a process ended, what it printed to stdout, and what it took."""

    code: int
    printed: bytes
    cost: Cost


@dataclass(frozen=True)
class MeasuredCommand:
    """The least times and the largest memory of some runs of a command, and the document that it printed.

    ``before`` is what the same command took in another checkout, if it works there.
    """

    cost: Cost
    document: dict[str, Any]
    before: Cost | None = None


def run_process(program: Sequence[str | Path], folder: Path = ROOT, cache: Path | None = None) -> FinishedProcess:
    """Run a program to its end; a ``cache`` is the folder that it uses instead of the user's.

    The CPU time is user and system time of the process, and of all descendants for which their parents have waited.
    """
    environment = {**os.environ, **({} if cache is None else {"XDG_CACHE_HOME": str(cache)})}
    start = perf_counter()
    with subprocess.Popen(
        program, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    return FinishedProcess(
        process.returncode, printed, Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024)
    )


def choose_best(costs: Iterable[Cost]) -> Cost:
    """Choose the least times, each for itself, and the largest memory."""
    every = list(costs)
    return Cost(min(cost.wall for cost in every), min(cost.cpu for cost in every), max(cost.memory for cost in every))


def find_script(command: str, checkout: Path | None = None) -> Path:
    """Find a console script: beside the Python that runs this, or in the environment of another checkout."""
    return Path(sys.executable).with_name(command) if checkout is None else checkout / ".venv" / "bin" / command


def measure_command(
    command: str, arguments: Sequence[str], repeats: int, known: bool = False, beside: Path | None = None
) -> MeasuredCommand:
    """Measure a command that begins with an empty cache, or with what a run before has ``known``.

    If another checkout stands ``beside``, its command is run in turns with this one's.
    """
    json_wanted = [] if "--help" in arguments else ["--json"]
    checkouts: list[Path | None] = [None, *([] if beside is None else [beside])]
    runs: dict[Path | None, list[FinishedProcess]] = {checkout: [] for checkout in checkouts}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(repeats + 1 if known else repeats):
            for place, checkout in enumerate(checkouts):
                program: list[str | Path] = [find_script(command, checkout), *arguments, *json_wanted]
                cache = Path(folder, str(place), "shared" if known else str(number))
                runs[checkout].append(run_process(program, checkout or ROOT, cache))
    counted = {checkout: each[1:] if known else each for checkout, each in runs.items()}
    for run in counted[None]:
        if run.code not in ANSWERED:
            raise RuntimeError(f"{command} {' '.join(arguments)} failed: exit code {run.code}")
    return MeasuredCommand(
        choose_best(run.cost for run in counted[None]),
        json.loads(counted[None][-1].printed) if json_wanted else {},
        None
        if beside is None or any(run.code not in ANSWERED for run in counted[beside])
        else choose_best(run.cost for run in counted[beside]),
    )


def describe_document(document: dict[str, Any]) -> str:
    """Describe in a few words what a command has found."""
    if not document:
        return ""
    if "specifications" in document:
        return ", ".join(entry["verdict"] for entry in document["specifications"])
    if "panels" in document:
        return f"{sum(len(panel['cells']) for panel in document['panels'])} cells"
    if "formula" in document:
        return f"{document['status'].partition(',')[0]}, {document['explored']} instances explored"
    if "lemmas" in document:
        slowest = max(lemma["seconds"] for lemma in document["lemmas"])
        return f"{document['verdict']}, {len(document['lemmas'])} lemmas, the slowest {slowest:.2f} s"
    if "proofs" not in document:
        figures = [f"{name} {value}" for name, value in document.get("statistics", {}).items()]
        return ", ".join([document["verdict"], *figures])
    verdicts = sorted({str(proof["verdict"]) for proof in document["proofs"]})
    obligations = sum(len(proof["obligations"]) for proof in document["proofs"])
    return f"{', '.join(verdicts)}, {obligations} obligations"


def describe_machine() -> str:
    """Describe what the figures depend on: processor, cores, Python."""
    name = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        platform.processor(),
    )
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}"


def describe_commit(checkout: Path) -> str:
    """Describe which commit a checkout is at."""
    command = ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def describe_load() -> list[str]:
    """Say if others compute on this machine, too."""
    load = os.getloadavg()[0]
    if load <= 0.5:
        return []
    return [f"The machine was busy (load {load:.1f}): wall times mean little, CPU times are somewhat too long."]


def format_row(cells: Iterable[str]) -> str:
    """Format a row of a table in Markdown; an empty cell gets a dash."""
    return f"| {' | '.join(cell or '–' for cell in cells)} |"
