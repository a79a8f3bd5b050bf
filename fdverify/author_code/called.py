"""How engines call an author's function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from fdverify.author_code.functions import AuthorFunction, author_function
from fdverify.models.system import Choices, Phase, State

Call: TypeAlias = Callable[[State, Choices], Any]


@dataclass(frozen=True)
class Called:
    """An author's function, and how an engine calls it with a state and the choices made in it."""

    author: AuthorFunction
    call: Call
    bare: Call
    """The same call without this package's wrappers, which cost as much as a small function."""

    @classmethod
    def of_state(cls, role: str, name: str, function: Callable[[State], Any]) -> Called:
        author = author_function(role, name, function)
        return cls(author, lambda s, c: function(s), lambda s, c: author.function(s))

    @classmethod
    def of_choices(cls, role: str, name: str, function: Callable[[Choices], Any]) -> Called:
        author = author_function(role, name, function)
        return cls(author, lambda s, c: function(c), lambda s, c: author.function(c))

    @classmethod
    def of_phase(cls, phase: Phase) -> Called:
        return cls(author_function("phase", phase.name, phase.run), phase.run, phase.run)
