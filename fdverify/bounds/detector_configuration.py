"""The configuration of a detector for fixed parameters: the smallest safe timeout, its cost, and a run that fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from fdverify.bounds.detection_times import measure_detection_times
from fdverify.bounds.detector_bound import BoundSubject, describe_subject
from fdverify.bounds.detector_instance import NoBound, build_crash_options, build_instance, require_detector
from fdverify.bounds.measurement import (
    TimeoutInstances,
    TimeoutViolation,
    compute_longest_timeout,
    find_least_timeout,
)
from fdverify.bounds.precheck import compare_author_functions
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.expression import parse_expression
from fdverify.models.model import OptionValue
from fdverify.models.system import State, System
from fdverify.obligations.planned_violation import interpret_worst_run
from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.proof import Proof
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.proofs.shipped_proofs import find_tight_proof
from fdverify.runs.run import Run, replay_run
from fdverify.runs.run_table import ShownRun, show_run
from fdverify.verdict import Verdict

_ABOUT = "of one sender and one receiver"
"""Whether the timeout is also the smallest for N processes is a question for the cutoff."""


@dataclass(frozen=True)
class TimeoutChoice:
    """A timeout in steps of the receiver, and the worst-case detection time of a crash in ticks."""

    timeout: int
    detection: int | None


@dataclass(frozen=True)
class FailingTimeout:
    """A shorter timeout, a run that violates the property with it, and whether it ends in a wrong suspicion."""

    timeout: int
    run: ShownRun
    wrong_suspicion: bool


@dataclass(frozen=True)
class DetectorConfiguration:
    """The smallest safe timeout, the reasons, and a run that fails with less; for comparison, the usual timeout.

    If a part is missing, the verdict and the detail say why.
    """

    about: BoundSubject
    verdict: Verdict
    detail: str = ""
    least: TimeoutChoice | None = None
    attained: bool = True
    """Whether the detection time is attained in this instance; if not, it is an upper bound."""
    because: tuple[str, ...] = ()
    failure: FailingTimeout | None = None
    longer: tuple[int, ...] = ()
    """The longer timeouts that were tried and are not safe."""
    usual: TimeoutChoice | None = None
    usual_formula: str = ""
    run: ShownRun | None = None
    """The run that shows the verdict, unless it is proved."""
    notes: tuple[str, ...] = ()

    @property
    def failing_run(self) -> ShownRun | None:
        return None if self.failure is None else self.failure.run


def configure_detector(
    request: CheckRequest, numbers: Mapping[str, int], report: Callable[[str], None], longest: int | None = None
) -> DetectorConfiguration:
    """Configure from the proofs that ship with the model; without such proofs, explore the instance."""
    notes = compare_author_functions(request)
    return replace(_find_configuration(request, numbers, report, longest), notes=notes)


def _find_configuration(
    request: CheckRequest, numbers: Mapping[str, int], report: Callable[[str], None], longest: int | None
) -> DetectorConfiguration:
    safe = _find_checked_proof(request, "accuracy", {"timeout": "any"}, report)
    in_time = _find_checked_proof(
        request, "completeness", {"timeout": "any", **build_crash_options(request.find_model())}, report
    )
    if safe is None or in_time is None or safe.build_invariant({}, {}).goal.name != request.claim:
        return _configure_by_exploration(request, dict(numbers), report, longest or compute_longest_timeout(numbers))

    def build_choice(timeout: int) -> TimeoutChoice:
        return TimeoutChoice(timeout, _evaluate_bound(in_time, {**numbers, "timeout": timeout}))

    least = build_choice(_evaluate_bound(safe, numbers))
    usual = str(next(option.default for option in request.find_model().options if option.name == "timeout"))
    proved = f"proved for all parameters, {_ABOUT}"
    return DetectorConfiguration(
        about=describe_subject(request),
        verdict=Verdict.PROVED,
        least=least,
        attained=False,
        because=(
            f"{safe.source.file.name}: {proved}",
            f"{in_time.source.file.name}: {proved}; an upper bound, attained in small instances",
        ),
        failure=_build_planned_failure(request, dict(numbers), least.timeout - 1),
        usual=build_choice(parse_expression(usual, set(numbers)).evaluate(numbers)),
        usual_formula=usual,
    )


def _find_checked_proof(
    request: CheckRequest, about: str, options: Mapping[str, OptionValue], report: Callable[[str], None]
) -> Proof | None:
    """Find the shipped proof and check it; ``None`` if there is none or it is not proved."""
    proof = find_tight_proof(request.find_model(), {**request.options, **options}, about)
    if proof is None or proof.bounded_by is None:
        return None
    report(f"checking {proof.source.file.name}")
    (result,) = check_proofs([proof.source.file], ProofSettings())
    if result.error is not None:
        raise result.error
    return proof if result.verdict is Verdict.PROVED else None


def _evaluate_bound(proof: Proof, numbers: Mapping[str, int]) -> int:
    assert proof.bounded_by is not None, "it was chosen for that"
    return int(proof.bounded_by(State(numbers)))


def _build_planned_failure(request: CheckRequest, numbers: dict[str, int], timeout: int) -> FailingTimeout | None:
    """Build the model's worst run for these parameters; ``None`` if there is no such timeout."""
    if timeout < 1:
        return None
    system = build_instance(request, numbers, timeout)
    claim = request.find_property(system)
    worst = next(each for each in system.worst if each.breaks == claim.name)
    run = interpret_worst_run(system, claim, worst)
    return FailingTimeout(timeout, show_run(system, run), _ends_in_wrong_suspicion(system, run))


def _ends_in_wrong_suspicion(system: System, run: Run) -> bool:
    """Tell whether a run ends with a correct sender suspected."""
    detector = system.detector
    return detector is not None and not detector.trusts(replay_run(system, run).last)


def _configure_by_exploration(
    request: CheckRequest, numbers: dict[str, int], report: Callable[[str], None], longest: int
) -> DetectorConfiguration:
    crash = {**request.options, **build_crash_options(request.find_model())}
    about = describe_subject(request)
    require_detector(replace(request, options=crash).build_system())
    try:
        least = find_least_timeout(TimeoutInstances(request, numbers, with_crash=True, report=report), longest)
    except NoBound as none:
        return DetectorConfiguration(about, none.verdict, str(none), run=none.run)
    configuration = DetectorConfiguration(
        about,
        Verdict.PROVED,
        least=TimeoutChoice(least.timeout, None),
        because=("every reachable state was visited",),
        failure=None if least.shorter is None else _build_failure(request, numbers, least.shorter, crash),
        longer=least.longer,
    )
    try:
        times = measure_detection_times(build_instance(replace(request, options=crash), numbers, least.timeout), report)
    except NoBound as none:
        return replace(configuration, verdict=none.verdict, detail=str(none), run=none.run)
    return replace(configuration, least=TimeoutChoice(least.timeout, max(times.values(), default=0)))


def _build_failure(
    request: CheckRequest, numbers: dict[str, int], broken: TimeoutViolation, crash: Mapping[str, OptionValue]
) -> FailingTimeout:
    system = build_instance(replace(request, options=crash) if broken.crash else request, numbers, broken.timeout)
    return FailingTimeout(broken.timeout, broken.shown, _ends_in_wrong_suspicion(system, broken.run))
