"""Guards expressed in thresholds.

A *threshold* is reached when a sum of shared variables is at least some number.  Shared variables only grow, so a
threshold that has been reached stays reached.  Every comparison in a guard is rewritten in terms of thresholds.
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
    """The condition that a sum of shared variables (``reached``) is at least a sum of parameters (``needed``)."""

    reached: Linear
    needed: Linear

    def is_reached(self, values: Mapping[str, int]) -> bool:
        return self.reached.at(values) >= self.needed.at(values)


def made_of_thresholds(automaton: Automaton, guard: Formula) -> Formula:
    """Rewrite a guard so that every comparison of shared variables says that a threshold is reached, or not yet.

    Refuse a comparison whose truth value may change more than once.
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
            f"{automaton.name}: the truth of {text} may change more than once",
            "compare a sum of shared variables with parameters",
        )
    reached = Linear.of(shared)
    number = reached.plus(difference, -1)  # the right-hand side that the sum is compared with
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
    """Collect the thresholds in rewritten guards, each with the operators (reached, not yet) that it occurs with."""
    operators: dict[Threshold, set[str]] = {}
    for guard in guards:
        for part in parts(guard):
            if isinstance(part, Comparison) and part.left.names() & set(automaton.shared):
                operators.setdefault(Threshold(part.left, part.right), set()).add(part.operator)
    return operators


Context = Mapping[Threshold, bool]
"""For each threshold, whether it is reached."""


def settled(guard: Formula, context: Context) -> Formula:
    """Evaluate the thresholds of a rewritten guard in a context; only claims about parameters remain."""
    match guard:
        case And(left, right):
            return both(settled(left, context), settled(right, context))
        case Or(left, right):
            return either(settled(left, context), settled(right, context))
        case Comparison(left, operator, right) if (known := context.get(Threshold(left, right))) is not None:
            return Constant(known == (operator == REACHED))
        case _:
            return guard
