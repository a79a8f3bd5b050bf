"""Claims that hold from some moment on for ever, in the form that the encoding of runs needs."""

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
    """One clause of a claim that holds for good: a guard, or a claim about which locations are empty.

    Wherever the guard ``unless``, which is expressed in thresholds, is false, all locations in ``empty`` are empty, and
    each set in ``inhabited`` has a location that is not.  An empty set in ``inhabited`` is therefore unsatisfiable.
    """

    unless: Formula
    empty: frozenset[str]
    inhabited: tuple[frozenset[str], ...]

    def holds(self, values: Mapping[str, int]) -> bool:
        if holds(self.unless, values):
            return True
        inhabited = all(any(values[location] for location in locations) for locations in self.inhabited)
        return inhabited and not any(values[location] for location in self.empty)


def lasting(automaton: Automaton, name: str, formula: Formula) -> list[Lasting]:
    """Convert a formula that holds for good into a conjunction of clauses; refuse it if it has another form."""
    clause = _clause(automaton, formula)
    if clause is not None:
        return [clause]
    if isinstance(formula, And):
        return [*lasting(automaton, name, formula.left), *lasting(automaton, name, formula.right)]
    if _clauses(formula) > _MOST_CLAUSES:
        raise UsageError(f"{name}: a claim that must hold for good has more than {_MOST_CLAUSES} clauses")
    parts = _disjuncts(formula)
    for index, part in enumerate(parts):
        if isinstance(part, And):
            others = [*parts[:index], *parts[index + 1 :]]
            return [
                claim for side in (part.left, part.right) for claim in lasting(automaton, name, any_of([*others, side]))
            ]
    raise UsageError(
        f"{name}: a claim that must hold for good is not supported: {shortened(formula_text(formula))}",
        "it may be a guard, a claim that locations are empty or that one of several is not, or a guard || such a claim",
    )


def _clauses(formula: Formula) -> int:
    """Count the clauses of the conjunctive normal form."""
    match formula:
        case And(left, right):
            return _clauses(left) + _clauses(right)
        case Or(left, right):
            return _clauses(left) * _clauses(right)
        case _:
            return 1


def _clause(automaton: Automaton, formula: Formula) -> Lasting | None:
    """Convert a disjunction of guards and a claim about locations; return None if the formula is not one."""
    locations = {location.name for location in automaton.locations}
    counts = [part for part in _disjuncts(formula) if names(part) & locations]
    guards = [made_of_thresholds(automaton, part) for part in _disjuncts(formula) if part not in counts]
    if not counts:
        return Lasting(any_of(guards), frozenset(), (frozenset(),))
    occupation = _occupation(any_of(counts), locations)
    return None if occupation is None else Lasting(any_of(guards), *occupation)


def _disjuncts(formula: Formula) -> list[Formula]:
    return [*_disjuncts(formula.left), *_disjuncts(formula.right)] if isinstance(formula, Or) else [formula]


def _occupation(formula: Formula, locations: set[str]) -> tuple[frozenset[str], tuple[frozenset[str], ...]] | None:
    """Return the locations that a formula makes empty and the sets it makes inhabited, or None if it says more."""
    if isinstance(formula, And):
        left, right = _occupation(formula.left, locations), _occupation(formula.right, locations)
        return None if left is None or right is None else (left[0] | right[0], (*left[1], *right[1]))
    if isinstance(formula, Or):
        disjuncts = [_occupation(part, locations) for part in _disjuncts(formula)]
        sets = [each[1][0] for each in disjuncts if each is not None and not each[0] and len(each[1]) == 1]
        return (frozenset(), (frozenset().union(*sets),)) if len(sets) == len(disjuncts) else None
    assert isinstance(formula, Comparison), "in negation normal form, only comparisons are left"
    return _counted(formula, locations)


def _counted(comparison: Comparison, locations: set[str]) -> tuple[frozenset[str], tuple[frozenset[str], ...]] | None:
    """Return the locations that a comparison makes empty, or the set it makes inhabited; None if it says neither."""
    difference, operator = comparison.difference(), comparison.operator
    if all(factor < 0 for _, factor in difference.factors):
        difference = difference.times(-1)
        operator = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(operator, operator)
    counted, number = frozenset(difference.names()), -difference.constant
    least = min(factor for _, factor in difference.factors)
    if not counted <= locations or least < 0:
        return None
    match operator:
        case "<=":
            operator, number = "<", number + 1
        case ">":
            operator, number = ">=", number + 1
    if (operator, number) == ("==", 0) or (operator == "<" and 1 <= number <= least):
        return counted, ()
    if (operator, number) == ("!=", 0) or (operator == ">=" and 1 <= number <= least):
        return frozenset(), (counted,)
    return None
