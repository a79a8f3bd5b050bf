"""The functions of an author, which engines run on plain values, on arrays and on symbols, and how they call them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any, TypeAlias

from fdverify.author_code.ownership import unwrap_function
from fdverify.errors import SourceLocation, UsageError
from fdverify.models.system import Choices, Phase, State, System, Variable, is_always_true


@dataclass(frozen=True)
class AuthorFunction:
    """A function that an author wrote, with its role and its name in that role."""

    role: str
    name: str
    function: Callable[..., Any]

    def build_error(self, problem: str, hint: str) -> UsageError:
        """Build an error at the line where the function is written, or with a note that it has no source."""
        code, message = find_code(self.function), f"{self} {problem}"
        if code is None:
            return UsageError(f"a function without source: {message}", hint)
        return UsageError(message, hint, SourceLocation.from_code(code))

    def __str__(self) -> str:
        return f"{self.role} {self.name}"


def find_code(function: Any) -> CodeType | None:
    """Return the code object of a function, a method or a callable object."""
    for candidate in (function, getattr(function, "__func__", None), vars(type(function)).get("__call__")):
        code = getattr(candidate, "__code__", None)
        if isinstance(code, CodeType):
            return code
    return None


def build_author_function(role: str, name: str, function: Callable[..., Any]) -> AuthorFunction:
    """Build the record of an author's function, without the wrappers that this package added."""
    return AuthorFunction(role, name, unwrap_function(function))


def list_system_functions(system: System) -> tuple[AuthorFunction, ...]:
    """List the functions of a system, except for conditions that always hold."""
    return tuple(_drop_trivial(_generate_system_functions(system)))


def _generate_system_functions(system: System) -> Iterator[AuthorFunction]:
    for phase in system.phases:
        yield build_author_function("phase", phase.name, phase.run)
        for choice in phase.choices:
            for role, function in choice.list_functions():
                yield build_author_function(role, choice.name, function)
    for variable in system.variables:
        yield from _generate_variable_functions(variable)
    for assumption in system.assumptions:
        yield build_author_function("assumption", assumption.name, assumption.holds)
    for fair in system.fairness:
        yield build_author_function("fairness condition", fair.name, fair.holds)
    if system.detector is not None:
        for part in DETECTOR_PARTS:
            yield build_author_function("the detector's", part, getattr(system.detector, part))


DETECTOR_PARTS = ("suspects", "correct", "in_transit", "hears")


def _generate_variable_functions(variable: Variable) -> Iterator[AuthorFunction]:
    yield build_author_function("the initial value of", variable.name, variable.initial)
    if variable.range is not None:
        yield build_author_function("the range of", variable.name, variable.range)
    if variable.cap is not None:
        yield build_author_function("the cap of", variable.name, variable.cap)


def _drop_trivial(functions: Iterable[AuthorFunction]) -> Iterator[AuthorFunction]:
    return (each for each in functions if each.function is not is_always_true)


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
