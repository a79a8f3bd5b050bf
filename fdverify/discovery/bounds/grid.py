"""Which instances to explore for a bound: small ones, in which one parameter goes far where the others are least."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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


def in_words(names: Sequence[str], points: Iterable[tuple[int, ...]]) -> str:
    """The instances that were explored, for a report: ranges of the first parameter where the others are the same."""
    first, *others = names
    along: dict[tuple[int, ...], list[int]] = {}
    for value, *rest in points:
        along.setdefault(tuple(rest), []).append(value)
    return "; ".join(
        ", ".join([f"{first} {_range(values)}", *(f"{name} {value}" for name, value in zip(others, rest, strict=True))])
        for rest, values in along.items()
    )


def _range(values: Sequence[int]) -> str:
    """``0..3``, or with gaps ``0, 2, 3``."""
    some = sorted(set(values))
    if len(some) > 1 and some == list(range(some[0], some[-1] + 1)):
        return f"{some[0]}..{some[-1]}"
    return ", ".join(str(value) for value in some)
