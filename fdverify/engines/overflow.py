"""Differences between numpy's numbers and Python's: overflow, sums of flags that are flags, fractions cut to integers.

The symbolic values are strict about integers and truth values.  So a model or a property is compiled to them before it
runs on arrays, and what they refuse is refused.  They also bound every intermediate value of a round, so that machine
integers are used only where nothing can overflow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import z3

from fdverify.engines.packing import HALF_WORD_BITS, WORD_BITS
from fdverify.errors import UsageError
from fdverify.models.system import Property, State, System
from fdverify.runs.layout import split_value
from fdverify.smt.bitvectors import BitvectorTranslator
from fdverify.symbolic.unrolling import Unrolling, build_fresh_choice, limit_choice
from fdverify.symbolic.values import Bits, Bool, Int, lift_truth

_GENEROUS = 1 << 16
"""The first question is about integers up to this size: few models have larger ones, and each question takes time."""


def check_compiles(system: System, claim: Property) -> None:
    """Refuse a model or a property that arrays would accept but symbolic values do not."""
    try:
        unrolling = Unrolling(system, anywhere=True)
        unrolling.add_round()
        lift_truth(claim.holds(unrolling.states[-1]))
    except TypeError as error:
        raise UsageError(f"{system.name} or {claim.name} mixes kinds of values: {error}") from error


class OverflowGuard:
    """Chooses, as integers grow, a type that holds all values computed from them."""

    def __init__(self, system: System, claim: Property) -> None:
        self._system = system
        self._claim = claim
        self._largest: list[int] = []
        self._shown: list[int] | None = None
        self._integer: type = np.int32

    def choose_integer(self, ranges: Sequence[tuple[int, int]]) -> type:
        """Choose the type of integers for a round from any state whose integers are in these ranges, or were before.

        Types only grow: from half a machine word over a whole one to Python's integers.
        """
        sizes = [max(-low, high) for low, high in ranges]
        self._largest = [max(pair) for pair in zip(sizes, self._largest or sizes, strict=True)]
        covered = self._shown is not None and all(a <= b for a, b in zip(sizes, self._shown, strict=True))
        if not covered and self._integer is not object:
            self._integer, self._shown = self._find_integer()
        return self._integer

    def _find_integer(self) -> tuple[type, list[int]]:
        """Find the smallest type, and sizes of integers for which it is shown to suffice."""
        # Ask about larger integers first, so that questions are rare.
        generous = [max(size, _GENEROUS) for size in self._largest]
        needed = self._count_needed_bits(generous)
        if needed <= HALF_WORD_BITS:
            return np.int32, generous
        least = self._count_needed_bits(self._largest)
        if least <= HALF_WORD_BITS:
            return np.int32, self._largest
        if needed <= WORD_BITS:
            return np.int64, generous
        return np.int64 if least <= WORD_BITS else object, self._largest

    def _count_needed_bits(self, sizes: list[int]) -> int:
        """Bound the bits of every value in a round from a state with integers of at most these sizes.

        At sub-rounds the states between phases are stored, too, so all their values count.
        """
        state = Unrolling(self._system, anywhere=True).states[0]
        words = BitvectorTranslator()
        integers = [part.term for part in self._list_parts(state) if isinstance(part, Int)]
        for term, size in zip(integers, sizes, strict=True):
            words.translate_fact(term == z3.If(z3.Bool(f"{term}?"), z3.IntVal(-size), z3.IntVal(size)))
        words.translate_fact(lift_truth(self._claim.holds(state)))
        self._translate_values(words, self._list_caps(state))
        for phase in self._system.phases:
            choices = {choice.name: build_fresh_choice(choice, state, 1) for choice in phase.choices}
            for choice in phase.choices:
                words.translate_fact(lift_truth(limit_choice(choice, state, choices[choice.name])))
            state, allowed = self._system.run_phase(phase, state, choices)
            words.translate_fact(lift_truth(allowed))
            self._translate_values(words, [*self._list_parts(state), *self._list_caps(state)])
        return words.widest

    def _list_parts(self, state: State) -> list[Any]:
        return [part for variable in self._system.variables for part in split_value(state[variable.name])]

    def _list_caps(self, state: State) -> list[Any]:
        return [variable.cap(state) for variable in self._system.variables if variable.cap is not None]

    def _translate_values(self, words: BitvectorTranslator, values: Sequence[Any]) -> None:
        for value in values:
            if isinstance(value, Bool | Bits):
                words.translate_non_integer(value.term)
            else:
                words.translate_integer(value.term if isinstance(value, Int) else z3.IntVal(int(value)))
