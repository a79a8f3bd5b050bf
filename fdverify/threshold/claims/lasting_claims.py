"""Claims that hold from some moment on for ever, in the form that the encoding of runs needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fdverify.errors import UsageError
from fdverify.logic import shorten_value
from fdverify.threshold.automaton import Automaton
from fdverify.threshold.claims.nnf import disjoin_all
from fdverify.threshold.claims.thresholds import rewrite_in_thresholds
from fdverify.threshold.ltl_formula import (
    And,
    Formula,
    LinearComparison,
    Or,
    collect_formula_names,
    evaluate_formula,
)
from fdverify.threshold.text.write import format_formula

_MOST_CLAUSES = 200


@dataclass(frozen=True)
class LastingClaim:
    """One clause of a claim that holds for good: a guard, or a claim about which locations are empty.

    Wherever the guard ``unless``, which is expressed in thresholds, is false, all locations in ``empty`` are empty, and
    each set in ``inhabited`` has a location that is not.  An empty set in ``inhabited`` is therefore unsatisfiable.
    """

    unless: Formula
    empty: frozenset[str]
    inhabited: tuple[frozenset[str], ...]

    def is_satisfied(self, values: Mapping[str, int]) -> bool:
        if evaluate_formula(self.unless, values):
            return True
        inhabited = all(any(values[location] for location in locations) for locations in self.inhabited)
        return inhabited and not any(values[location] for location in self.empty)


def build_lasting_claims(automaton: Automaton, name: str, formula: Formula) -> list[LastingClaim]:
    """Convert a formula that holds for good into a conjunction of clauses; refuse it if it has another form."""
    clause = _build_clause(automaton, formula)
    if clause is not None:
        return [clause]
    if isinstance(formula, And):
        return [
            *build_lasting_claims(automaton, name, formula.left),
            *build_lasting_claims(automaton, name, formula.right),
        ]
    if _count_clauses(formula) > _MOST_CLAUSES:
        raise UsageError(f"{name}: a claim that must hold for good has more than {_MOST_CLAUSES} clauses")
    parts = _list_disjuncts(formula)
    for index, part in enumerate(parts):
        if isinstance(part, And):
            others = [*parts[:index], *parts[index + 1 :]]
            return [
                claim
                for side in (part.left, part.right)
                for claim in build_lasting_claims(automaton, name, disjoin_all([*others, side]))
            ]
    raise UsageError(
        f"{name}: a claim that must hold for good is not supported: {shorten_value(format_formula(formula))}",
        "it may be a guard, a claim that locations are empty or that one of several is not, or a guard || such a claim",
    )


def _count_clauses(formula: Formula) -> int:
    """Count the clauses of the conjunctive normal form."""
    match formula:
        case And(left, right):
            return _count_clauses(left) + _count_clauses(right)
        case Or(left, right):
            return _count_clauses(left) * _count_clauses(right)
        case _:
            return 1


def _build_clause(automaton: Automaton, formula: Formula) -> LastingClaim | None:
    """Convert a disjunction of guards and a claim about locations; return None if the formula is not one."""
    locations = {location.name for location in automaton.locations}
    counts = [part for part in _list_disjuncts(formula) if collect_formula_names(part) & locations]
    guards = [rewrite_in_thresholds(automaton, part) for part in _list_disjuncts(formula) if part not in counts]
    if not counts:
        return LastingClaim(disjoin_all(guards), frozenset(), (frozenset(),))
    occupation = _read_occupation(disjoin_all(counts), locations)
    return None if occupation is None else LastingClaim(disjoin_all(guards), *occupation)


def _list_disjuncts(formula: Formula) -> list[Formula]:
    return [*_list_disjuncts(formula.left), *_list_disjuncts(formula.right)] if isinstance(formula, Or) else [formula]


def _read_occupation(formula: Formula, locations: set[str]) -> tuple[frozenset[str], tuple[frozenset[str], ...]] | None:
    """Return the locations that a formula makes empty and the sets it makes inhabited, or None if it says more."""
    if isinstance(formula, And):
        left, right = _read_occupation(formula.left, locations), _read_occupation(formula.right, locations)
        return None if left is None or right is None else (left[0] | right[0], (*left[1], *right[1]))
    if isinstance(formula, Or):
        disjuncts = [_read_occupation(part, locations) for part in _list_disjuncts(formula)]
        sets = [each[1][0] for each in disjuncts if each is not None and not each[0] and len(each[1]) == 1]
        return (frozenset(), (frozenset().union(*sets),)) if len(sets) == len(disjuncts) else None
    assert isinstance(formula, LinearComparison), "in negation normal form, only comparisons are left"
    return _read_comparison(formula, locations)


def _read_comparison(
    comparison: LinearComparison, locations: set[str]
) -> tuple[frozenset[str], tuple[frozenset[str], ...]] | None:
    """Return the locations that a comparison makes empty, or the set it makes inhabited; None if it says neither."""
    difference, operator = comparison.subtract_sides(), comparison.operator
    if all(factor < 0 for _, factor in difference.factors):
        difference = difference.scale(-1)
        operator = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(operator, operator)
    counted, number = frozenset(difference.collect_names()), -difference.constant
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
