"""Initial configurations at fixed parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from tests.threshold.oracle.formulas import NOTHING, Both, Compared, Formula, Sum, names_of, true_at
from tests.threshold.oracle.reader import Automaton

MOST_CONFIGURATIONS = 20_000


class TooLargeError(Exception):
    """There are more configurations than are worth listing."""


def refuse_too_many(configurations: int) -> None:
    if configurations > MOST_CONFIGURATIONS:
        raise TooLargeError


Configuration = tuple[int, ...]
"""How many processes are at each location, then the values of shared variables."""


def initial_configurations(automaton: Automaton, parameters: Mapping[str, int]) -> list[Configuration]:
    names = automaton.locations + automaton.shared
    claims = list(chain.from_iterable(conjuncts(formula) for formula in automaton.inits))
    if not all(true_at(claim, parameters) for claim in claims if names_of(claim) <= set(parameters)):
        return []
    most = upper_bounds(names, claims, parameters)
    if most is None:
        return []
    found: list[Configuration] = []
    values = dict(parameters)

    def assign(left: list[str]) -> None:
        """Try all values for what is left, and go on where no claim fails of which all names have a value."""
        if not left:
            found.append(tuple(values[name] for name in names))
            refuse_too_many(len(found))
            return
        name = left[0]
        settled = [claim for claim in claims if name in names_of(claim) and not names_of(claim) & set(left[1:])]
        for value in range(most[name] + 1):
            values[name] = value
            if all(true_at(claim, values) for claim in settled):
                assign(left[1:])
        del values[name]

    assign(names)
    return found


def conjuncts(formula: Formula) -> list[Formula]:
    return [*conjuncts(formula.left), *conjuncts(formula.right)] if isinstance(formula, Both) else [formula]


def upper_bounds(
    names: Sequence[str], claims: Sequence[Formula], parameters: Mapping[str, int]
) -> dict[str, int] | None:
    """What each name is at most, as all are natural numbers; none if that leaves nothing for one of them.

    A claim that a sum is at most zero bounds each name that is added in it, by what the others can make up for.
    """
    sums: list[Sum] = []
    for claim in claims:
        if isinstance(claim, Compared):
            difference = claim.difference.given(parameters)
            sums += [NOTHING.plus(difference, sign) for sign, says in LIMITS.items() if claim.operator in says]
    most: dict[str, int] = {}
    for _ in names:  # one bound may need another first
        for each in sums:
            subtracted = [(name, factor) for name, factor in each.factors if factor < 0]
            if any(name not in most for name, _ in subtracted):
                continue
            least = each.constant + sum(factor * most[name] for name, factor in subtracted)
            for name, factor in each.factors:
                if factor > 0:
                    bound = -least // factor
                    if bound < 0:
                        return None
                    most[name] = min(bound, most.get(name, bound))
    if unbounded := set(names) - set(most):
        raise ValueError(f"nothing bounds {', '.join(sorted(unbounded))} at first")
    return most


LIMITS = {1: ("==", "<=", "<"), -1: ("==", ">=", ">")}
"""Comparisons that say that a sum, or its negative, is at most zero."""
