"""Guards as truth tables over thresholds.

Shared variables only grow, so a sum of them that has reached a number stays there.  Every comparison in a guard says
whether some such thresholds have been reached; which of them have is the *context*, and it changes at most as often as
there are thresholds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fdverify.errors import UsageError
from fdverify.threshold.automaton import Automaton
from fdverify.threshold.formula import Comparison, Formula, Linear, parts
from fdverify.threshold.write import linear_text


@dataclass(frozen=True)
class Threshold:
    """That a sum of shared variables has reached a number made of parameters."""

    reached: Linear
    needed: Linear


def thresholds(automaton: Automaton, others: Iterable[Formula] = ()) -> tuple[Threshold, ...]:
    """All thresholds that guards, and other formulas over shared variables, speak of; others are refused."""
    found: dict[Threshold, None] = {}
    for formula in (*(rule.guard for rule in automaton.rules), *others):
        for comparison in _comparisons(formula):
            found.update(dict.fromkeys(_thresholds_of(automaton, comparison)))
    return tuple(found)


def _comparisons(formula: Formula) -> list[Comparison]:
    return [part for part in parts(formula) if isinstance(part, Comparison)]


_REVERSED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _thresholds_of(automaton: Automaton, comparison: Comparison) -> list[Threshold]:
    """What the sum of shared variables must have reached for the comparison to be another one."""
    difference, operator = comparison.left.plus(comparison.right, -1), comparison.operator
    shared = {name: factor for name, factor in difference.factors if name in automaton.shared}
    if any(factor < 0 for factor in shared.values()):
        difference, operator = difference.times(-1), _REVERSED.get(operator, operator)
        shared = {name: -factor for name, factor in shared.items()}
    if any(factor < 0 for factor in shared.values()):
        text = f"{linear_text(comparison.left)} {comparison.operator} {linear_text(comparison.right)}"
        raise UsageError(
            f"{automaton.name}: whether {text} may change more than once", "compare a sum of shared variables"
        )
    reached = Linear.of(shared)
    number = reached.plus(difference, -1)  # the sum is compared with this
    here, next_one = Threshold(reached, number), Threshold(reached, number.plus(Linear(constant=1)))
    match operator:
        case _ if not shared:
            return []
        case "<" | ">=":
            return [here]
        case "<=" | ">":
            return [next_one]
        case _:
            return [here, next_one]
