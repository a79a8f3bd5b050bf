"""Results of functions, split into truth values, numbers and constants that can be compared one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fdverify.logic import is_array, is_number, is_truth
from fdverify.models.buffer import Buffer
from fdverify.models.system import State, Update

TRUTH, NUMBER = "a truth value", "a number"


def split_result(value: Any, ages: int, state: State | None) -> dict[str, Any]:
    """Split a result into its parts, keyed by where they are; leave out what an update does not change.

    A buffer is split into its contents: whether it has a message of each of ``ages`` ages.
    """
    return dict(_generate_parts(value, "", ages, state))


def _generate_parts(value: Any, where: str, ages: int, state: State | None) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Update):
        yield "assume", value.assume
        for name, change in value.changes.items():
            unchanged = state is not None and name in state.values() and change is state[name]
            if not unchanged:
                yield from _generate_parts(change, name, ages, state)
    elif isinstance(value, Buffer):
        for age in range(ages):
            yield f"{where}.has({age})", value.has(age)
    elif isinstance(value, Mapping):
        for key, element in value.items():
            yield from _generate_parts(element, f"{where}[{key!r}]", ages, state)
    elif isinstance(value, tuple | list):
        yield f"len({where})", len(value)
        for place, element in enumerate(value):
            yield from _generate_parts(element, f"{where}[{place}]", ages, state)
    else:
        yield where, value


def name_kind(value: Any) -> str:
    """Name the kind of a part: a truth value, a number, an array, or the name of its type."""
    if is_truth(value):
        return TRUTH
    if is_number(value):
        return NUMBER
    return "an array" if is_array(value) else f"{type(value).__name__}"


def read_state_part(name: str, state: State) -> Any:
    """Read from the state a part that an update does not mention."""
    variable, _, rest = name.partition(".has(")
    value = state[variable]
    return value.has(int(rest[:-1])) if rest else value
