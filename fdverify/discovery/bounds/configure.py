"""What to configure at given numbers: the least safe timeout, what it costs, and a run that fails with one less."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from fdverify.discovery.bounds.compared import compare_functions
from fdverify.discovery.bounds.measure import crashing, detection_times, instance, least_timeout
from fdverify.engines.worst_run import worst_run
from fdverify.job import Job
from fdverify.models.expression import parse_expression
from fdverify.models.model import OptionValue
from fdverify.models.system import State
from fdverify.proofs.check import check
from fdverify.proofs.course import Settings
from fdverify.proofs.proof import Proof
from fdverify.proofs.shipped import tightest
from fdverify.traces.steps import Shown, shown
from fdverify.verdict import Verdict

_ABOUT = "of one sender and one receiver"
"""What a timeout that is least for them is for N processes is another question, which the cutoff answers."""


@dataclass(frozen=True)
class Choice:
    """A timeout in steps of the receiver, and how late a crash is then noticed at worst, in ticks."""

    timeout: int
    detection: int


@dataclass(frozen=True)
class Configuration:
    """The least safe choice, who says so, and a run that fails with one less; beside it the model's own timeout."""

    least: Choice
    because: tuple[str, ...]
    fails_with_less: Shown | None
    usual: Choice | None
    usual_formula: str


def configure(job: Job, numbers: Mapping[str, int], report: Callable[[str], None]) -> Configuration:
    """From the proofs that ship with the model; without, the instance itself is explored."""
    compare_functions(job, None)
    safe = _said(job, "accuracy", {"timeout": "any"}, report)
    in_time = _said(job, "completeness", {"timeout": "any", **crashing(job.find_model())}, report)
    if safe is None or in_time is None or safe.at({}, {}).goal.name != job.claim:
        return _explored(job, dict(numbers), report)

    def choice(timeout: int) -> Choice:
        return Choice(timeout, _value(in_time, {**numbers, "timeout": timeout}))

    least = choice(_value(safe, numbers))
    usual = str(next(option.default for option in job.find_model().options if option.name == "timeout"))
    return Configuration(
        least=least,
        because=tuple(f"{proof.source.file.name}: proved for all parameters, {_ABOUT}" for proof in (safe, in_time)),
        fails_with_less=_fails(job, dict(numbers), least.timeout - 1),
        usual=choice(parse_expression(usual, set(numbers)).evaluate(numbers)),
        usual_formula=usual,
    )


def _said(job: Job, about: str, options: Mapping[str, OptionValue], report: Callable[[str], None]) -> Proof | None:
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


def _fails(job: Job, numbers: dict[str, int], timeout: int) -> Shown | None:
    """The worst run of the model at these numbers, if there can be such a timeout."""
    if timeout < 1:
        return None
    system = instance(job, numbers, timeout)
    claim = job.property_of(system)
    worst = next(each for each in system.worst if each.breaks == claim.name)
    return shown(system, worst_run(system, claim, worst))


def _explored(job: Job, numbers: dict[str, int], report: Callable[[str], None]) -> Configuration:
    report("exploring the instance")
    least = least_timeout(job, numbers, 1)
    with_crash = replace(job, options={**job.options, **crashing(job.find_model())})
    times = detection_times(instance(with_crash, numbers, least.timeout))
    run = None if least.run is None else shown(instance(job, numbers, least.timeout - 1), least.run)
    found = Choice(least.timeout, times[least.timeout])
    return Configuration(found, ("every reachable state was visited",), run, None, "")
