"""Instances of classes: enums, dataclasses, named tuples, and an author's own classes."""

from __future__ import annotations

import ast
import dataclasses
from enum import Enum
from typing import Any

from fdverify.author_code.source.abstract import PLAIN, Made, Value, Wrapped, holds_state, join, known
from fdverify.author_code.source.core import Args, authors_method, only_known
from fdverify.author_code.source.library import Library
from fdverify.author_code.source.refusals import Refusal
from fdverify.author_code.source.scope import Scope


class Classes(Library):
    def made_of(self, cls: type, args: Args, node: ast.AST, scope: Scope) -> Value:
        """Create an object of an author's class."""
        has_state = any(holds_state(value) for value in args.values())
        if issubclass(cls, BaseException):
            return PLAIN
        if issubclass(cls, Enum):
            return self._looked_up(cls, args, node, scope)
        if issubclass(cls, int | str | float | bytes | set | frozenset):
            if has_state:
                self.refuse(Refusal.CONVERSION, node, scope)
            return PLAIN
        if has_state:
            self.check_wrapper(cls, node, scope)
        if issubclass(cls, dict | list):
            elements = join(*args.values())
            return frozenset({Made("dict" if issubclass(cls, dict) else "list", rest=elements, keys=PLAIN)})
        wrapped = Wrapped(cls)
        # The object exists before it is initialised: its methods may read it.
        if authors_method(cls, "__new__") is not None:
            self.note_unreadable()
        self._initialise(wrapped, args, node, scope)
        return frozenset({wrapped})

    def _looked_up(self, cls: type[Enum], args: Args, node: ast.AST, scope: Scope) -> Value:
        if any(holds_state(value) for value in args.values()):
            self.refuse(Refusal.CONVERSION, node, scope)
        constant = only_known(args.at(0))
        try:
            return PLAIN if constant is None else known(cls(constant.object))
        except Exception:  # it is raised in every engine
            return PLAIN

    def _initialise(self, wrapped: Wrapped, args: Args, node: ast.AST, scope: Scope) -> None:
        receiver: Value = frozenset({wrapped})
        own = authors_method(wrapped.of, "__init__")
        if own is not None:
            self.call(
                known(own), Args([receiver, *args.positional], args.named, args.more, args.more_named), node, scope
            )
            return
        for name, default in _fields(wrapped.of).items():
            wrapped.fields[name] = self._default(default, node, scope)
        for name, value in zip(_fields(wrapped.of), args.positional, strict=False):
            wrapped.fields[name] = value
        wrapped.fields.update(args.named)
        extra = join(args.more, args.more_named)
        if extra:
            wrapped.fields.update({name: join(value, extra) for name, value in wrapped.fields.items()})
        after = authors_method(wrapped.of, "__post_init__")
        if after is not None:
            self.call(known(after), Args([receiver]), node, scope)

    def _default(self, default: Any, node: ast.AST, scope: Scope) -> Value:
        if isinstance(default, dataclasses.Field):
            if default.default_factory is not dataclasses.MISSING:
                return self.call(known(default.default_factory), Args(), node, scope)
            default = None if default.default is dataclasses.MISSING else default.default
        return known(default)


def _fields(cls: type) -> dict[str, Any]:
    """Return the fields of a dataclass or a named tuple, in order, with what declares their default."""
    if dataclasses.is_dataclass(cls):
        return {field.name: field for field in dataclasses.fields(cls) if field.init}
    defaults = getattr(cls, "_field_defaults", {})
    return {name: defaults.get(name) for name in getattr(cls, "_fields", ())}
