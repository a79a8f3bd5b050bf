"""How engines call an author's function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from fdverify.author_code.author_functions import AuthorFunction, build_author_function
from fdverify.models.system import Choices, Phase, State

Call: TypeAlias = Callable[[State, Choices], Any]


@dataclass(frozen=True)
class AuthorCall:
    """An author's function, and how an engine calls it with a state and the choices made in it."""

    author: AuthorFunction
    call: Call
    call_unwrapped: Call
    """The same call without this package's wrappers, which cost as much as a small function."""

    @classmethod
    def from_state_function(cls, role: str, name: str, function: Callable[[State], Any]) -> AuthorCall:
        author = build_author_function(role, name, function)
        return cls(author, lambda s, c: function(s), lambda s, c: author.function(s))

    @classmethod
    def from_choices_function(cls, role: str, name: str, function: Callable[[Choices], Any]) -> AuthorCall:
        author = build_author_function(role, name, function)
        return cls(author, lambda s, c: function(c), lambda s, c: author.function(c))

    @classmethod
    def from_phase(cls, phase: Phase) -> AuthorCall:
        return cls(build_author_function("phase", phase.name, phase.run), phase.run, phase.run)
