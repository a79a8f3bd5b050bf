"""Inference of an inductive invariant: run the search methods, then check the proof file that one of them writes."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic

from fdverify.invariant_search.search_methods import (
    METHODS,
    Finding,
    InferredProof,
    NoInvariant,
    RefutingRun,
    search_violation,
)
from fdverify.model_check.check_request import CheckRequest
from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.runs.run import format_rounds
from fdverify.verdict import Result, Verdict
from fdverify.workers.executor import Task, TaskOutcome
from fdverify.workers.pool import Pool


@dataclass(frozen=True)
class InferenceResult:
    """The result, and the text of the proof file if it proves the property."""

    result: Result
    text: str | None = None


def infer_invariant(
    request: CheckRequest, methods: tuple[str, ...], seed: int, time_limit: float | None, report: Callable[[str], None]
) -> InferenceResult:
    """Search with all methods in parallel; the earliest method in the list that succeeds has precedence."""
    deadline = None if time_limit is None else monotonic() + time_limit
    findings: dict[str, Finding] = {}

    def record_outcome(task: Task, outcome: TaskOutcome) -> list[Task]:
        if outcome.error is not None:
            raise outcome.error
        findings[task.key] = NoInvariant(outcome.lost) if outcome.lost is not None else outcome.value
        answered = [method for method in methods if isinstance(findings.get(method), InferredProof | RefutingRun)]
        if answered and all(method in findings for method in methods[: methods.index(answered[0])]):
            pool.close()
            return []
        report(f"{', '.join(method for method in methods if method not in findings)} still searching")
        if set(methods) <= set(findings) and task.key != _SEARCH:
            return [Task(_SEARCH, partial(search_violation, request, seed))]
        return []

    uncompared = request.compare_in_worker(time_limit)
    if uncompared is not None:
        return InferenceResult(Result(Verdict.UNKNOWN, uncompared))
    report(f"searching with {' and '.join(methods)}")
    tasks = [Task(method, partial(METHODS[method], request, seed), patience=math.inf) for method in methods]
    with Pool(len(methods)) as pool:
        pool.run_tasks(tasks, record_outcome, deadline)
    for method in (*methods, _SEARCH):
        finding = findings.get(method)
        if isinstance(finding, RefutingRun):
            return InferenceResult(_build_violation_result(request, finding))
        if isinstance(finding, InferredProof):
            report("checking the proof file")
            checked = _check_proof_text(finding, method, seed, _compute_time_left(deadline))
            others = methods[methods.index(method) + 1 :]
            refused = checked.result.verdict is Verdict.UNKNOWN
            return (
                infer_invariant(request, others, seed, _compute_time_left(deadline), report)
                if refused and others
                else checked
            )
    failures = {name: finding for name, finding in findings.items() if isinstance(finding, NoInvariant)}
    why = "; ".join(f"{name}: {failure.why}" for name, failure in failures.items())
    return InferenceResult(Result(Verdict.UNKNOWN, why))


_SEARCH = "search for a run"


def _compute_time_left(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.1, deadline - monotonic())


def _build_violation_result(request: CheckRequest, finding: RefutingRun) -> Result:
    depth, claim = len(finding.run.rounds), request.find_property(request.build_system())
    detail = f"{claim.name} is violated after {format_rounds(depth)}"
    return Result(Verdict.VIOLATED, detail, {"depth": depth}, (), finding.run)


def _check_proof_text(finding: InferredProof, method: str, seed: int, time_limit: float | None) -> InferenceResult:
    """Check the text as a proof file, as every proof is checked."""
    with tempfile.TemporaryDirectory(prefix="fdverify-") as folder:
        path = Path(folder) / "inferred.py"
        path.write_text(finding.text, encoding="utf-8")
        (proof,) = check_proofs([path], ProofSettings(cache=False, seed=seed, time_limit=time_limit))
    if proof.error is not None:
        raise proof.error
    statistics = {"conjuncts": finding.conjuncts}
    if proof.verdict is Verdict.PROVED:
        detail = f"an inductive invariant of {finding.conjuncts} conjuncts, found by {method} and checked from its file"
        return InferenceResult(Result(Verdict.PROVED, detail, statistics, tuple(proof.obligations)), finding.text)
    if proof.verdict is Verdict.VACUOUS:
        return InferenceResult(Result(Verdict.VACUOUS, proof.detail, statistics, tuple(proof.obligations)))
    detail = f"{method} found an invariant that does not pass as a proof: {proof.detail}"
    return InferenceResult(Result(Verdict.UNKNOWN, detail, statistics, tuple(proof.obligations)))
