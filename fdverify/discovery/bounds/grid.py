"""Which instances to explore for a bound: small ones, in which one parameter goes far where the others are least."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from fdverify.models.system import Parameter

_STEP = 3
"""What a step of another parameter costs: it makes an instance grow that much faster."""


def rows(parameters: Sequence[Parameter], budget: int) -> Iterator[tuple[dict[str, int], range]]:
    """Values of all parameters but the first, and the range of the first with them."""
    first, *others = parameters
    for taken in product(range(budget // _STEP + 1), repeat=len(others)):
        left = budget - _STEP * sum(taken)
        if left >= 0:
            values = {p.name: p.least + step for p, step in zip(others, taken, strict=True)}
            yield values, range(first.least, first.least + left + 1)


def in_words(parameters: Sequence[Parameter], budget: int) -> str:
    """The same range of instances, for a report."""
    first = parameters[0].name
    return "; ".join(
        ", ".join([f"{first} {along.start}..{along.stop - 1}", *(f"{name} {value}" for name, value in values.items())])
        for values, along in rows(parameters, budget)
    )
