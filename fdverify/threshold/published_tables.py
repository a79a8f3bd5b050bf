"""A comparison with published tables: broadcasts at the sizes that others checked, and algorithms for all sizes."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from fdverify.errors import UsageError
from fdverify.threshold.automaton import Automaton
from fdverify.threshold.check_specification import (
    SpecificationResult,
    ThresholdSettings,
    check,
    check_specifications,
)
from fdverify.threshold.fixed_parameters import fix_parameters
from fdverify.threshold.text.read import read_automaton
from fdverify.verdict import Verdict
from fdverify.workers.backends import WorkerSettings
from fdverify.workers.worker_process import run_in_worker

Report = Callable[[str], None]
_PUBLISHED = Path("dialog") / "published.csv"


@dataclass(frozen=True)
class PublishedRow:
    """A published verdict for fixed parameters, and its time in seconds."""

    algorithm: str
    parameters: str
    specification: str
    verdict: str
    seconds: str


@dataclass(frozen=True)
class ComparedRow:
    """A row of a published table, with the verdict of this tool."""

    row: PublishedRow
    verdict: str
    seconds: float

    WRITTEN = (
        "algorithm",
        "parameters",
        "specification",
        "published",
        "spin_seconds",
        "verdict",
        "seconds",
        "agrees",
    )

    @property
    def algorithm(self) -> str:
        return self.row.algorithm

    @property
    def parameters(self) -> str:
        return self.row.parameters

    @property
    def specification(self) -> str:
        return self.row.specification

    @property
    def published(self) -> str:
        return self.row.verdict

    @property
    def spin_seconds(self) -> str:
        return self.row.seconds

    @property
    def agrees(self) -> bool:
        """Whether the verdicts agree, or the published check ran out of memory."""
        return self.published in (self.verdict, "out-of-memory") and self.verdict != "unknown"

    @property
    def exit_code(self) -> int:
        if self.agrees:
            return 0
        return (Verdict.UNKNOWN if self.verdict == Verdict.UNKNOWN else Verdict.VIOLATED).exit_code


@dataclass(frozen=True)
class AlgorithmRow:
    """A specification of an automaton, for all parameters; without a verdict it is refused."""

    automaton: Automaton
    file: str
    checked: SpecificationResult

    WRITTEN = ("file", "locations", "rules", "guards", "specification", "verdict", "seconds")

    @property
    def locations(self) -> int:
        return len(self.automaton.locations)

    @property
    def rules(self) -> int:
        return len(self.automaton.rules)

    @property
    def guards(self) -> int:
        return len({rule.guard for rule in self.automaton.rules})

    @property
    def specification(self) -> str:
        return self.checked.name

    @property
    def verdict(self) -> Verdict | None:
        return self.checked.verdict

    @property
    def seconds(self) -> float:
        return self.checked.seconds


def compare_published_rows(folder: Path, report: Report) -> list[ComparedRow]:
    """Compare the published rows with ours, at the same parameters; ignore the resilience condition."""
    published = _read_published_rows(folder / _PUBLISHED)
    automata = {
        name: replace(read_automaton(folder / "dialog" / f"{name.lower()}.ta"), assumptions=())
        for name in dict.fromkeys(row.algorithm for row in published)
    }

    def compare_rows(send: Report) -> list[ComparedRow]:
        return [_compare_row(automata[row.algorithm], row, send) for row in published]

    return run_in_worker(compare_rows, None, report)


def _read_published_rows(path: Path) -> list[PublishedRow]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        return [
            PublishedRow(row["algorithm"], row["parameters"], row["spec"], row["verdict"], row["spin_seconds"])
            for row in rows
        ]
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", "name the folder examples/threshold") from error
    except (KeyError, ValueError) as error:
        raise UsageError(f"{path} is not a table of published verdicts") from error


def _compare_row(automaton: Automaton, row: PublishedRow, report: Report) -> ComparedRow:
    report(f"{row.algorithm} {row.parameters}")
    numbers = {name: int(number) for name, number in (part.split("=") for part in row.parameters.split())}
    (specification,) = (each for each in automaton.specifications if each.name == row.specification)
    checked = check(fix_parameters(automaton, numbers), specification, report=report)
    # A specification whose premise no run meets holds.
    words: dict[Verdict | None, str] = {Verdict.PROVED: "holds", Verdict.VACUOUS: "holds"}
    return ComparedRow(row, words.get(checked.verdict, checked.word), checked.seconds)


def check_algorithms(folder: Path, report: Report) -> Iterator[AlgorithmRow]:
    """Check every specification of every automaton in a folder, for all parameters."""
    for path in sorted(folder.glob("*.ta")):
        automaton = read_automaton(path)
        checks = check_specifications(
            automaton,
            automaton.specifications,
            ThresholdSettings(),
            report=report,
            workers=WorkerSettings(jobs=1),  # one at a time, because they are timed
        )
        for checked in checks:
            yield AlgorithmRow(automaton, path.name, checked)
