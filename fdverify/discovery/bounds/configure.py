"""What to configure at given numbers: the least safe timeout, what it costs, and a run that fails with one less."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from fdverify.discovery.bounds.compared import compare_functions
from fdverify.discovery.bounds.instance import NoBound, crashing, detector_of, instance
from fdverify.discovery.bounds.measure import Broken, Instances, largest_tried, least_timeout
from fdverify.discovery.bounds.noticing import detection_times
from fdverify.discovery.bounds.subject import Subject, subject_of
from fdverify.engines.worst_run import worst_run
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.expression import parse_expression
from fdverify.models.model import OptionValue
from fdverify.models.system import State, System
from fdverify.proofs.check import check
from fdverify.proofs.course import Settings
from fdverify.proofs.proof import Proof
from fdverify.proofs.shipped import tightest
from fdverify.traces.run import Run, replay
from fdverify.traces.steps import ShownRun, show_run
from fdverify.verdict import Verdict

_ABOUT = "of one sender and one receiver"
"""What a timeout that is least for them is for N processes is another question, which the cutoff answers."""


@dataclass(frozen=True)
class Choice:
    """A timeout in steps of the receiver, and how late a crash is then noticed at worst, in ticks."""

    timeout: int
    detection: int | None


@dataclass(frozen=True)
class Failure:
    """A shorter timeout, the run that breaks the property with it, and whether that is by a wrong suspicion."""

    timeout: int
    run: ShownRun
    wrong_suspicion: bool


@dataclass(frozen=True)
class Configuration:
    """The least safe choice, who says so, and a run that fails with less; beside it the model's own timeout.

    Where something of it is not known, or is not so, the verdict and the detail say why.
    """

    about: Subject
    verdict: Verdict
    detail: str = ""
    least: Choice | None = None
    attained: bool = True
    """Whether a crash may indeed be noticed as late as is told in this instance; else it is an upper bound."""
    because: tuple[str, ...] = ()
    failure: Failure | None = None
    longer: tuple[int, ...] = ()
    """Longer timeouts that are not safe, of those that were tried."""
    usual: Choice | None = None
    usual_formula: str = ""
    run: ShownRun | None = None
    """What shows the verdict, if it is another than proved."""
    notes: tuple[str, ...] = ()

    @property
    def fails_with_less(self) -> ShownRun | None:
        return None if self.failure is None else self.failure.run


def configure(
    job: CheckRequest, numbers: Mapping[str, int], report: Callable[[str], None], longest: int | None = None
) -> Configuration:
    """From the proofs that ship with the model; without, the instance itself is explored."""
    notes = compare_functions(job)
    return replace(_configured(job, numbers, report, longest), notes=notes)


def _configured(
    job: CheckRequest, numbers: Mapping[str, int], report: Callable[[str], None], longest: int | None
) -> Configuration:
    safe = _said(job, "accuracy", {"timeout": "any"}, report)
    in_time = _said(job, "completeness", {"timeout": "any", **crashing(job.find_model())}, report)
    if safe is None or in_time is None or safe.at({}, {}).goal.name != job.claim:
        return _explored(job, dict(numbers), report, longest or largest_tried(numbers))

    def choice(timeout: int) -> Choice:
        return Choice(timeout, _value(in_time, {**numbers, "timeout": timeout}))

    least = choice(_value(safe, numbers))
    usual = str(next(option.default for option in job.find_model().options if option.name == "timeout"))
    proved = f"proved for all parameters, {_ABOUT}"
    return Configuration(
        about=subject_of(job),
        verdict=Verdict.PROVED,
        least=least,
        attained=False,
        because=(
            f"{safe.source.file.name}: {proved}",
            f"{in_time.source.file.name}: {proved}; an upper bound, attained in small instances",
        ),
        failure=_planned_failure(job, dict(numbers), least.timeout - 1),
        usual=choice(parse_expression(usual, set(numbers)).evaluate(numbers)),
        usual_formula=usual,
    )


def _said(
    job: CheckRequest, about: str, options: Mapping[str, OptionValue], report: Callable[[str], None]
) -> Proof | None:
    """The shipped proof, once it has been checked."""
    proof = tightest(job.find_model(), {**job.options, **options}, about)
    if proof is None or proof.bounded_by is None:
        return None
    report(f"checking {proof.source.file.name}")
    (result,) = check([proof.source.file], Settings())
    if result.error is not None:
        raise result.error
    return proof if result.verdict is Verdict.PROVED else None


def _value(proof: Proof, numbers: Mapping[str, int]) -> int:
    assert proof.bounded_by is not None, "it was chosen for that"
    return int(proof.bounded_by(State(numbers)))


def _planned_failure(job: CheckRequest, numbers: dict[str, int], timeout: int) -> Failure | None:
    """The worst run of the model at these numbers, if there can be such a timeout."""
    if timeout < 1:
        return None
    system = instance(job, numbers, timeout)
    claim = job.property_of(system)
    worst = next(each for each in system.worst if each.breaks == claim.name)
    run = worst_run(system, claim, worst)
    return Failure(timeout, show_run(system, run), _suspects_wrongly(system, run))


def _suspects_wrongly(system: System, run: Run) -> bool:
    """Whether a run ends with a correct sender suspected."""
    detector = system.detector
    return detector is not None and not detector.trusts(replay(system, run).last)


def _explored(job: CheckRequest, numbers: dict[str, int], report: Callable[[str], None], longest: int) -> Configuration:
    crash = {**job.options, **crashing(job.find_model())}
    about = subject_of(job)
    detector_of(replace(job, options=crash).system())
    try:
        least = least_timeout(Instances(job, numbers, with_crash=True, report=report), longest)
    except NoBound as none:
        return Configuration(about, none.verdict, str(none), run=none.run)
    found = Configuration(
        about,
        Verdict.PROVED,
        least=Choice(least.timeout, None),
        because=("every reachable state was visited",),
        failure=None if least.shorter is None else _failure(job, numbers, least.shorter, crash),
        longer=least.longer,
    )
    try:
        times = detection_times(instance(replace(job, options=crash), numbers, least.timeout), report)
    except NoBound as none:
        return replace(found, verdict=none.verdict, detail=str(none), run=none.run)
    return replace(found, least=Choice(least.timeout, max(times.values(), default=0)))


def _failure(job: CheckRequest, numbers: dict[str, int], broken: Broken, crash: Mapping[str, OptionValue]) -> Failure:
    system = instance(replace(job, options=crash) if broken.crash else job, numbers, broken.timeout)
    return Failure(broken.timeout, broken.shown, _suspects_wrongly(system, broken.run))
