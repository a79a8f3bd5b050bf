"""The functions of an author: what engines run on plain values, on arrays and on symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

from fdverify.author_code.ownership import unwrapped
from fdverify.errors import located
from fdverify.models.system import Property, System, Variable, always


@dataclass(frozen=True)
class AuthorFunction:
    """A function that an author wrote, what it is for, and its name there."""

    role: str
    name: str
    function: Callable[..., Any]

    @property
    def place(self) -> str:
        """The file and the line that it is written in, or what it is instead."""
        code = code_of(self.function)
        return "a function without source" if code is None else located(code.co_filename, code.co_firstlineno)

    def __str__(self) -> str:
        return f"{self.role} {self.name}"


def code_of(function: Any) -> CodeType | None:
    """The code of a function, of a method, or of what can be called."""
    for each in (function, getattr(function, "__func__", None), vars(type(function)).get("__call__")):
        code = getattr(each, "__code__", None)
        if isinstance(code, CodeType):
            return code
    return None


def author_function(role: str, name: str, function: Callable[..., Any]) -> AuthorFunction:
    """The author's own function, below what this package has wrapped around it."""
    return AuthorFunction(role, name, unwrapped(function))


def functions_of_system(system: System) -> tuple[AuthorFunction, ...]:
    """Every function that a system itself is made of."""
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


def functions_of_claims(role: str, claims: Iterable[Property]) -> tuple[AuthorFunction, ...]:
    return tuple(_without_trivial(author_function(role, claim.name, claim.holds) for claim in claims))


def _without_trivial(functions: Iterable[AuthorFunction]) -> Iterator[AuthorFunction]:
    return (each for each in functions if each.function is not always)
