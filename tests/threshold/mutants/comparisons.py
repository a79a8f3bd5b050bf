"""Comparisons of shared variables, at random."""

from __future__ import annotations

import random
from dataclasses import replace

from tests.threshold.mutants.automata import OPERATORS, PARAMETERS, Automaton, Comparison
from tests.threshold.mutants.shorthand import sums


def changed_comparison(source: random.Random, comparison: Comparison, names: tuple[str, ...]) -> Comparison:
    """Another number, operator, factor or name; ``names`` are those of the left side."""
    match source.randrange(6):
        case 0 | 1:
            return replace(comparison, constant=comparison.constant + source.choice((-1, 1)))
        case 2:
            return replace(comparison, operator=source.choice(OPERATORS))
        case 3:
            right = dict(comparison.right)
            name = source.choice(PARAMETERS)
            right[name] = right.get(name, 0) + source.choice((-1, 1))
            return replace(comparison, right=tuple((name, factor) for name, factor in right.items() if factor))
        case 4:
            left = dict(comparison.left)
            name = source.choice(tuple(left))
            left[name] = 3 - left[name] if left[name] in (1, 2) else 1
            return replace(comparison, left=tuple(left.items()))
        case _:
            left = dict.fromkeys(source.sample(names, source.randint(1, min(2, len(names)))), 1)
            return replace(comparison, left=tuple(left.items()))


def some_guard(source: random.Random, automaton: Automaton) -> Comparison:
    """A comparison of shared variables, often one of the automaton's own or close to it."""
    own = [part for each in automaton.rules for part in each.guard.parts]
    if own and source.randrange(3):
        found = source.choice(own)
        if source.randrange(2):
            found = found.opposite()
        return found if source.randrange(2) else changed_comparison(source, found, automaton.shared)
    needed = source.choice(("1", "2", "T", "T + 1", "N - T", "N - F", "N"))
    left = source.sample(automaton.shared, source.randint(1, len(automaton.shared)))
    return Comparison(tuple((name, 1) for name in left), source.choice(OPERATORS), *sums(needed))
