"""LTL semantics on lassos: finite runs whose last configuration is followed by an earlier one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fdverify.threshold.ltl_formula import And, Eventually, Formula, Globally, Implies, Not, Or, evaluate_formula


def evaluate_on_lasso(formula: Formula, run: Sequence[Mapping[str, int]], back: int) -> bool:
    """Evaluate a formula at the start of a lasso; the last configuration is followed by the one at index ``back``."""
    return _evaluate_at_positions(formula, run, back)[0]


def _evaluate_at_positions(formula: Formula, run: Sequence[Mapping[str, int]], back: int) -> list[bool]:
    """Evaluate a formula at each position of the lasso."""
    match formula:
        case Not(operand):
            return [not value for value in _evaluate_at_positions(operand, run, back)]
        case And(left, right):
            return [a and b for a, b in _pair_values(left, right, run, back)]
        case Or(left, right):
            return [a or b for a, b in _pair_values(left, right, run, back)]
        case Implies(left, right):
            return [not a or b for a, b in _pair_values(left, right, run, back)]
        case Eventually(operand):
            return _evaluate_eventually(_evaluate_at_positions(operand, run, back), back)
        case Globally(operand):
            violations = [not value for value in _evaluate_at_positions(operand, run, back)]
            return [not value for value in _evaluate_eventually(violations, back)]
        case _:
            return [evaluate_formula(formula, values) for values in run]


def _pair_values(
    left: Formula, right: Formula, run: Sequence[Mapping[str, int]], back: int
) -> Iterator[tuple[bool, bool]]:
    """Pair the values of two formulas at each position."""
    return zip(_evaluate_at_positions(left, run, back), _evaluate_at_positions(right, run, back), strict=True)


def _evaluate_eventually(values: list[bool], back: int) -> list[bool]:
    """Evaluate ``<>`` at each position; from any position in the loop, the whole loop lies ahead."""
    later = any(values[back:])
    result = [later] * len(values)
    for position in reversed(range(back)):
        result[position] = later = later or values[position]
    return result
