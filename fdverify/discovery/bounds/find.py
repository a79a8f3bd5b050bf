"""All that is asked for under one name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fdverify.discovery.bounds.accuracy import accuracy
from fdverify.discovery.bounds.bound import Bound
from fdverify.discovery.bounds.compared import compare_functions
from fdverify.discovery.bounds.counted import counted
from fdverify.discovery.bounds.detection import detection
from fdverify.discovery.bounds.survey import OutOfTime
from fdverify.discovery.bounds.suspicions import suspicions
from fdverify.job import Job
from fdverify.proofs.proof import Proof
from fdverify.verdict import Verdict


@dataclass(frozen=True)
class Found:
    """Bounds, the one that was asked for first; or why there is none."""

    bounds: tuple[Bound, ...]
    why: str = ""
    notes: tuple[str, ...] = ()
    """What else was measured, and is claimed of nothing more."""

    @property
    def exit_code(self) -> int:
        proved = bool(self.bounds) and all(bound.status != "lower bound" for bound in self.bounds)
        return Verdict.PROVED.exit_code if proved else Verdict.UNKNOWN.exit_code


def find(about: str, job: Job, by: Proof | None, deadline: float | None, report: Callable[[str], None]) -> Found:
    """The bound of that name and what goes with it."""
    try:
        compare_functions(job, deadline)
        bound = {"accuracy": accuracy, "detection": detection}[about](job, by, deadline, report)
        if bound is None:
            return Found((), "no formula fits what was measured: sums of the parameters, rounded, or by residues")
        others = suspicions(job, deadline, report) if about == "detection" else []
        notes = counted(job, deadline, report) if about == "detection" and not others else ()
    except OutOfTime:
        return Found((), "the time limit was reached")
    return Found((bound, *others), notes=notes)
