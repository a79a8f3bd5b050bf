"""The least initial timeout from which a correct sender is never suspected."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import monotonic

import z3

from fdverify.discovery.bounds.bound import ALL, Bound, Evidence
from fdverify.discovery.bounds.fit import Point, fitted, moduli_of
from fdverify.discovery.bounds.formula import Factor, Formula, Sum
from fdverify.discovery.bounds.grid import in_words, rows
from fdverify.discovery.bounds.instance import NoBound, crashing, initial_timeout, instance
from fdverify.discovery.bounds.measure import Least, check_longer, row_of_least_timeouts
from fdverify.discovery.bounds.proved import described, enough
from fdverify.discovery.bounds.survey import blamed, survey
from fdverify.discovery.infer.inference import infer
from fdverify.engines.worst_run import attained, worst_run
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.system import Parameter, Property, State
from fdverify.proofs.proof import Proof
from fdverify.proofs.shipped import tightest
from fdverify.smt.solver import FreshSolver
from fdverify.symbolic.values import Int, truth
from fdverify.traces.steps import show_run
from fdverify.verdict import Verdict

_BUDGET = 11
_METHODS = ("templates", "spacer")


def accuracy(
    job: CheckRequest, proof: Proof | None, deadline: float | None, report: Callable[[str], None]
) -> Bound | None:
    """Find a formula for the least safe timeout, and evidence that it suffices and is necessary.

    Return ``None`` if no formula fits the measured timeouts.  The conjuncts of ``proof``, or else of a shipped proof,
    serve to prove that the formula suffices.  Without such a proof, an invariant is inferred for the least linear
    formula.
    """
    model = job.find_model()
    initial_timeout(job)
    any_timeout = replace(job, options={**job.options, "timeout": "any"})
    measured = _measured(any_timeout, deadline, report)
    if not measured:
        raise NoBound("the assumptions of the model allow none of the instances that would be explored")
    names = [parameter.name for parameter in model.parameters]
    least = {parameter.name: parameter.least for parameter in model.parameters}
    shape = [(), *((name,) for name in names)]
    timeouts = {point: measurement.timeout for point, measurement in measured.items()}
    formula = fitted(names, least, timeouts, shape, moduli_of(any_timeout.system()))
    if formula is None:
        return None
    report("proving that the formula is enough, and that nothing less is")
    linear = _least_linear(formula, model.parameters, measured)
    conjuncts = proof or tightest(model, any_timeout.options, "accuracy")
    bound = Bound(
        name="least-safe-timeout",
        meaning=f"the least initial timeout from which {job.claim} holds{_without_crash(job)}",
        formula=formula,
        enough=None if conjuncts is None else _enough(any_timeout, formula, conjuncts, deadline),
        witness=_needed(any_timeout, formula, measured),
        explored=len(measured),
        linear=linear,
        linear_attained=0 if linear is None else _attained(linear, names, timeouts),
    )
    if bound.enough is not None:
        return bound
    _check_longer(any_timeout, names, timeouts, deadline, report)
    if linear is None:
        return bound
    return replace(bound, linear_enough=_inferred(job, linear, deadline, report))


def _check_longer(
    job: CheckRequest,
    names: Sequence[str],
    timeouts: Mapping[Point, int],
    deadline: float | None,
    report: Callable[[str], None],
) -> None:
    """Try some longer timeouts, where no proof shows that they are safe too."""
    tasks = {
        point: partial(check_longer, job, dict(zip(names, point, strict=True)), timeout)
        for point, timeout in timeouts.items()
    }
    survey(blamed(job, tasks), deadline, report)


def _without_crash(job: CheckRequest) -> str:
    """Return a qualification for a model that has a crash option, which the measured instances leave off."""
    crash = {**job.options, **crashing(job.find_model())}
    return "" if crash == job.options else ", without a crash"


def _attained(linear: Sum, names: Sequence[str], timeouts: Mapping[Point, int]) -> int:
    values = {point: linear.value(State(dict(zip(names, point, strict=True)))) for point in timeouts}
    return sum(values[point] == timeout for point, timeout in timeouts.items())


def _measured(job: CheckRequest, deadline: float | None, report: Callable[[str], None]) -> dict[Point, Least]:
    parameters = job.find_model().parameters
    tasks = {
        tuple(values.values()): partial(row_of_least_timeouts, job, parameters[0].name, along, values)
        for values, along in rows(parameters, _BUDGET)
    }
    measured_rows = survey(blamed(job, tasks), deadline, report).items()
    return {(value, *rest): least for rest, row in measured_rows for value, least in row.items()}


def _least_linear(formula: Formula, parameters: Sequence[Parameter], measured: Mapping[Point, Least]) -> Sum | None:
    """Take the slopes of the first case, which is the widest, and the least constant that fits.

    Return ``None`` unless the solver shows that this linear formula is nowhere less than the given one.
    """
    names = [parameter.name for parameter in parameters]
    slopes = {factor.name: times for monomial, times in formula.cases[0].formula.terms for factor in monomial}
    excess = [
        least.timeout - sum(slopes[name] * value for name, value in zip(names, point, strict=True))
        for point, least in measured.items()
    ]
    linear = Sum((*(((Factor(name),), slopes[name]) for name in names), ((), max(excess))))
    anywhere = State({name: Int(z3.Int(name)) for name in names})
    solver = FreshSolver()
    solver.add(truth(anywhere[parameter.name] >= parameter.least) for parameter in parameters)
    return linear if solver.ask(truth(linear.value(anywhere) < formula.value(anywhere))).status == "unsat" else None


def _enough(job: CheckRequest, formula: Formula, conjuncts: Proof, deadline: float | None) -> Evidence | None:
    meaning = f"The initial timeout is at least {formula}."
    initial = initial_timeout(job)
    safe = described(meaning, lambda s: s[initial] >= formula.value(s), "safe_from_the_start")
    return enough(conjuncts, job.find_model(), job.options, str(job.claim), safe, deadline)


def _inferred(job: CheckRequest, linear: Sum, deadline: float | None, report: Callable[[str], None]) -> Evidence | None:
    left = None if deadline is None else max(0.1, deadline - monotonic())
    inferred = infer(replace(job, options={**job.options, "timeout": str(linear)}), _METHODS, 0, left, report)
    if inferred.result.verdict is not Verdict.PROVED:
        return None
    return Evidence(ALL, inferred.result.detail, inferred.result.obligations)


def _needed(job: CheckRequest, formula: Formula, measured: Mapping[Point, Least]) -> Evidence:
    """Show a run that violates the property at one less: for all parameters by a worst run, else as explored."""
    system = job.system()
    names = [parameter.name for parameter in job.find_model().parameters]
    claim, scope = job.property_of(system), in_words(names, measured)
    runs = {point: least.shorter for point, least in measured.items() if least.shorter is not None}
    if not runs:
        return Evidence(scope, "no initial timeout is too short there")
    point, shorter = max(runs.items())
    initial = initial_timeout(job)
    one_less = Property("one_less", lambda s: s[initial] == formula.value(s) - 1, "one less than the formula")
    for worst in (plan for plan in system.worst if plan.breaks == claim.name):
        obligations = attained(replace(system, assumptions=(*system.assumptions, one_less)), claim, worst)
        if all(obligation.verdict is Verdict.PROVED for obligation in obligations):
            fixed = instance(job, dict(zip(names, point, strict=True)), shorter.timeout)
            run = show_run(fixed, worst_run(fixed, claim, worst))
            return Evidence(ALL, "with one less, a plan leads to a violation", tuple(obligations), run)
    where = "every instance" if len(runs) == len(measured) else f"{len(runs)} of {len(measured)} instances"
    others = "" if len(runs) == len(measured) else ", and in the others there is no shorter timeout"
    return Evidence(scope, f"with one less, it is violated in {where} explored{others}", (), shorter.shown)
