"""An automaton for certain parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fdverify.errors import UsageError
from fdverify.threshold.automaton import Automaton
from fdverify.threshold.formula import Comparison, Linear, holds, names


def with_parameters(automaton: Automaton, values: Mapping[str, int]) -> Automaton:
    """The same automaton for certain parameters, which must exist and be admissible."""
    known = (*automaton.parameters, *automaton.unknowns)
    for name, value in values.items():
        if name not in known:
            raise UsageError(f"{automaton.name} has no parameter {name}", f"there are {', '.join(known)}")
        if value < 0:
            raise UsageError(f"{name} must be at least 0, got {value}")
    for claim in automaton.assumptions:
        if names(claim) <= set(values) and not holds(claim, values):
            shown = ", ".join(f"{name} = {value}" for name, value in values.items())
            raise UsageError(f"{shown} is not admissible: an assumption of {automaton.name} does not hold")
    fixed = tuple(Comparison(Linear.of({name: 1}), "==", Linear(constant=value)) for name, value in values.items())
    return replace(automaton, assumptions=(*automaton.assumptions, *fixed))
