"""What holds for good, as the encoding of runs needs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fdverify.errors import UsageError
from fdverify.logic import shortened
from fdverify.threshold.automaton import Automaton
from fdverify.threshold.claims.normal import any_of
from fdverify.threshold.claims.thresholds import made_of_thresholds
from fdverify.threshold.formula import And, Comparison, Formula, Or, holds, names
from fdverify.threshold.text.write import formula_text

_MOST_CLAUSES = 200


@dataclass(frozen=True)
class Lasting:
    """What holds for good, as engines need it.

    Where ``unless``, a guard made of thresholds, does not hold, the locations of ``empty`` are so, and of each set
    of ``inhabited`` some location is not: of a set without locations that is false.
    """

    unless: Formula
    empty: frozenset[str]
    inhabited: tuple[frozenset[str], ...]

    def holds(self, values: Mapping[str, int]) -> bool:
        if holds(self.unless, values):
            return True
        inhabited = all(any(values[place] for place in some) for some in self.inhabited)
        return inhabited and not any(values[place] for place in self.empty)


def lasting(automaton: Automaton, name: str, formula: Formula) -> list[Lasting]:
    """A claim that holds for good, as a conjunction; one of another form is refused."""
    whole = _clause(automaton, formula)
    if whole is not None:
        return [whole]
    if isinstance(formula, And):
        return [*lasting(automaton, name, formula.left), *lasting(automaton, name, formula.right)]
    if _clauses(formula) > _MOST_CLAUSES:
        raise UsageError(f"{name}: what holds for good in a run that breaks it has more than {_MOST_CLAUSES} clauses")
    parts = _disjuncts(formula)
    for at, part in enumerate(parts):
        if isinstance(part, And):
            others = [*parts[:at], *parts[at + 1 :]]
            return [
                claim for side in (part.left, part.right) for claim in lasting(automaton, name, any_of([*others, side]))
            ]
    raise UsageError(
        f"{name}: what holds for good in a run that breaks it must say that locations are empty, or that one of some is"
        f" not, or a guard, or a guard or one of these, and not {shortened(formula_text(formula))}"
    )


def _clauses(formula: Formula) -> int:
    """How many clauses a formula has if it is written as a conjunction of disjunctions."""
    match formula:
        case And(left, right):
            return _clauses(left) + _clauses(right)
        case Or(left, right):
            return _clauses(left) * _clauses(right)
        case _:
            return 1


def _clause(automaton: Automaton, formula: Formula) -> Lasting | None:
    """A disjunction of guards, and of a claim about locations, if it is one."""
    locations = {location.name for location in automaton.locations}
    counts = [part for part in _disjuncts(formula) if names(part) & locations]
    guards = [made_of_thresholds(automaton, part) for part in _disjuncts(formula) if part not in counts]
    if not counts:
        return Lasting(any_of(guards), frozenset(), (frozenset(),))
    found = _occupation(any_of(counts), locations)
    return None if found is None else Lasting(any_of(guards), *found)


def _disjuncts(formula: Formula) -> list[Formula]:
    return [*_disjuncts(formula.left), *_disjuncts(formula.right)] if isinstance(formula, Or) else [formula]


def _occupation(formula: Formula, locations: set[str]) -> tuple[frozenset[str], tuple[frozenset[str], ...]] | None:
    """Which locations are empty, and of which sets one is not; none if it says something else."""
    if isinstance(formula, And):
        left, right = _occupation(formula.left, locations), _occupation(formula.right, locations)
        return None if left is None or right is None else (left[0] | right[0], (*left[1], *right[1]))
    if isinstance(formula, Or):
        either = [_occupation(part, locations) for part in _disjuncts(formula)]
        sets = [each[1][0] for each in either if each is not None and not each[0] and len(each[1]) == 1]
        return (frozenset(), (frozenset().union(*sets),)) if len(sets) == len(either) else None
    assert isinstance(formula, Comparison), "there is nothing else without temporal operators"
    return _counted(formula, locations)


def _counted(comparison: Comparison, locations: set[str]) -> tuple[frozenset[str], tuple[frozenset[str], ...]] | None:
    """Whether the comparison says that locations are empty, or that one of them is not."""
    difference, operator = comparison.difference(), comparison.operator
    if all(factor < 0 for _, factor in difference.factors):
        difference = difference.times(-1)
        operator = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(operator, operator)
    which, number = frozenset(difference.names()), -difference.constant
    least = min(factor for _, factor in difference.factors)
    if not which <= locations or least < 0:
        return None
    match operator:
        case "<=":
            operator, number = "<", number + 1
        case ">":
            operator, number = ">=", number + 1
    if (operator, number) == ("==", 0) or (operator == "<" and 1 <= number <= least):
        return which, ()
    if (operator, number) == ("!=", 0) or (operator == ">=" and 1 <= number <= least):
        return frozenset(), (which,)
    return None
