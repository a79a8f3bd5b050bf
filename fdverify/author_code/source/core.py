"""What all parts of the reader share: whose function it is, where it is, and how something is refused."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NoReturn

from fdverify.author_code.functions import AuthorFunction
from fdverify.author_code.source.abstract import BIRTHS, Known, Made, OfState, Value, Wrapped
from fdverify.author_code.source.refusals import Refusal
from fdverify.author_code.source.scope import Scope
from fdverify.author_code.source.sources import Owner, owner_of
from fdverify.author_code.source.tables import WORLDLY
from fdverify.errors import UsageError, located
from fdverify.logic import shortened


@dataclass
class Args:
    """Arguments of a call: those by position and by name, and what may come besides, of unknown number."""

    positional: list[Value] = field(default_factory=list)
    named: dict[str, Value] = field(default_factory=dict)
    more: Value = frozenset()
    more_named: Value = frozenset()

    def values(self) -> Iterator[Value]:
        yield from self.positional
        yield from self.named.values()
        yield self.more
        yield self.more_named

    def at(self, place: int) -> Value:
        """The argument at a place; nothing if there is none."""
        return self.positional[place] if place < len(self.positional) else self.more


ROUND = "round"
"""What a function is for whose results are called again and again."""


class TooLong(Exception):
    """There are too many ways through a function to read them all."""


class Core(ABC):
    """Reads an author's function, and refuses what could mean something else on symbols than on values."""

    def __init__(self, subject: AuthorFunction) -> None:
        self.subject = subject
        self.complete = True
        """Whether all that is called with state values could be read."""
        self.touched = 0
        """How often a state value was met."""
        self.steps = 0
        self.lasting = 0
        """What was made before this lives on from call to call of the function that is read."""
        self.sites: list[tuple[Scope, ast.AST]] = []
        """The calls that led here."""

    def refuse(self, refusal: Refusal, node: ast.AST, scope: Scope) -> NoReturn:
        for site, place in reversed([*self.sites, (scope, node)]):
            if owner_of(site.source.path) is Owner.AUTHOR:
                scope, node = site, place
                break
        where = located(scope.source.path, getattr(node, "lineno", 0))
        code = shortened(scope.source.code_of(node))
        told = f"{self.subject} {refusal.doing}"
        raise UsageError(f"{where}: {told} in `{code}`", refusal.instead)

    @contextmanager
    def handing_out(self) -> Iterator[None]:
        """Read functions that are given away; those of a round are called again and again, each time anew."""
        before = self.lasting
        if self.subject.role == ROUND:
            self.lasting = next(BIRTHS)
        try:
            yield
        finally:
            self.lasting = before

    def check_change(self, of: Made | Wrapped | Scope, node: ast.AST, scope: Scope) -> None:
        """Refuse to change what lives on, so that the next call would find it changed."""
        if of.birth < self.lasting:
            self.refuse(Refusal.MEMORY, node, scope)

    def note_unreadable(self) -> None:
        """Something is done with state values that cannot be read."""
        self.complete = False

    @abstractmethod
    def evaluate(self, node: ast.expr, scope: Scope) -> Value: ...

    @abstractmethod
    def escape(self, value: Value, node: ast.AST, scope: Scope) -> None:
        """Read the functions in a value that is given away: they are called elsewhere, with anything."""

    @abstractmethod
    def call(self, function: Value, args: Args, node: ast.AST, scope: Scope) -> Value: ...


def module_of(value: Any) -> str:
    """The module that a function or a class is of; of another object, its class."""
    if isinstance(value, ModuleType):
        return value.__name__
    receiver = getattr(value, "__self__", None) if isinstance(value, BuiltinFunctionType | MethodType) else None
    if receiver is not None and not isinstance(receiver, ModuleType):
        return module_of(receiver if isinstance(receiver, type) else type(receiver))
    named = isinstance(value, FunctionType | BuiltinFunctionType | type)
    return str(getattr(value if named else type(value), "__module__", None) or "")


def is_worldly(value: Any) -> bool:
    """Whether it is a part of the library that looks at the world."""
    module = module_of(value)
    return module.partition(".")[0] in WORLDLY or module.startswith("numpy.random")


def is_of_package(value: Any) -> bool:
    """Whether a function or class is of this package, and not one that ships as an author's would."""
    code = getattr(value, "__code__", None)
    if code is not None:
        return owner_of(code.co_filename) is Owner.PACKAGE
    module = module_of(value)
    return module.partition(".")[0] == "fdverify" and not module.startswith("fdverify.models.chandra_toueg")


def authors_method(of: type, name: str) -> FunctionType | None:
    """A method that an author's class has written, by itself or in a base class that is an author's."""
    found = declared_in(of, name)
    found = found.__func__ if isinstance(found, staticmethod | classmethod) else found
    if isinstance(found, FunctionType) and owner_of(found.__code__.co_filename) in (Owner.AUTHOR, Owner.INSTALLED):
        # What dataclasses write has no file.
        return None if found.__code__.co_filename.startswith("<") else found
    return None


_MISSING = object()


def declared_in(of: type, name: str, missing: Any = None) -> Any:
    """What a class has under a name, as it was declared."""
    for base in of.__mro__:
        found = vars(base).get(name, _MISSING)
        if found is not _MISSING:
            return found
    return missing


def only_known(value: Value) -> Known | None:
    """The object, if it can be one only."""
    if len(value) != 1:
        return None
    (atom,) = value
    return atom if isinstance(atom, Known) else None


def all_of_state(value: Value) -> bool:
    return bool(value) and all(isinstance(atom, OfState) for atom in value)
