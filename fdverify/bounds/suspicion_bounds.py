"""Bounds on wrong suspicions with a timeout that is too short: how many there are, and how long one lasts, at worst.

The formulas are those of shipped proofs.  Small instances show that nothing less suffices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from time import monotonic

from fdverify.bounds.bound_formula import StatedFormula
from fdverify.bounds.detector_bound import ALL_PARAMETERS, DetectorBound, Evidence
from fdverify.bounds.instance_grid import describe_instances, enumerate_points
from fdverify.bounds.parallel_measurement import run_measurements
from fdverify.engines.explore import explore
from fdverify.errors import InternalError
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.system import Property, System
from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.proof import Proof
from fdverify.proofs.proof_files import load_proof
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.proofs.shipped_proofs import find_tight_proof
from fdverify.runs.run import Run
from fdverify.runs.run_table import show_run
from fdverify.verdict import Verdict

_BUDGET = 5
_LARGEST_TIMEOUT = 6
_BOUNDS = {
    "suspicions": ("most-wrong-suspicions", "how often a correct sender is suspected in a run, at worst"),
    "suspicion_length": ("longest-wrong-suspicion", "for how many rounds in a row a correct sender is suspected"),
}


def find_suspicion_bounds(
    request: CheckRequest, deadline: float | None, report: Callable[[str], None]
) -> list[DetectorBound]:
    """Return the bounds of the proofs that ship with the model; none if there are no such proofs."""
    options = {**request.options, "timeout": "any", "crash": False}
    bounds = []
    for about, (name, meaning) in _BOUNDS.items():
        proof = find_tight_proof(request.find_model(), options, about)
        if proof is not None:
            bounds.append(_build_bound(proof, name, meaning, deadline, report))
    return bounds


def _build_bound(
    proof: Proof, name: str, meaning: str, deadline: float | None, report: Callable[[str], None]
) -> DetectorBound:
    assert proof.bounded_by is not None, "a tight proof says what it bounds"
    file, parameters = proof.source.file, proof.model.parameters
    tasks = {point: partial(_find_runs, file, values) for point, values in enumerate_points(parameters, _BUDGET)}
    runs = [run for found in run_measurements(tasks, deadline, report).values() for run in found]
    longest = max(runs, key=lambda run: len(run.rounds))
    left = None if deadline is None else max(0.1, deadline - monotonic())
    (result,) = check_proofs([file], ProofSettings(time_limit=left))
    if result.error is not None:
        raise result.error
    enough = Evidence(ALL_PARAMETERS, f"by {file.name}", tuple(result.obligations))
    names = [parameter.name for parameter in parameters]
    points = dict.fromkeys(tuple(run.parameters[name] for name in names) for run in runs)
    scope = f"{describe_instances(names, points)}; initial timeout 1..{_LARGEST_TIMEOUT}"
    run = show_run(_build_instance(proof, longest.parameters), longest)
    return DetectorBound(
        name,
        meaning,
        formula=StatedFormula(proof.meaning_of_bound),
        enough=enough if result.verdict is Verdict.PROVED else None,
        witness=Evidence(scope, "attained in every instance explored", (), run),
        explored=len(runs),
    )


def _find_runs(file: Path, values: dict[str, int]) -> list[Run]:
    """Find a run that attains the bound, for each initial timeout."""
    proof = load_proof(file)
    quantity, bound = proof.bounded, proof.bounded_by
    assert quantity is not None, "a tight proof says what it bounds"
    assert bound is not None, "and by what"
    less = Property("less", lambda s: quantity(s) < bound(s), "less than the bound")
    runs = []
    for timeout in range(1, _LARGEST_TIMEOUT + 1):
        result = explore(_build_instance(proof, {**values, "initial_timeout": timeout}), less)
        if result.verdict is not Verdict.VIOLATED or result.run is None:
            raise InternalError(f"{file.name}: the bound is not attained at {values}, {timeout}")
        runs.append(result.run)
    return runs


def _build_instance(proof: Proof, values: Mapping[str, int]) -> System:
    return proof.build_system({}, {}).fix_parameters(values)
