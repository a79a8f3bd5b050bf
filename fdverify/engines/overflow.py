"""Differences between numpy's numbers and Python's: overflow, sums of flags that are flags, fractions cut to integers.

The symbolic values are strict about integers and truth values.  So a model or a property is compiled to them before it
runs on arrays, and what they refuse is refused.  They also bound every intermediate value of a round, so that machine
integers are used only where nothing can overflow.
"""

from __future__ import annotations

from typing import Any

import z3
from numpy.typing import NDArray

from fdverify.engines.state_table import WORD_BITS
from fdverify.errors import UsageError
from fdverify.models.system import Property, System
from fdverify.runs.layout import split_value
from fdverify.smt.bitvectors import BitvectorTranslator
from fdverify.symbolic.unrolling import Unrolling
from fdverify.symbolic.values import Int, lift_truth

_GENEROUS = 1 << 16
"""The first question is about integers up to this size: few models have larger ones, and each question takes time."""


class PossibleOverflow(Exception):
    """A value may not fit into a machine integer."""


def check_compiles(system: System, claim: Property) -> None:
    """Refuse a model or a property that arrays would accept but symbolic values do not."""
    try:
        unrolling = Unrolling(system, anywhere=True)
        unrolling.add_round()
        lift_truth(claim.holds(unrolling.states[-1]))
    except TypeError as error:
        raise UsageError(f"{system.name} or {claim.name} mixes kinds of values: {error}") from error


class OverflowGuard:
    """Checks, as integers grow, that all values computed from them still fit into machine integers."""

    def __init__(self, system: System, claim: Property) -> None:
        self._system = system
        self._claim = claim
        self._shown: list[int] | None = None

    def check(self, columns: list[NDArray[Any]]) -> None:
        """Raise unless a round from any state with integers this large stays within machine integers."""
        sizes = [max(abs(int(column.min())), abs(int(column.max()))) for column in columns]
        if self._shown is not None and all(size <= most for size, most in zip(sizes, self._shown, strict=True)):
            return
        # Ask about twice the size, so that questions are rare.
        enough = [2 * size + 1 for size in sizes]
        generous = [max(size, _GENEROUS) for size in enough]
        self._shown = next((asked for asked in (generous, enough) if self._count_needed_bits(asked) <= WORD_BITS), None)
        if self._shown is None:
            raise PossibleOverflow

    def _count_needed_bits(self, sizes: list[int]) -> int:
        """Bound the bits of every value in a round from a state with integers of at most these sizes."""
        unrolling = Unrolling(self._system, anywhere=True)
        words = BitvectorTranslator()
        first = unrolling.states[0]
        parts = [part for v in self._system.variables for part in split_value(first[v.name]) if isinstance(part, Int)]
        for part, size in zip(parts, sizes, strict=True):
            words.translate_fact(part.term == z3.If(z3.Bool(f"{part.term}?"), z3.IntVal(-size), z3.IntVal(size)))
        unrolling.add_round()
        caps = [part.cap(first) for part in self._system.variables if part.cap is not None]
        compared = [lift_truth(cap == 0) for cap in caps if isinstance(cap, Int)]
        for formula in [lift_truth(self._claim.holds(first)), *compared, *unrolling.take_new_facts()]:
            words.translate_fact(formula)
        return words.widest
