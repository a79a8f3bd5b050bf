"""Guarantees: what a part promises about every reachable state, as conjuncts that a proof adds by one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from fdverify.logic import Truth
from fdverify.models.system import State

Guarantee: TypeAlias = Callable[[State], Truth]
"""A predicate with a name and a docstring, as ``proof.invariants`` takes it."""


def name_guarantee(name: str, meaning: str, holds: Guarantee) -> Guarantee:
    """Name a predicate after its part, so that two parts of a kind have conjuncts of different names."""

    def state_guarantee(s: State) -> Truth:
        return holds(s)

    state_guarantee.__name__, state_guarantee.__doc__ = name, meaning
    return state_guarantee
