"""Objects of classes: enums, dataclasses, named tuples, and classes that an author wrote."""

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
    def made_of(self, of: type, args: Args, node: ast.AST, scope: Scope) -> Value:
        """A new object of an author's class."""
        given = any(holds_state(value) for value in args.values())
        if issubclass(of, BaseException):
            return PLAIN
        if issubclass(of, Enum):
            return self._looked_up(of, args, node, scope)
        if issubclass(of, int | str | float | bytes | set | frozenset):
            if given:
                self.refuse(Refusal.CONVERSION, node, scope)
            return PLAIN
        if given:
            self.check_wrapper(of, node, scope)
        if issubclass(of, dict | list):
            elements = join(*args.values())
            return frozenset({Made("dict" if issubclass(of, dict) else "list", rest=elements, keys=PLAIN)})
        wrapped = Wrapped(of)
        # It is known before it is built: a method may read it, and a loop builds it once.
        if authors_method(of, "__new__") is not None:
            self.note_unreadable()
        self._initialise(wrapped, args, node, scope)
        return frozenset({wrapped})

    def _looked_up(self, of: type[Enum], args: Args, node: ast.AST, scope: Scope) -> Value:
        if any(holds_state(value) for value in args.values()):
            self.refuse(Refusal.CONVERSION, node, scope)
        constant = only_known(args.at(0))
        try:
            return PLAIN if constant is None else known(of(constant.object))
        except Exception:  # it is raised on every kind of values
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
        besides = join(args.more, args.more_named)
        if besides:
            wrapped.fields.update({name: join(value, besides) for name, value in wrapped.fields.items()})
        after = authors_method(wrapped.of, "__post_init__")
        if after is not None:
            self.call(known(after), Args([receiver]), node, scope)

    def _default(self, default: Any, node: ast.AST, scope: Scope) -> Value:
        if isinstance(default, dataclasses.Field):
            if default.default_factory is not dataclasses.MISSING:
                return self.call(known(default.default_factory), Args(), node, scope)
            default = None if default.default is dataclasses.MISSING else default.default
        return known(default)


def _fields(of: type) -> dict[str, Any]:
    """The fields of a dataclass or a named tuple, in order, with what says their default."""
    if dataclasses.is_dataclass(of):
        return {field.name: field for field in dataclasses.fields(of) if field.init}
    defaults = getattr(of, "_field_defaults", {})
    return {name: defaults.get(name) for name in getattr(of, "_fields", ())}
