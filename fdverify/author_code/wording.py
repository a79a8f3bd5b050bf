"""A concrete state in few words: what a function reads of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fdverify.author_code.points import Points
from fdverify.models.system import Ages, Choice, Choices, Flag, Labels, State

_FEW = 8


class _NotedState(State):
    """A state that notes what is read of it."""

    __slots__ = ("_noted",)
    _noted: set[str]

    def __init__(self, values: Any, noted: set[str]) -> None:
        super().__init__(values)
        object.__setattr__(self, "_noted", noted)

    def __getattr__(self, name: str) -> Any:
        self._noted.add(name)
        return super().__getattr__(name)

    def __getitem__(self, name: str) -> Any:
        self._noted.add(name)
        return super().__getitem__(name)

    def changed(self, changes: Any) -> State:
        return _NotedState({**self._values, **changes}, self._noted)


def names_read(call: Callable[[State, Choices], Any], state: State, choices: Choices) -> set[str]:
    """What a function reads of a state and of choices."""
    noted: set[str] = set()
    try:
        call(_NotedState(state.values(), noted), _NotedState(choices.values(), noted))
    except Exception:  # it raises there: what was read before is what counts
        return noted
    return noted


def in_words(group: Points, at: int, read: set[str], choices: Sequence[Choice]) -> str:
    """The parameters, variables and choices that are read, or all of few."""
    known: dict[str, Any] = dict(group.values)
    for variable in group.system.variables:
        value = group.columns[variable.name][at].tolist()
        match variable.sort:
            case Ages():
                known[variable.name] = _ages(value)
            case Labels(names):
                known[variable.name] = names(value).name
            case _:
                known[variable.name] = value
    for choice in choices:
        value = group.choices[choice.name][at].tolist()
        known[choice.name] = value if isinstance(choice, Flag) else _ages(value)
    told = {name: value for name, value in known.items() if name in read or len(known) <= _FEW}
    return ", ".join(f"{name} = {value}" for name, value in told.items()) or "every state"


def _ages(members: list[bool]) -> list[int]:
    return [age for age, member in enumerate(members) if member]
