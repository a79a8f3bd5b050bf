"""Run whole commands and measure them: what the pages in docs/ report."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Measured:
    """The least wall time of some runs in seconds, the largest memory of a process in MB, and what was found."""

    wall: float
    memory: int
    verdict: str


def measured(command: str, arguments: list[str], repeats: int) -> Measured:
    times, memory, verdict = [], 0, ""
    for _ in range(repeats):
        json_wanted = [] if arguments == ["--help"] else ["--json"]
        program: list[str | Path] = [Path(sys.executable).with_name(command), *arguments, *json_wanted]
        start = perf_counter()
        with subprocess.Popen(program, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            assert process.stdout is not None
            printed = process.stdout.read()
            _, _, usage = os.wait4(process.pid, 0)
            process.returncode = 0
        times.append(perf_counter() - start)
        memory = max(memory, usage.ru_maxrss // 1024)
        if json_wanted:
            verdict = described(json.loads(printed))
    return Measured(min(times), memory, verdict)


def described(document: dict[str, Any]) -> str:
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
        figures = [f"{name} {value}" for name, value in document["statistics"].items()]
        return ", ".join([document["verdict"], *figures])
    verdicts = sorted({str(proof["verdict"]) for proof in document["proofs"]})
    obligations = sum(len(proof["obligations"]) for proof in document["proofs"])
    return f"{', '.join(verdicts)}, {obligations} obligations"


def machine() -> str:
    name = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        platform.processor(),
    )
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}"
