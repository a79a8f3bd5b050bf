"""Specifications at random, one of each shape."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.threshold.mutants.automata import Automaton
from tests.threshold.mutants.claims import some_claim, some_fairness, some_goal, some_safety, some_start
from tests.threshold.mutants.formulas import Formula, bare
from tests.threshold.mutants.nested import nested
from tests.threshold.mutants.odd import OddWords, odd
from tests.threshold.mutants.shapes import recur, recur_stay, stay
from tests.threshold.mutants.words import Words

SIMPLE = ("from_start", "safe", "fair_reach", "fair_response", "response", "reach", "settle")
RICH: dict[str, Callable[[Words], Formula]] = {
    "recur": recur,
    "stay": stay,
    "recur_stay": recur_stay,
    "nested": nested,
}
SPECIFICATIONS = (*SIMPLE, *RICH, "odd")
"""What the specifications of each automaton are called, by shape."""


def some_specifications(source: random.Random, automaton: Automaton) -> dict[str, str]:
    """One of each shape."""
    words = Words(source, automaton)
    return {
        **simple_specifications(source, automaton),
        **{name: bare(shape(words).text) for name, shape in RICH.items()},
        "odd": bare(odd(OddWords(source, automaton)).text),
    }


def simple_specifications(source: random.Random, automaton: Automaton) -> dict[str, str]:

    def start() -> str:
        return some_start(source, automaton)

    def claim() -> str:
        return some_claim(source, automaton)

    def safety() -> str:
        return some_safety(source, automaton)

    def goal() -> str:
        return some_goal(source, automaton)

    def fair() -> str:
        return some_fairness(source, automaton)

    formulas = (
        f"{start()} -> []({safety()})",
        f"[]({safety()})",
        f"<>[]({fair()}) -> ({start()} -> <>({goal()}))",
        f"<>[]({fair()}) -> [](({claim()}) -> <>({goal()}))",
        f"[](({claim()}) -> <>({goal()}))",
        f"<>({claim()})",
        f"<>[]({claim()})",
    )
    return dict(zip(SIMPLE, formulas, strict=True))
