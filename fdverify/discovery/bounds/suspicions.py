"""Wrong suspicions with a timeout that is too short: how many there are at worst, and for how long one lasts.

Their formulas are those of the shipped proofs; that nothing less would do is seen in small instances.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from fdverify.discovery.bounds.bound import ALL, Bound, Evidence
from fdverify.discovery.bounds.formula import Stated
from fdverify.discovery.bounds.grid import in_words, rows
from fdverify.discovery.bounds.measure import instance
from fdverify.discovery.bounds.survey import survey
from fdverify.engines.explore import explore
from fdverify.errors import InternalError
from fdverify.job import Job
from fdverify.models.system import Property, State
from fdverify.proofs.check import check
from fdverify.proofs.course import Settings
from fdverify.proofs.proof import Proof
from fdverify.proofs.shipped import tightest
from fdverify.traces.run import Run
from fdverify.traces.steps import shown
from fdverify.verdict import Verdict

_BUDGET = 5
_LARGEST_TIMEOUT = 6
_BOUNDS = {
    "suspicions": ("most-wrong-suspicions", "how often a correct sender is suspected in a run, at worst"),
    "suspicion_length": ("longest-wrong-suspicion", "for how many rounds in a row a correct sender is suspected"),
}


def suspicions(job: Job, deadline: float | None, report: Callable[[str], None]) -> list[Bound]:
    """What the proofs that ship with the model say; nothing if there are none."""
    job = replace(job, options={**job.options, "timeout": "any", "crash": False})
    found = []
    for about, (name, meaning) in _BOUNDS.items():
        proof = tightest(job.find_model(), job.options, about)
        if proof is not None:
            report(f"{name}: exploring small instances")
            found.append(_bound(job, proof, name, meaning, deadline, report))
    return found


def _bound(
    job: Job, proof: Proof, name: str, meaning: str, deadline: float | None, report: Callable[[str], None]
) -> Bound:
    runs = _attained(replace(job, model=proof.model), proof, deadline, report)
    parameters = proof.model.parameters
    words = f"{in_words(parameters, _BUDGET)}; initial timeout 1..{_LARGEST_TIMEOUT}"
    at = max(runs, key=lambda key: len(runs[key].rounds))
    fixed = instance(replace(job, model=proof.model), dict(zip((p.name for p in parameters), at, strict=False)), at[-1])
    assert proof.bounded_by is not None, "a tight proof says what it bounds"
    (result,) = check([proof.source.file], Settings())
    if result.error is not None:
        raise result.error
    enough = Evidence(ALL, f"by {proof.source.file.name}", tuple(result.obligations))
    return Bound(
        name,
        meaning,
        formula=Stated(proof.bound_in_words, proof.bounded_by),
        enough=enough if result.verdict is Verdict.PROVED else None,
        needed=Evidence(words, "attained in every instance explored", (), shown(fixed, runs[at])),
        measured=len(runs),
    )
