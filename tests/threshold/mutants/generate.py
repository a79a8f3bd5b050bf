"""Changed automata with specifications and parameters."""

from __future__ import annotations

import random
from itertools import product

from tests.threshold.mutants.automata import Automaton
from tests.threshold.mutants.bases import BASES
from tests.threshold.mutants.changes import changed
from tests.threshold.mutants.specifications import some_specifications

LARGEST = {"N": 5, "T": 2, "F": 2}


def some_parameters(source: random.Random, automaton: Automaton) -> dict[str, int]:
    """Mostly such that the assumptions hold and there are some processes."""
    everything = [
        dict(zip(LARGEST, values, strict=True)) for values in product(*(range(each + 1) for each in LARGEST.values()))
    ]
    factors, constant = automaton.processes
    least = 1 if source.randrange(8) == 0 else 2
    good = [
        each
        for each in everything
        if all(assumption.true_at(each) for assumption in automaton.assumptions)
        and sum(factor * each[name] for name, factor in factors) + constant >= least
    ]
    return source.choice(good if good and source.randrange(20) else everything)


def mutants(seed: int, count: int) -> list[tuple[str, dict[str, int]]]:
    """Texts of automata, each with small values for its parameters; always the same for a seed."""
    source = random.Random(seed)
    found = []
    for _ in range(count):
        automaton = changed(source, source.choice(BASES))
        text = automaton.text(some_specifications(source, automaton))
        found.append((text, some_parameters(source, automaton)))
    return found
