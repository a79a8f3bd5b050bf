"""Temporal formulas of a finite run that moves no more once it has ended: it stays in its last configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fdverify.threshold.formula import And, Eventually, Formula, Globally, Implies, Not, Or, holds


def holds_of_run(formula: Formula, run: Sequence[Mapping[str, int]]) -> bool:
    """Whether a formula holds at the start of a run."""
    return _along(formula, run)[0]


def _along(formula: Formula, run: Sequence[Mapping[str, int]]) -> list[bool]:
    """Whether it holds at each place of the run."""
    match formula:
        case Not(operand):
            return [not value for value in _along(operand, run)]
        case And(left, right):
            return [a and b for a, b in zip(_along(left, run), _along(right, run), strict=True)]
        case Or(left, right):
            return [a or b for a, b in zip(_along(left, run), _along(right, run), strict=True)]
        case Implies(left, right):
            return [not a or b for a, b in zip(_along(left, run), _along(right, run), strict=True)]
        case Eventually(operand):
            inside = _along(operand, run)
            return [any(inside[at:]) for at in range(len(run))]
        case Globally(operand):
            inside = _along(operand, run)
            return [all(inside[at:]) for at in range(len(run))]
        case _:
            return [holds(formula, values) for values in run]
