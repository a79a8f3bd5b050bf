"""LTL semantics on lassos: finite runs whose last configuration is followed by an earlier one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fdverify.threshold.formula import And, Eventually, Formula, Globally, Implies, Not, Or, holds


def holds_of_run(formula: Formula, run: Sequence[Mapping[str, int]], back: int) -> bool:
    """Evaluate a formula at the start of a lasso; the last configuration is followed by the one at index ``back``."""
    return _along(formula, run, back)[0]


def _along(formula: Formula, run: Sequence[Mapping[str, int]], back: int) -> list[bool]:
    """Evaluate a formula at each position of the lasso."""
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


def _sometimes(values: list[bool], back: int) -> list[bool]:
    """Evaluate ``<>`` at each position; from any position in the loop, the whole loop lies ahead."""
    later = any(values[back:])
    result = [later] * len(values)
    for position in reversed(range(back)):
        result[position] = later = later or values[position]
    return result
