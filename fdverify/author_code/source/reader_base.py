"""The base of all readers: which function is read, where the reading is, and how code is refused."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NoReturn

from fdverify.author_code.author_functions import AuthorFunction
from fdverify.author_code.source.abstract_values import (
    BIRTHS,
    AbstractValue,
    KnownObject,
    NewContainer,
    NewObject,
    StateDependent,
)
from fdverify.author_code.source.name_tables import IMPURE_MODULES
from fdverify.author_code.source.refusals import Refusal
from fdverify.author_code.source.scope import Scope
from fdverify.author_code.source.source_files import AS_BY_AUTHORS, FileOwner, find_owner
from fdverify.errors import SourceLocation, UsageError
from fdverify.logic import shorten_value


@dataclass
class CallArguments:
    """The arguments of a call: by position, by name, and any number of ``more`` that are not known one by one."""

    positional: list[AbstractValue] = field(default_factory=list)
    named: dict[str, AbstractValue] = field(default_factory=dict)
    more: AbstractValue = frozenset()
    more_named: AbstractValue = frozenset()

    def values(self) -> Iterator[AbstractValue]:
        yield from self.positional
        yield from self.named.values()
        yield self.more
        yield self.more_named

    def get_positional(self, place: int) -> AbstractValue:
        """Return the argument at a position; an empty value if there is none."""
        return self.positional[place] if place < len(self.positional) else self.more


ROUND = "round"
"""The role of a function whose results are called again and again."""


class SourceTooLong(Exception):
    """A function has too many paths to read them all."""


class ReaderBase(ABC):
    """Reads an author's function, and refuses code whose meaning may differ between symbols and values."""

    def __init__(self, subject: AuthorFunction) -> None:
        self.subject = subject
        self.complete = True
        """Whether everything that is called with state values could be read."""
        self.touched = 0
        """How many expressions had state values so far."""
        self.steps = 0
        self.lasting = 0
        """Objects created before this number outlive a call of the function that is read."""
        self.sites: list[tuple[Scope, ast.AST]] = []
        """The stack of calls that led here."""

    def refuse(self, refusal: Refusal, node: ast.AST, scope: Scope) -> NoReturn:
        for site, place in reversed([*self.sites, (scope, node)]):
            if find_owner(site.source.path) is FileOwner.AUTHOR:
                scope, node = site, place
                break
        code = shorten_value(scope.source.format_node(node))
        raise UsageError(
            f"{self.subject} {refusal.action} in `{code}`",
            refusal.hint,
            SourceLocation(Path(scope.source.path), getattr(node, "lineno", 0)),
        )

    @contextmanager
    def reading_escaped(self) -> Iterator[None]:
        """Read functions that escape; a round calls them again and again, so what exists now outlives a call."""
        before = self.lasting
        if self.subject.role == ROUND:
            self.lasting = next(BIRTHS)
        try:
            yield
        finally:
            self.lasting = before

    def check_change(self, changed: NewContainer | NewObject | Scope, node: ast.AST, scope: Scope) -> None:
        """Refuse to change an object that outlives the call: the next call would see the change."""
        if changed.birth < self.lasting:
            self.refuse(Refusal.MEMORY, node, scope)

    def note_unreadable(self) -> None:
        """Record that state values are used by code that cannot be read."""
        self.complete = False

    @abstractmethod
    def evaluate(self, node: ast.expr, scope: Scope) -> AbstractValue: ...

    @abstractmethod
    def escape(self, value: AbstractValue, node: ast.AST, scope: Scope) -> None:
        """Read the functions in a value that escapes: they are called elsewhere, with any arguments."""

    @abstractmethod
    def call(self, function: AbstractValue, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue: ...


def find_module_name(value: Any) -> str:
    """Return the name of the module of a function or class; for another object, that of its class."""
    if isinstance(value, ModuleType):
        return value.__name__
    receiver = getattr(value, "__self__", None) if isinstance(value, BuiltinFunctionType | MethodType) else None
    if receiver is not None and not isinstance(receiver, ModuleType):
        return find_module_name(receiver if isinstance(receiver, type) else type(receiver))
    named = isinstance(value, FunctionType | BuiltinFunctionType | type)
    return str(getattr(value if named else type(value), "__module__", None) or "")


def is_impure(value: Any) -> bool:
    """Tell whether something belongs to a library module that accesses the environment."""
    module = find_module_name(value)
    return module.partition(".")[0] in IMPURE_MODULES or module.startswith("numpy.random")


def is_of_package(value: Any) -> bool:
    """Tell whether a function or class is of this package, except for what is written as an author would."""
    code = getattr(value, "__code__", None)
    if code is not None:
        return find_owner(code.co_filename) is FileOwner.PACKAGE
    package, _, inside = find_module_name(value).partition(".")
    return package == "fdverify" and inside.partition(".")[0] not in AS_BY_AUTHORS


def find_author_method(cls: type, name: str) -> FunctionType | None:
    """Find a method that an author wrote, in the class itself or in an author's base class."""
    method = find_declared(cls, name)
    method = method.__func__ if isinstance(method, staticmethod | classmethod) else method
    if isinstance(method, FunctionType) and find_owner(method.__code__.co_filename) in (
        FileOwner.AUTHOR,
        FileOwner.INSTALLED,
    ):
        # Methods generated by dataclasses have no file.
        return None if method.__code__.co_filename.startswith("<") else method
    return None


_MISSING = object()


def find_declared(cls: type, name: str, missing: Any = None) -> Any:
    """Find an attribute of a class as it was declared, without calling descriptors."""
    for base in cls.__mro__:
        declared = vars(base).get(name, _MISSING)
        if declared is not _MISSING:
            return declared
    return missing


def find_only_object(value: AbstractValue) -> KnownObject | None:
    """Return the known object, if the value can only be that one."""
    if len(value) != 1:
        return None
    (atom,) = value
    return atom if isinstance(atom, KnownObject) else None


def is_only_state(value: AbstractValue) -> bool:
    return bool(value) and all(isinstance(atom, StateDependent) for atom in value)
