"""Guards made of thresholds.

Shared variables only grow, so a sum of them that has reached a number stays there.  Every comparison in a guard says
whether some such *thresholds* have been reached.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fdverify.errors import UsageError
from fdverify.threshold.automaton import Automaton
from fdverify.threshold.claims.normal import both, either, positive
from fdverify.threshold.formula import And, Comparison, Constant, Formula, Linear, Or, parts
from fdverify.threshold.text.write import linear_text

REACHED, NOT_YET = ">=", "<"


@dataclass(frozen=True)
class Threshold:
    """That a sum of shared variables has reached a number made of parameters."""

    reached: Linear
    needed: Linear

    def is_reached(self, values: Mapping[str, int]) -> bool:
        return self.reached.at(values) >= self.needed.at(values)


def made_of_thresholds(automaton: Automaton, guard: Formula) -> Formula:
    """The same guard, in which every comparison of shared variables says that a threshold is reached, or not yet.

    One that may change more than once is refused.
    """
    return _rewritten(automaton, positive(guard))


def _rewritten(automaton: Automaton, guard: Formula) -> Formula:
    match guard:
        case And(left, right):
            return And(_rewritten(automaton, left), _rewritten(automaton, right))
        case Or(left, right):
            return Or(_rewritten(automaton, left), _rewritten(automaton, right))
        case Comparison():
            return _monotone(automaton, guard)
        case _:
            return guard


_REVERSED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _monotone(automaton: Automaton, comparison: Comparison) -> Formula:
    difference, operator = comparison.difference(), comparison.operator
    shared = {name: factor for name, factor in difference.factors if name in automaton.shared}
    if not shared:
        return comparison
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
    more = number.plus(Linear(constant=1))
    match operator:
        case "<" | ">=":
            return Comparison(reached, operator, number)
        case "<=":
            return Comparison(reached, NOT_YET, more)
        case ">":
            return Comparison(reached, REACHED, more)
        case "==":
            return And(Comparison(reached, REACHED, number), Comparison(reached, NOT_YET, more))
        case _:
            return Or(Comparison(reached, NOT_YET, number), Comparison(reached, REACHED, more))


def thresholds(automaton: Automaton, guards: Iterable[Formula]) -> dict[Threshold, set[str]]:
    """The thresholds that guards made of thresholds speak of, and how: that they are reached, or not yet."""
    found: dict[Threshold, set[str]] = {}
    for guard in guards:
        for part in parts(guard):
            if isinstance(part, Comparison) and part.left.names() & set(automaton.shared):
                found.setdefault(Threshold(part.left, part.right), set()).add(part.operator)
    return found


Context = Mapping[Threshold, bool]
"""Which thresholds are reached."""


def settled(guard: Formula, context: Context) -> Formula:
    """What a guard made of thresholds comes to in a context: only what it says of parameters is left."""
    match guard:
        case And(left, right):
            return both(settled(left, context), settled(right, context))
        case Or(left, right):
            return either(settled(left, context), settled(right, context))
        case Comparison(left, operator, right) if (known := context.get(Threshold(left, right))) is not None:
            return Constant(known == (operator == REACHED))
        case _:
            return guard
