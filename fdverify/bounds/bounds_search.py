"""The search for the bounds that one command prints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fdverify.bounds.accuracy_bound import find_accuracy_bound
from fdverify.bounds.detection_bound import find_detection_bound
from fdverify.bounds.detector_bound import BoundSubject, DetectorBound, describe_subject
from fdverify.bounds.detector_instance import NoBound
from fdverify.bounds.parallel_measurement import MeasuringTimeExceeded
from fdverify.bounds.precheck import compare_author_functions
from fdverify.bounds.suspicion_bounds import find_suspicion_bounds
from fdverify.bounds.suspicion_counts import count_wrong_suspicions
from fdverify.errors import UsageError
from fdverify.model_check.check_request import CheckRequest
from fdverify.proofs.proof import Proof
from fdverify.runs.run_table import ShownRun
from fdverify.verdict import Verdict

OUT_OF_TIME = "the time limit was reached"


@dataclass(frozen=True)
class BoundSearch:
    """The result of a search for bounds: the bounds, the main one first, or the reason why there is none."""

    about: BoundSubject
    bounds: tuple[DetectorBound, ...] = ()
    why: str = ""
    notes: tuple[str, ...] = ()
    """Further measurements, which are not claimed for other instances."""
    verdict: Verdict = Verdict.UNKNOWN
    """The verdict if there is no bound."""
    run: ShownRun | None = None
    """The run that shows why there is no bound."""

    @property
    def exit_code(self) -> int:
        proved = bool(self.bounds) and all(bound.proved for bound in self.bounds)
        return Verdict.PROVED.exit_code if proved else self.verdict.exit_code


def find_bounds(
    about: str, request: CheckRequest, by: Proof | None, deadline: float | None, report: Callable[[str], None]
) -> BoundSearch:
    """Find the bound with this name and the further bounds that belong to it."""
    subject = describe_subject(request)
    if not request.find_model().parameters:
        raise UsageError(f"{subject.model} has no parameters to find a formula in", f"leave out the word {about}")
    try:
        compared = compare_author_functions(request)
        bound = {"accuracy": find_accuracy_bound, "detection": find_detection_bound}[about](
            request, by, deadline, report
        )
        if bound is None:
            why = "no formula fits what was measured: sums of the parameters, rounded, or by residues"
            return BoundSearch(subject, why=why)
        others = find_suspicion_bounds(request, deadline, report) if about == "detection" else []
        notes = _count_suspicions_or_explain(request, deadline, report) if about == "detection" and not others else ()
    except MeasuringTimeExceeded:
        return BoundSearch(subject, why=OUT_OF_TIME)
    except NoBound as none:
        return BoundSearch(subject, why=str(none), verdict=none.verdict, run=none.run)
    return BoundSearch(subject, (bound, *others), notes=(*compared, *notes))


def _count_suspicions_or_explain(
    request: CheckRequest, deadline: float | None, report: Callable[[str], None]
) -> tuple[str, ...]:
    """Count wrong suspicions, or say why they cannot be counted."""
    try:
        return count_wrong_suspicions(request, deadline, report)
    except NoBound as none:
        return (f"wrong suspicions: not counted: {none}",)
