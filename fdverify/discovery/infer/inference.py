"""Inference of an inductive invariant: run the search methods, then check the proof file that one of them writes."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic

from fdverify.discovery.infer.methods import METHODS, Finding, Invented, NotFound, Refuted, by_search
from fdverify.model_check.check_request import CheckRequest
from fdverify.proofs.check import check
from fdverify.proofs.course import Settings
from fdverify.smt.pool import Outcome, Pool, Task
from fdverify.traces.run import rounds
from fdverify.verdict import Result, Verdict


@dataclass(frozen=True)
class Inferred:
    """The result, and the text of the proof file if it proves the property."""

    result: Result
    text: str | None = None


def infer(
    job: CheckRequest, methods: tuple[str, ...], seed: int, time_limit: float | None, report: Callable[[str], None]
) -> Inferred:
    """Search with all methods in parallel; the earliest method in the list that succeeds has precedence."""
    deadline = None if time_limit is None else monotonic() + time_limit
    findings: dict[str, Finding] = {}

    def finished(task: Task, outcome: Outcome) -> list[Task]:
        if outcome.error is not None:
            raise outcome.error
        findings[task.key] = NotFound(outcome.lost) if outcome.lost is not None else outcome.value
        answered = [method for method in methods if isinstance(findings.get(method), Invented | Refuted)]
        if answered and all(method in findings for method in methods[: methods.index(answered[0])]):
            pool.close()
            return []
        report(f"{', '.join(method for method in methods if method not in findings)} still searching")
        if set(methods) <= set(findings) and task.key != _SEARCH:
            return [Task(_SEARCH, partial(by_search, job, seed))]
        return []

    uncompared = job.compare_in_worker(time_limit)
    if uncompared is not None:
        return Inferred(Result(Verdict.UNKNOWN, uncompared))
    report(f"searching with {' and '.join(methods)}")
    tasks = [Task(method, partial(METHODS[method], job, seed), patience=math.inf) for method in methods]
    with Pool(len(methods)) as pool:
        pool.run(tasks, finished, deadline)
    for method in (*methods, _SEARCH):
        finding = findings.get(method)
        if isinstance(finding, Refuted):
            return Inferred(_violated(job, finding))
        if isinstance(finding, Invented):
            report("checking the proof file")
            checked = _checked(finding, method, seed, _left(deadline))
            others = methods[methods.index(method) + 1 :]
            refused = checked.result.verdict is Verdict.UNKNOWN
            return infer(job, others, seed, _left(deadline), report) if refused and others else checked
    failures = {name: finding for name, finding in findings.items() if isinstance(finding, NotFound)}
    why = "; ".join(f"{name}: {failure.why}" for name, failure in failures.items())
    return Inferred(Result(Verdict.UNKNOWN, why))


_SEARCH = "search for a run"


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.1, deadline - monotonic())


def _violated(job: CheckRequest, finding: Refuted) -> Result:
    depth, claim = len(finding.run.rounds), job.property_of(job.system())
    detail = f"{claim.name} is violated after {rounds(depth)}"
    return Result(Verdict.VIOLATED, detail, {"depth": depth}, (), finding.run)


def _checked(finding: Invented, method: str, seed: int, time_limit: float | None) -> Inferred:
    """Check the text as a proof file, as every proof is checked."""
    with tempfile.TemporaryDirectory(prefix="fdverify-") as folder:
        path = Path(folder) / "inferred.py"
        path.write_text(finding.text, encoding="utf-8")
        (proof,) = check([path], Settings(cache=False, seed=seed, time_limit=time_limit))
    if proof.error is not None:
        raise proof.error
    statistics = {"conjuncts": finding.conjuncts}
    if proof.verdict is Verdict.PROVED:
        detail = f"an inductive invariant of {finding.conjuncts} conjuncts, found by {method} and checked from its file"
        return Inferred(Result(Verdict.PROVED, detail, statistics, tuple(proof.obligations)), finding.text)
    if proof.verdict is Verdict.VACUOUS:
        return Inferred(Result(Verdict.VACUOUS, proof.detail, statistics, tuple(proof.obligations)))
    detail = f"{method} found an invariant that does not pass as a proof: {proof.detail}"
    return Inferred(Result(Verdict.UNKNOWN, detail, statistics, tuple(proof.obligations)))
