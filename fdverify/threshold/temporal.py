"""Temporal formulas of a run that comes back to one of its configurations: it goes on from there for ever."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fdverify.threshold.formula import And, Eventually, Formula, Globally, Implies, Not, Or, holds


def holds_of_run(formula: Formula, run: Sequence[Mapping[str, int]], back: int) -> bool:
    """Whether a formula holds at the start of a run whose last configuration is followed by that at ``back``."""
    return _along(formula, run, back)[0]


def _along(formula: Formula, run: Sequence[Mapping[str, int]], back: int) -> list[bool]:
    """Whether it holds at each place of the run."""
    match formula:
        case Not(operand):
            return [not value for value in _along(operand, run, back)]
        case And(left, right):
            return [a and b for a, b in zip(_along(left, run, back), _along(right, run, back), strict=True)]
        case Or(left, right):
            return [a or b for a, b in zip(_along(left, run, back), _along(right, run, back), strict=True)]
        case Implies(left, right):
            return [not a or b for a, b in zip(_along(left, run, back), _along(right, run, back), strict=True)]
        case Eventually(operand):
            return _sometimes(_along(operand, run, back), back)
        case Globally(operand):
            return [not value for value in _sometimes([not value for value in _along(operand, run, back)], back)]
        case _:
            return [holds(formula, values) for values in run]


def _sometimes(inside: list[bool], back: int) -> list[bool]:
    """At each place, whether it is so there or later; from each place of the loop on all of the loop is to come."""
    later = any(inside[back:])
    found = [later] * len(inside)
    for at in reversed(range(back)):
        found[at] = later = later or inside[at]
    return found
