"""Specifications at random, one of each shape."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.threshold.mutants.automata import Automaton
from tests.threshold.mutants.formulas import Formula, bare
from tests.threshold.mutants.nested import nested
from tests.threshold.mutants.odd import OddWords
from tests.threshold.mutants.shapes import recur, recur_stay, stay
from tests.threshold.mutants.simple import fair_reach, fair_response, from_start, reach, response, safe, settle
from tests.threshold.mutants.words import Words

SHAPES: dict[str, Callable[[Words], Formula]] = {
    "from_start": from_start,
    "safe": safe,
    "fair_reach": fair_reach,
    "fair_response": fair_response,
    "response": response,
    "reach": reach,
    "settle": settle,
    "recur": recur,
    "stay": stay,
    "recur_stay": recur_stay,
    "nested": nested,
}
SPECIFICATIONS = (*SHAPES, "odd")
"""What the specifications of each automaton are called: by shape, or that claims are written in an odd way."""


def some_specifications(source: random.Random, automaton: Automaton) -> dict[str, str]:
    words = Words(source, automaton)
    formulas = {name: shape(words) for name, shape in SHAPES.items()}
    formulas["odd"] = source.choice(list(SHAPES.values()))(OddWords(source, automaton))
    return {name: bare(formula.text) for name, formula in formulas.items()}
