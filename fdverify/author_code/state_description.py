"""The description of a concrete state by what a function reads of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fdverify.author_code.sample_batch import SampleBatch
from fdverify.models.system import Ages, Choice, Choices, Labels, State, Subset

_FEW = 8


class _RecordingState(State):
    """A state that records the names that are read."""

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
        return _RecordingState({**self._values, **changes}, self._noted)


def find_names_read(call: Callable[[State, Choices], Any], state: State, choices: Choices) -> set[str]:
    """Return the names that a function reads of a state and of choices."""
    names: set[str] = set()
    try:
        call(_RecordingState(state.values(), names), _RecordingState(choices.values(), names))
    except Exception:  # what was read before the exception is what counts
        return names
    return names


def describe_state(group: SampleBatch, row: int, read: set[str], choices: Sequence[Choice]) -> str:
    """Describe the parameters, variables and choices that are read, or all of them if they are few."""
    known: dict[str, Any] = dict(group.values)
    for variable in group.system.variables:
        value = group.columns[variable.name][row].tolist()
        match variable.sort:
            case Ages():
                known[variable.name] = _list_ages(value)
            case Labels(names):
                known[variable.name] = names(value).name
            case _:
                known[variable.name] = value
    for choice in choices:
        value = group.choices[choice.name][row : row + 1].tolist()[0]
        known[choice.name] = _list_ages(value) if isinstance(choice, Subset) else value
    shown = {name: value for name, value in known.items() if name in read or len(known) <= _FEW}
    return ", ".join(f"{name} = {value}" for name, value in shown.items()) or "every state"


def _list_ages(members: list[bool]) -> list[int]:
    return [age for age, member in enumerate(members) if member]
