"""All that is asked for under one name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fdverify.discovery.bounds.accuracy import accuracy
from fdverify.discovery.bounds.bound import Bound
from fdverify.discovery.bounds.compared import compare_functions
from fdverify.discovery.bounds.counted import counted
from fdverify.discovery.bounds.detection import detection
from fdverify.discovery.bounds.instance import NoBound
from fdverify.discovery.bounds.subject import Subject, subject_of
from fdverify.discovery.bounds.survey import OutOfTime
from fdverify.discovery.bounds.suspicions import suspicions
from fdverify.errors import UsageError
from fdverify.model_check.check_request import CheckRequest
from fdverify.proofs.proof import Proof
from fdverify.traces.steps import ShownRun
from fdverify.verdict import Verdict

OUT_OF_TIME = "the time limit was reached"


@dataclass(frozen=True)
class BoundSearch:
    """What came of looking for bounds: the one that was asked for first; or why there is none."""

    about: Subject
    bounds: tuple[Bound, ...] = ()
    why: str = ""
    notes: tuple[str, ...] = ()
    """What else was measured, and is claimed of nothing more."""
    verdict: Verdict = Verdict.UNKNOWN
    """Of what was asked, where there is no bound."""
    run: ShownRun | None = None
    """What shows why there is none."""

    @property
    def exit_code(self) -> int:
        proved = bool(self.bounds) and all(bound.proved for bound in self.bounds)
        return Verdict.PROVED.exit_code if proved else self.verdict.exit_code


def find(
    about: str, job: CheckRequest, by: Proof | None, deadline: float | None, report: Callable[[str], None]
) -> BoundSearch:
    """The bound of that name and what goes with it."""
    subject = subject_of(job)
    if not job.find_model().parameters:
        raise UsageError(f"{subject.model} has no parameters to find a formula in", f"leave out the word {about}")
    try:
        compared = compare_functions(job)
        bound = {"accuracy": accuracy, "detection": detection}[about](job, by, deadline, report)
        if bound is None:
            why = "no formula fits what was measured: sums of the parameters, rounded, or by residues"
            return BoundSearch(subject, why=why)
        others = suspicions(job, deadline, report) if about == "detection" else []
        notes = _counted(job, deadline, report) if about == "detection" and not others else ()
    except OutOfTime:
        return BoundSearch(subject, why=OUT_OF_TIME)
    except NoBound as none:
        return BoundSearch(subject, why=str(none), verdict=none.verdict, run=none.run)
    return BoundSearch(subject, (bound, *others), notes=(*compared, *notes))


def _counted(job: CheckRequest, deadline: float | None, report: Callable[[str], None]) -> tuple[str, ...]:
    """What was counted beside the bound, or why it could not be."""
    try:
        return counted(job, deadline, report)
    except NoBound as none:
        return (f"wrong suspicions: not counted: {none}",)
