"""Scopes: the names in a function that is read, and the values that they may have."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass, field
from types import CellType, FunctionType
from typing import Any

from fdverify.author_code.source.abstract_values import (
    BIRTHS,
    NOTHING,
    PLAIN,
    AbstractAtom,
    AbstractValue,
    LocalFunction,
    join_values,
    lift_object,
)
from fdverify.author_code.source.source_files import SourceFile

_BUILTINS = vars(builtins)


@dataclass
class LoopExits:
    """A loop that is being read: the values of names at each ``break`` (left) and each ``continue`` (again)."""

    left: list[dict[str, AbstractValue]] = field(default_factory=list)
    again: list[dict[str, AbstractValue]] = field(default_factory=list)


@dataclass(eq=False)
class Scope:
    """A call of a function: ``env`` has the current values of its names, ``ever`` all that they have had."""

    source: SourceFile
    globals: dict[str, Any]
    cells: dict[str, Any] = field(default_factory=dict)
    parent: Scope | None = None
    env: dict[str, AbstractValue] = field(default_factory=dict)
    ever: dict[str, AbstractValue] = field(default_factory=dict)
    global_names: set[str] = field(default_factory=set)
    outer_names: set[str] = field(default_factory=set)
    returned: AbstractValue = NOTHING
    yielded: AbstractValue = NOTHING
    created: dict[ast.AST, AbstractAtom] = field(default_factory=dict)
    """The object that each expression created, so that a loop creates it once."""
    escaped: list[LocalFunction] = field(default_factory=list)
    """Functions that were defined here and are called elsewhere, with any arguments."""
    loops: list[LoopExits] = field(default_factory=list)
    version: int = 0
    """Grows whenever a name may have another value."""
    answers: dict[Any, AbstractValue] = field(default_factory=dict)
    birth: int = field(default_factory=lambda: next(BIRTHS))

    def look_up(self, name: str) -> AbstractValue:
        if name not in self.global_names:
            if name in self.env:
                return self.env[name]
            scope = self.parent
            while scope is not None:
                if name in scope.ever:
                    return scope.ever[name]
                scope = scope.parent
            cells = self.find_root().cells
            if name in cells:
                return lift_object(cells[name])
        if name in self.globals:
            return lift_object(self.globals[name])
        return lift_object(_BUILTINS[name]) if name in _BUILTINS else PLAIN

    def bind(self, name: str, value: AbstractValue) -> None:
        self.env[name] = value
        before = self.ever.get(name, NOTHING)
        after = join_values(before, value)
        if after != before:
            self.ever[name] = after
            self.version += 1

    def find_home(self, name: str) -> Scope | None:
        """Find the enclosing call, itself being read, that has this name."""
        scope = self.parent
        while scope is not None and name not in scope.ever:
            scope = scope.parent
        return scope

    def find_root(self) -> Scope:
        return self if self.parent is None else self.parent.find_root()

    def list_versions(self) -> tuple[int, ...]:
        return (self.version,) if self.parent is None else (self.version, *self.parent.list_versions())


def read_cells(function: FunctionType) -> dict[str, Any]:
    """Return the contents of a closure by name; a cell that is still empty is left out."""
    cells: tuple[CellType, ...] = function.__closure__ or ()
    contents = {}
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        try:
            contents[name] = cell.cell_contents
        except ValueError:
            continue
    return contents


def join_environments(*envs: dict[str, AbstractValue]) -> dict[str, AbstractValue]:
    """Join the values of names where several paths meet."""
    if len(envs) == 1:
        return envs[0]
    names = {name for env in envs for name in env}
    return {name: join_values(*(env[name] for env in envs if name in env)) for name in names}
