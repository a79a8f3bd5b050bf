"""That a formula is enough for all parameters, from the conjuncts of a proof that ships or is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Any

from fdverify.discovery.bounds.bound import ALL, Evidence
from fdverify.logic import Truth
from fdverify.models.model import Model, OptionValue
from fdverify.models.system import State
from fdverify.proofs.check import check
from fdverify.proofs.course import Settings
from fdverify.proofs.proof import Proof
from fdverify.verdict import Verdict


def enough(
    conjuncts_of: Proof,
    model: Model,
    options: Mapping[str, OptionValue],
    goal: str | Callable[[State], Truth],
    assumption: Callable[[State], Truth] | None,
    deadline: float | None,
    also: Sequence[Callable[[State], Any]] = (),
) -> Evidence | None:
    """The goal, of arbitrary parameters under the assumption, by the conjuncts of another proof; if it is proved.

    It is proved of this model, whatever model the conjuncts were written for; ``also`` has conjuncts to add to them.
    """
    chosen: dict[str, Any] = {**options, "goal": goal if isinstance(goal, str) else None}
    proof = Proof(model, **chosen)
    if not isinstance(goal, str):
        proof.goal(goal)
    if assumption is not None:
        proof.assumption(assumption)
    proof.invariants(*conjuncts_of.predicates(), *also)
    left = None if deadline is None else max(0.1, deadline - monotonic())
    (result,) = check([proof], Settings(cache=False, time_limit=left))
    if result.error is not None:
        raise result.error
    if result.verdict is not Verdict.PROVED:
        return None
    number = len(conjuncts_of.predicates())
    return Evidence(ALL, f"by the {number} conjuncts of {conjuncts_of.source.file.name}", tuple(result.obligations))


def described(meaning: str, predicate: Callable[[State], Any], name: str) -> Callable[[State], Any]:
    """The predicate as a proof wants it: a function with a name and a meaning."""

    def claim(s: State) -> Any:
        return predicate(s)

    claim.__name__, claim.__doc__ = name, meaning
    return claim
