"""Instances of classes: enums, dataclasses, named tuples, and an author's own classes."""

from __future__ import annotations

import ast
import dataclasses
from enum import Enum
from typing import Any

from fdverify.author_code.source.abstract_values import (
    PLAIN,
    AbstractValue,
    NewContainer,
    NewObject,
    holds_state,
    join_values,
    lift_object,
)
from fdverify.author_code.source.library_reader import LibraryReader
from fdverify.author_code.source.reader_base import CallArguments, find_author_method, find_only_object
from fdverify.author_code.source.refusals import Refusal
from fdverify.author_code.source.scope import Scope


class ClassReader(LibraryReader):
    def instantiate_class(self, cls: type, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        """Create an object of an author's class."""
        has_state = any(holds_state(value) for value in args.values())
        if issubclass(cls, BaseException):
            return PLAIN
        if issubclass(cls, Enum):
            return self._look_up_enum(cls, args, node, scope)
        if issubclass(cls, int | str | float | bytes | set | frozenset):
            if has_state:
                self.refuse(Refusal.CONVERSION, node, scope)
            return PLAIN
        if has_state:
            self.check_wrapper_class(cls, node, scope)
        if issubclass(cls, dict | list):
            elements = join_values(*args.values())
            return frozenset({NewContainer("dict" if issubclass(cls, dict) else "list", rest=elements, keys=PLAIN)})
        wrapped = NewObject(cls)
        # The object exists before it is initialised: its methods may read it.
        if find_author_method(cls, "__new__") is not None:
            self.note_unreadable()
        self._initialise_object(wrapped, args, node, scope)
        return frozenset({wrapped})

    def _look_up_enum(self, cls: type[Enum], args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        if any(holds_state(value) for value in args.values()):
            self.refuse(Refusal.CONVERSION, node, scope)
        constant = find_only_object(args.get_positional(0))
        try:
            return PLAIN if constant is None else lift_object(cls(constant.object))
        except Exception:  # it is raised in every engine
            return PLAIN

    def _initialise_object(self, wrapped: NewObject, args: CallArguments, node: ast.AST, scope: Scope) -> None:
        receiver: AbstractValue = frozenset({wrapped})
        own = find_author_method(wrapped.of, "__init__")
        if own is not None:
            self.call(
                lift_object(own),
                CallArguments([receiver, *args.positional], args.named, args.more, args.more_named),
                node,
                scope,
            )
            return
        for name, default in _list_fields(wrapped.of).items():
            wrapped.fields[name] = self._evaluate_default(default, node, scope)
        for name, value in zip(_list_fields(wrapped.of), args.positional, strict=False):
            wrapped.fields[name] = value
        wrapped.fields.update(args.named)
        extra = join_values(args.more, args.more_named)
        if extra:
            wrapped.fields.update({name: join_values(value, extra) for name, value in wrapped.fields.items()})
        after = find_author_method(wrapped.of, "__post_init__")
        if after is not None:
            self.call(lift_object(after), CallArguments([receiver]), node, scope)

    def _evaluate_default(self, default: Any, node: ast.AST, scope: Scope) -> AbstractValue:
        if isinstance(default, dataclasses.Field):
            if default.default_factory is not dataclasses.MISSING:
                return self.call(lift_object(default.default_factory), CallArguments(), node, scope)
            default = None if default.default is dataclasses.MISSING else default.default
        return lift_object(default)


def _list_fields(cls: type) -> dict[str, Any]:
    """Return the fields of a dataclass or a named tuple, in order, with what declares their default."""
    if dataclasses.is_dataclass(cls):
        return {field.name: field for field in dataclasses.fields(cls) if field.init}
    defaults = getattr(cls, "_field_defaults", {})
    return {name: defaults.get(name) for name in getattr(cls, "_fields", ())}
