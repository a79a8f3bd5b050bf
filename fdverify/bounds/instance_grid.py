"""The small instances to explore for a bound: the first parameter has the longest range where the others are least."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from fdverify.models.system import Parameter

_STEP = 3
"""The cost of a step of another parameter, in steps of the first: it makes an instance grow that much faster."""


def enumerate_rows(parameters: Sequence[Parameter], budget: int) -> Iterator[tuple[dict[str, int], range]]:
    """Enumerate values of all parameters but the first, each with the range of the first parameter."""
    first, *others = parameters
    for steps in product(range(budget // _STEP + 1), repeat=len(others)):
        left = budget - _STEP * sum(steps)
        if left >= 0:
            values = {p.name: p.least + step for p, step in zip(others, steps, strict=True)}
            yield values, range(first.least, first.least + left + 1)


def enumerate_points(parameters: Sequence[Parameter], budget: int) -> Iterator[tuple[tuple[int, ...], dict[str, int]]]:
    """Enumerate the points of all rows, each with the values of the parameters by name."""
    first = parameters[0].name
    for others, along in enumerate_rows(parameters, budget):
        for value in along:
            yield (value, *others.values()), {first: value, **others}


def describe_instances(names: Sequence[str], points: Iterable[tuple[int, ...]]) -> str:
    """Describe instances for a report, as ranges of the first parameter for each choice of the others."""
    first, *others = names
    along: dict[tuple[int, ...], list[int]] = {}
    for value, *rest in points:
        along.setdefault(tuple(rest), []).append(value)
    return "; ".join(
        ", ".join(
            [f"{first} {_format_range(values)}", *(f"{name} {value}" for name, value in zip(others, rest, strict=True))]
        )
        for rest, values in along.items()
    )


def _format_range(values: Sequence[int]) -> str:
    """Format numbers as ``0..3``, or with gaps as ``0, 2, 3``."""
    numbers = sorted(set(values))
    if len(numbers) > 1 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]}..{numbers[-1]}"
    return ", ".join(str(number) for number in numbers)
