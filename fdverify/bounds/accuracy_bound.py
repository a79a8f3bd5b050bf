"""The least initial timeout from which a correct sender is never suspected."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import monotonic

import z3

from fdverify.bounds.bound_formula import BoundFormula, Factor, Polynomial
from fdverify.bounds.detector_bound import ALL_PARAMETERS, DetectorBound, Evidence
from fdverify.bounds.detector_instance import (
    NoBound,
    build_crash_options,
    build_instance,
    find_initial_timeout,
)
from fdverify.bounds.formula_fitting import ParameterPoint, fit_formula, list_moduli
from fdverify.bounds.instance_grid import describe_instances, enumerate_rows
from fdverify.bounds.measurement import LeastTimeout, check_longer_timeouts, measure_row_of_least_timeouts
from fdverify.bounds.parallel_measurement import blame_model_file, run_measurements
from fdverify.bounds.sufficiency import name_predicate, prove_with_conjuncts
from fdverify.invariant_search.inference import infer_invariant
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.system import Parameter, Property, State
from fdverify.obligations.planned_violation import decide_worst_run_obligations, interpret_worst_run
from fdverify.proofs.proof import Proof
from fdverify.proofs.shipped_proofs import find_tight_proof
from fdverify.runs.run_table import show_run
from fdverify.smt.solver import FreshSolver
from fdverify.symbolic.values import Int, lift_truth
from fdverify.verdict import Verdict

_BUDGET = 11
_METHODS = ("templates", "spacer")


def find_accuracy_bound(
    request: CheckRequest, proof: Proof | None, deadline: float | None, report: Callable[[str], None]
) -> DetectorBound | None:
    """Find a formula for the least safe timeout, and evidence that it suffices and is necessary.

    Return ``None`` if no formula fits the measured timeouts.  The conjuncts of ``proof``, or else of a shipped proof,
    serve to prove that the formula suffices.  Without such a proof, an invariant is inferred for the least linear
    formula.
    """
    model = request.find_model()
    find_initial_timeout(request)
    any_timeout = replace(request, options={**request.options, "timeout": "any"})
    measured = _measure_least_timeouts(any_timeout, deadline, report)
    if not measured:
        raise NoBound("the assumptions of the model allow none of the instances that would be explored")
    names = [parameter.name for parameter in model.parameters]
    least = {parameter.name: parameter.least for parameter in model.parameters}
    shape = [(), *((name,) for name in names)]
    timeouts = {point: measurement.timeout for point, measurement in measured.items()}
    formula = fit_formula(names, least, timeouts, shape, list_moduli(any_timeout.build_system()))
    if formula is None:
        return None
    report("proving that the formula is enough, and that nothing less is")
    linear = _find_least_linear_formula(formula, model.parameters, measured)
    conjuncts = proof or find_tight_proof(model, any_timeout.options, "accuracy")
    bound = DetectorBound(
        name="least-safe-timeout",
        meaning=f"the least initial timeout from which {request.claim} holds{_describe_crash_scope(request)}",
        formula=formula,
        enough=None if conjuncts is None else _prove_sufficiency(any_timeout, formula, conjuncts, deadline),
        witness=_show_necessity(any_timeout, formula, measured),
        explored=len(measured),
        linear=linear,
        linear_attained=0 if linear is None else _count_attained(linear, names, timeouts),
    )
    if bound.enough is not None:
        return bound
    _check_longer_timeouts(any_timeout, names, timeouts, deadline, report)
    if linear is None:
        return bound
    return replace(bound, linear_enough=_prove_by_inference(request, linear, deadline, report))


def _check_longer_timeouts(
    request: CheckRequest,
    names: Sequence[str],
    timeouts: Mapping[ParameterPoint, int],
    deadline: float | None,
    report: Callable[[str], None],
) -> None:
    """Try some longer timeouts, where no proof shows that they are safe too."""
    tasks = {
        point: partial(check_longer_timeouts, request, dict(zip(names, point, strict=True)), timeout)
        for point, timeout in timeouts.items()
    }
    run_measurements(blame_model_file(request, tasks), deadline, report)


def _describe_crash_scope(request: CheckRequest) -> str:
    """Return a qualification for a model that has a crash option, which the measured instances leave off."""
    crash = {**request.options, **build_crash_options(request.find_model())}
    return "" if crash == request.options else ", without a crash"


def _count_attained(linear: Polynomial, names: Sequence[str], timeouts: Mapping[ParameterPoint, int]) -> int:
    values = {point: linear.evaluate(State(dict(zip(names, point, strict=True)))) for point in timeouts}
    return sum(values[point] == timeout for point, timeout in timeouts.items())


def _measure_least_timeouts(
    request: CheckRequest, deadline: float | None, report: Callable[[str], None]
) -> dict[ParameterPoint, LeastTimeout]:
    parameters = request.find_model().parameters
    tasks = {
        tuple(values.values()): partial(measure_row_of_least_timeouts, request, parameters[0].name, along, values)
        for values, along in enumerate_rows(parameters, _BUDGET)
    }
    measured_rows = run_measurements(blame_model_file(request, tasks), deadline, report).items()
    return {(value, *rest): least for rest, row in measured_rows for value, least in row.items()}


def _find_least_linear_formula(
    formula: BoundFormula, parameters: Sequence[Parameter], measured: Mapping[ParameterPoint, LeastTimeout]
) -> Polynomial | None:
    """Take the slopes of the first case, which is the widest, and the least constant that fits.

    Return ``None`` unless the solver shows that this linear formula is nowhere less than the given one.
    """
    names = [parameter.name for parameter in parameters]
    slopes = {factor.name: times for monomial, times in formula.cases[0].formula.terms for factor in monomial}
    excess = [
        least.timeout - sum(slopes[name] * value for name, value in zip(names, point, strict=True))
        for point, least in measured.items()
    ]
    linear = Polynomial((*(((Factor(name),), slopes[name]) for name in names), ((), max(excess))))
    anywhere = State({name: Int(z3.Int(name)) for name in names})
    solver = FreshSolver()
    solver.add(lift_truth(anywhere[parameter.name] >= parameter.least) for parameter in parameters)
    return (
        linear
        if solver.ask(lift_truth(linear.evaluate(anywhere) < formula.evaluate(anywhere))).status == "unsat"
        else None
    )


def _prove_sufficiency(
    request: CheckRequest, formula: BoundFormula, conjuncts: Proof, deadline: float | None
) -> Evidence | None:
    meaning = f"The initial timeout is at least {formula}."
    initial = find_initial_timeout(request)
    safe = name_predicate(meaning, lambda s: s[initial] >= formula.evaluate(s), "safe_from_the_start")
    return prove_with_conjuncts(conjuncts, request.find_model(), request.options, str(request.claim), safe, deadline)


def _prove_by_inference(
    request: CheckRequest, linear: Polynomial, deadline: float | None, report: Callable[[str], None]
) -> Evidence | None:
    left = None if deadline is None else max(0.1, deadline - monotonic())
    inferred = infer_invariant(
        replace(request, options={**request.options, "timeout": str(linear)}), _METHODS, 0, left, report
    )
    if inferred.result.verdict is not Verdict.PROVED:
        return None
    return Evidence(ALL_PARAMETERS, inferred.result.detail, inferred.result.obligations)


def _show_necessity(
    request: CheckRequest, formula: BoundFormula, measured: Mapping[ParameterPoint, LeastTimeout]
) -> Evidence:
    """Show a run that violates the property at one less: for all parameters by a worst run, else as explored."""
    system = request.build_system()
    names = [parameter.name for parameter in request.find_model().parameters]
    claim, scope = request.find_property(system), describe_instances(names, measured)
    runs = {point: least.shorter for point, least in measured.items() if least.shorter is not None}
    if not runs:
        return Evidence(scope, "no initial timeout is too short there")
    point, shorter = max(runs.items())
    initial = find_initial_timeout(request)
    one_less = Property("one_less", lambda s: s[initial] == formula.evaluate(s) - 1, "one less than the formula")
    for worst in (plan for plan in system.worst if plan.breaks == claim.name):
        obligations = decide_worst_run_obligations(
            replace(system, assumptions=(*system.assumptions, one_less)), claim, worst
        )
        if all(obligation.verdict is Verdict.PROVED for obligation in obligations):
            fixed = build_instance(request, dict(zip(names, point, strict=True)), shorter.timeout)
            run = show_run(fixed, interpret_worst_run(fixed, claim, worst))
            return Evidence(ALL_PARAMETERS, "with one less, a plan leads to a violation", tuple(obligations), run)
    where = "every instance" if len(runs) == len(measured) else f"{len(runs)} of {len(measured)} instances"
    others = "" if len(runs) == len(measured) else ", and in the others there is no shorter timeout"
    return Evidence(scope, f"with one less, it is violated in {where} explored{others}", (), shorter.shown)
