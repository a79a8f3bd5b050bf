"""Guards expressed in thresholds.

A *threshold* is reached when a sum of shared variables is at least some number.  Shared variables only grow, so a
threshold that has been reached stays reached.  Every comparison in a guard is rewritten in terms of thresholds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fdverify.errors import UsageError
from fdverify.threshold.automaton import Automaton
from fdverify.threshold.claims.nnf import conjoin_formulas, convert_to_nnf, disjoin_formulas
from fdverify.threshold.ltl_formula import (
    And,
    Constant,
    Formula,
    LinearComparison,
    LinearExpression,
    Or,
    iterate_subformulas,
)
from fdverify.threshold.text.write import format_linear

REACHED, NOT_YET = ">=", "<"


@dataclass(frozen=True)
class Threshold:
    """The condition that a sum of shared variables (``reached``) is at least a sum of parameters (``needed``)."""

    reached: LinearExpression
    needed: LinearExpression

    def is_reached(self, values: Mapping[str, int]) -> bool:
        return self.reached.evaluate(values) >= self.needed.evaluate(values)


def rewrite_in_thresholds(automaton: Automaton, guard: Formula) -> Formula:
    """Rewrite a guard so that every comparison of shared variables says that a threshold is reached, or not yet.

    Refuse a comparison whose truth value may change more than once.
    """
    return _rewrite_guard(automaton, convert_to_nnf(guard))


def _rewrite_guard(automaton: Automaton, guard: Formula) -> Formula:
    match guard:
        case And(left, right):
            return And(_rewrite_guard(automaton, left), _rewrite_guard(automaton, right))
        case Or(left, right):
            return Or(_rewrite_guard(automaton, left), _rewrite_guard(automaton, right))
        case LinearComparison():
            return _rewrite_comparison(automaton, guard)
        case _:
            return guard


_REVERSED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _rewrite_comparison(automaton: Automaton, comparison: LinearComparison) -> Formula:
    difference, operator = comparison.subtract_sides(), comparison.operator
    shared = {name: factor for name, factor in difference.factors if name in automaton.shared}
    if not shared:
        return comparison
    if any(factor < 0 for factor in shared.values()):
        difference, operator = difference.scale(-1), _REVERSED.get(operator, operator)
        shared = {name: -factor for name, factor in shared.items()}
    if any(factor < 0 for factor in shared.values()):
        text = f"{format_linear(comparison.left)} {comparison.operator} {format_linear(comparison.right)}"
        raise UsageError(
            f"{automaton.name}: the truth of {text} may change more than once",
            "compare a sum of shared variables with parameters",
        )
    reached = LinearExpression.from_factors(shared)
    number = reached.add(difference, -1)  # the right-hand side that the sum is compared with
    more = number.add(LinearExpression(constant=1))
    match operator:
        case "<" | ">=":
            return LinearComparison(reached, operator, number)
        case "<=":
            return LinearComparison(reached, NOT_YET, more)
        case ">":
            return LinearComparison(reached, REACHED, more)
        case "==":
            return And(LinearComparison(reached, REACHED, number), LinearComparison(reached, NOT_YET, more))
        case _:
            return Or(LinearComparison(reached, NOT_YET, number), LinearComparison(reached, REACHED, more))


def collect_thresholds(automaton: Automaton, guards: Iterable[Formula]) -> dict[Threshold, set[str]]:
    """Collect the thresholds in rewritten guards, each with the operators (reached, not yet) that it occurs with."""
    operators: dict[Threshold, set[str]] = {}
    for guard in guards:
        for part in iterate_subformulas(guard):
            if isinstance(part, LinearComparison) and part.left.collect_names() & set(automaton.shared):
                operators.setdefault(Threshold(part.left, part.right), set()).add(part.operator)
    return operators


Context = Mapping[Threshold, bool]
"""For each threshold, whether it is reached."""


def evaluate_in_context(guard: Formula, context: Context) -> Formula:
    """Evaluate the thresholds of a rewritten guard in a context; only claims about parameters remain."""
    match guard:
        case And(left, right):
            return conjoin_formulas(evaluate_in_context(left, context), evaluate_in_context(right, context))
        case Or(left, right):
            return disjoin_formulas(evaluate_in_context(left, context), evaluate_in_context(right, context))
        case LinearComparison(left, operator, right) if (known := context.get(Threshold(left, right))) is not None:
            return Constant(known == (operator == REACHED))
        case _:
            return guard
