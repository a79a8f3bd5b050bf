"""The functions of an author, which engines run on plain values, on arrays and on symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

from fdverify.author_code.ownership import unwrapped
from fdverify.errors import located
from fdverify.models.system import System, Variable, always


@dataclass(frozen=True)
class AuthorFunction:
    """A function that an author wrote, with its role and its name in that role."""

    role: str
    name: str
    function: Callable[..., Any]

    @property
    def place(self) -> str:
        """The file and line where it is written, or a note that it has no source."""
        code = code_of(self.function)
        return "a function without source" if code is None else located(code.co_filename, code.co_firstlineno)

    def __str__(self) -> str:
        return f"{self.role} {self.name}"


def code_of(function: Any) -> CodeType | None:
    """Return the code object of a function, a method or a callable object."""
    for candidate in (function, getattr(function, "__func__", None), vars(type(function)).get("__call__")):
        code = getattr(candidate, "__code__", None)
        if isinstance(code, CodeType):
            return code
    return None


def author_function(role: str, name: str, function: Callable[..., Any]) -> AuthorFunction:
    """Build the record of an author's function, without the wrappers that this package added."""
    return AuthorFunction(role, name, unwrapped(function))


def functions_of_system(system: System) -> tuple[AuthorFunction, ...]:
    """List the functions of a system, except for conditions that always hold."""
    return tuple(_without_trivial(_functions_of_system(system)))


def _functions_of_system(system: System) -> Iterator[AuthorFunction]:
    for phase in system.phases:
        yield author_function("phase", phase.name, phase.run)
        for choice in phase.choices:
            yield author_function("the condition of", choice.name, choice.when)
    for variable in system.variables:
        yield from _functions_of_variable(variable)
    for assumption in system.assumptions:
        yield author_function("assumption", assumption.name, assumption.holds)
    for fair in system.fairness:
        yield author_function("fairness condition", fair.name, fair.holds)
    if system.detector is not None:
        for part in DETECTOR_PARTS:
            yield author_function("the detector's", part, getattr(system.detector, part))


DETECTOR_PARTS = ("suspects", "correct", "in_transit", "hears")


def _functions_of_variable(variable: Variable) -> Iterator[AuthorFunction]:
    yield author_function("the initial value of", variable.name, variable.initial)
    if variable.range is not None:
        yield author_function("the range of", variable.name, variable.range)
    if variable.cap is not None:
        yield author_function("the cap of", variable.name, variable.cap)


def _without_trivial(functions: Iterable[AuthorFunction]) -> Iterator[AuthorFunction]:
    return (each for each in functions if each.function is not always)
