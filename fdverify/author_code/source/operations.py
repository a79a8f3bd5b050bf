"""Operators, comparisons and truth tests, on state values and on what holds them."""

from __future__ import annotations

import ast
from enum import Enum
from types import FunctionType
from typing import Any

from fdverify.author_code.source.abstract import (
    FRACTION,
    PLAIN,
    TEXT,
    VALUE,
    Atom,
    Known,
    LocalFunction,
    Made,
    Plain,
    Value,
    Wrapped,
    holds_state,
    is_state,
    join,
    known,
    made,
)
from fdverify.author_code.source.core import Args, authors_method, only_known
from fdverify.author_code.source.objects import Objects
from fdverify.author_code.source.refusals import Refusal
from fdverify.author_code.source.scope import Scope
from fdverify.author_code.source.tables import COMPARISONS, OPERATORS, REFUSED_OPERATORS

_NUMBERS = (int, bool, float)
_LARGE = 1 << 64


class Operations(Objects):
    def computed(self, operator: ast.operator, left: Value, right: Value, node: ast.AST, scope: Scope) -> Value:
        name, function = OPERATORS[type(operator)]
        own = self._own_operator(f"__{name}__", f"__r{name}__", left, right, node, scope)
        if own is not None:
            return own
        textual = isinstance(operator, ast.Mod) and any(_is_text(atom) for atom in left)
        if textual and holds_state(right):
            self.refuse(Refusal.TEXT, node, scope)
        if is_state(left) or is_state(right):
            self._check_operands(operator, left, right, node, scope)
            return VALUE
        if any(isinstance(atom, Made) for atom in (*left, *right)):
            return self._combined(left, right, node, scope)
        constants = only_known(left), only_known(right)
        if function is not None and constants[0] is not None and constants[1] is not None:
            return _constant(function, constants[0].object, constants[1].object)
        if textual or any(_is_text(atom) for atom in (*left, *right)):
            return TEXT
        inexact = isinstance(operator, ast.Div) or any(_is_fraction(atom) for atom in (*left, *right))
        return FRACTION if inexact else PLAIN

    def augmented(self, operator: ast.operator, before: Value, value: Value, node: ast.AST, scope: Scope) -> Value:
        """Apply an augmented assignment, such as ``before += value``: a mutable object is changed in place."""
        for atom in before:
            if isinstance(atom, Known) and isinstance(atom.object, list | dict | set | bytearray):
                self.refuse(Refusal.MEMORY, node, scope)
            own = authors_method(type(getattr(atom, "object", None)), f"__i{type(operator).__name__.lower()}__")
            if own is not None:
                self.call(known(own), Args([frozenset({atom}), value]), node, scope)
        after = self.computed(operator, before, value, node, scope)
        for atom in before:
            if isinstance(atom, Made) and atom.kind in ("list", "set", "dict"):
                self.check_change(atom, node, scope)
                atom.forget_order()
                atom.rest = join(atom.rest, *(each.elements() for each in after if isinstance(each, Made)))
                after = join(after, before)
        return after

    def _check_operands(self, operator: ast.operator, left: Value, right: Value, node: ast.AST, scope: Scope) -> None:
        refusal = REFUSED_OPERATORS.get(type(operator))
        if refusal is not None:
            self.refuse(refusal, node, scope)
        for atom in (*left, *right):
            if _is_fraction(atom):
                self.refuse(Refusal.FRACTION, node, scope)
            if isinstance(atom, Made) or _is_text(atom):  # such as a list that is repeated
                self.refuse(Refusal.INDEX, node, scope)

    def _combined(self, left: Value, right: Value, node: ast.AST, scope: Scope) -> Value:
        """Build a container of the elements of two containers, or of one that is repeated."""
        kind = next(atom.kind for atom in (*left, *right) if isinstance(atom, Made))
        if kind == "dict":
            result = Made("dict", named={})
            self.merge_into(result, left, node, scope)
            self.merge_into(result, right, node, scope)
            return frozenset({result})
        elements = []
        for value in (left, right):
            containers = [a for a in value if isinstance(a, Made) or (isinstance(a, Known) and not a.is_primitive())]
            elements.append(self.elements(frozenset(containers), node, scope))
        return made(kind, rest=join(*elements))

    def merge_into(self, result: Made, value: Value, node: ast.AST, scope: Scope) -> None:
        """Put the entries of a mapping, or of pairs, into a dictionary."""
        exact = next(iter(value)) if len(value) == 1 else None
        if isinstance(exact, Made) and exact.named is not None and result.named is not None:
            result.named.update(exact.named)
            return
        if isinstance(exact, Known) and isinstance(exact.object, dict) and result.named is not None:
            result.named.update({key: known(entry) for key, entry in exact.object.items()})
            return
        result.forget_order()
        for atom in value:
            if isinstance(atom, Made) and atom.kind == "dict":
                keys, entries = self.elements(frozenset({atom}), node, scope), atom.elements()
            elif isinstance(atom, Known) and hasattr(atom.object, "items"):
                keys, entries = PLAIN, join(*(known(entry) for _, entry in atom.object.items()))
            elif is_state(frozenset({atom})):
                keys, entries = PLAIN, frozenset({atom})
            else:
                pairs = self.elements(frozenset({atom}), node, scope)
                keys, entries = self.unpacked(pairs, 2, node, scope)
            if holds_state(keys):
                self.refuse(Refusal.SET, node, scope)
            result.rest, result.keys = join(result.rest, entries), join(result.keys, keys)

    def compared(self, operator: ast.cmpop, left: Value, right: Value, node: ast.AST, scope: Scope) -> Value:
        """Apply one comparison, which may be a part of a chain."""
        match operator:
            case ast.Is() | ast.IsNot():
                return self._identical(isinstance(operator, ast.Is), left, right, node, scope)
            case ast.In() | ast.NotIn():
                return self._contained(isinstance(operator, ast.In), left, right, node, scope)
        name, mirrored, function = COMPARISONS[type(operator)]
        if is_state(left) or is_state(right):
            for value in (left, right):
                if value and all(_is_no_value(atom) for atom in value):
                    self.refuse(Refusal.NOTHING, node, scope)
                if any(_is_fraction(atom) for atom in value):
                    self.refuse(Refusal.FRACTION, node, scope)
        own = self._own_operator(f"__{name}__", f"__{mirrored}__", left, right, node, scope)
        if own is not None:
            return own
        if is_state(left) or is_state(right):
            return VALUE
        if holds_state(left) or holds_state(right):
            self.refuse(Refusal.WHOLE, node, scope)
        constants = only_known(left), only_known(right)
        if constants[0] is None or constants[1] is None:
            return PLAIN
        return _constant(function, constants[0].object, constants[1].object)

    def _identical(self, positive: bool, left: Value, right: Value, node: ast.AST, scope: Scope) -> Value:
        for value, other in ((left, right), (right, left)):
            # A value that may also be None may be tested for None, since no state value is None.
            asked_for_none = only_known(other) == Known(None) and Known(None) in value
            if is_state(value) and not asked_for_none:
                self.refuse(Refusal.IDENTITY, node, scope)
        constants = only_known(left), only_known(right)
        if constants[0] is not None and constants[1] is not None:
            return known((constants[0].object is constants[1].object) is positive)
        nothing = Known(None) in left or Known(None) in right
        made_here = all(not isinstance(atom, Known | Plain) for atom in (left if Known(None) in right else right))
        return known(not positive) if nothing and made_here and len(left) == len(right) == 1 else PLAIN

    def _contained(self, positive: bool, left: Value, right: Value, node: ast.AST, scope: Scope) -> Value:
        if is_state(left) or is_state(right):
            self.refuse(Refusal.MEMBER, node, scope)
        own = self._own_method(right, "__contains__", left, node, scope)
        if own is not None:
            return own
        for atom in right:
            looked_at = frozenset({atom})
            keyed = isinstance(atom, Made) and atom.kind == "dict"
            if isinstance(atom, Known):
                self.check_world(atom.object, node, scope)
            elif holds_state(self.elements(looked_at, node, scope) if keyed else looked_at) or holds_state(left):
                self.refuse(Refusal.MEMBER, node, scope)
        constants = only_known(left), only_known(right)
        if constants[0] is None or constants[1] is None:
            return PLAIN
        return _constant(lambda a, b: (a in b) is positive, constants[0].object, constants[1].object)

    def truth(self, value: Value, refusal: Refusal, node: ast.AST, scope: Scope) -> bool | None:
        """Refuse the truth of a state value; return that of a constant, or ``None`` if it is unknown."""
        if is_state(value):
            self.refuse(refusal, node, scope)
        for name in ("__bool__", "__len__"):
            own = self._own_method(value, name, None, node, scope)
            if own is not None:
                self.truth(own, refusal, node, scope)
                return None
        truths = {_truth_of(atom) for atom in value}
        return truths.pop() if len(truths) == 1 else None

    def _own_operator(
        self, name: str, mirrored: str, left: Value, right: Value, node: ast.AST, scope: Scope
    ) -> Value | None:
        """Call the operator that an author's class defines; return ``None`` if there is none."""
        for value, method, other in ((left, name, right), (right, mirrored, left)):
            result = self._own_method(value, method, other, node, scope)
            if result is not None:
                return result
        return None

    def _own_method(self, value: Value, name: str, other: Value | None, node: ast.AST, scope: Scope) -> Value | None:
        results = []
        for atom in value:
            cls = atom.of if isinstance(atom, Wrapped) else type(getattr(atom, "object", None))
            method = authors_method(cls, name)
            if method is None:
                continue
            if name in ("__eq__", "__ne__") and (holds_state(value) or (other is not None and holds_state(other))):
                self.refuse(Refusal.CLASS, node, scope)
            receiver = frozenset({atom})
            args = Args([receiver] if other is None else [receiver, other])
            results.append(self.call(known(method), args, node, scope))
        return join(*results) if results else None


def _constant(function: Any, left: Any, right: Any) -> Value:
    """Apply an operator to constants, if they are small."""
    simple = all(isinstance(value, (*_NUMBERS, str, Enum, type(None))) for value in (left, right))
    small = all(not isinstance(value, int) or abs(value) < _LARGE for value in (left, right))
    contained = isinstance(right, tuple | frozenset | range)
    if not ((simple and small) or contained):
        return PLAIN
    try:
        result = function(left, right)
    except Exception:  # it is raised in every engine
        return PLAIN
    return known(result) if isinstance(result, (*_NUMBERS, str)) else PLAIN


def has_fraction(value: Value) -> bool:
    return any(_is_fraction(atom) for atom in value)


def _is_fraction(atom: Atom) -> bool:
    if isinstance(atom, Known):
        return isinstance(atom.object, float | complex) or type(atom.object).__module__ in ("fractions", "decimal")
    return isinstance(atom, Plain) and atom.fractional


def _is_text(atom: Atom) -> bool:
    if isinstance(atom, Known):
        return isinstance(atom.object, str | bytes)
    return isinstance(atom, Plain) and atom.textual


def _is_no_value(atom: Atom) -> bool:
    """Tell whether no state value can equal it."""
    if isinstance(atom, Known):
        value = atom.object
        own = authors_method(type(value), "__eq__") is not None and not isinstance(value, int)
        return own or isinstance(value, str | bytes | tuple | list | dict | set | frozenset | type | type(None))
    return isinstance(atom, Made | LocalFunction) or (isinstance(atom, Plain) and atom.textual and not atom.fractional)


def _truth_of(atom: Atom) -> bool | None:
    match atom:
        case Known(value) if atom.is_primitive() or isinstance(value, FunctionType | type | tuple):
            return bool(value)
        case LocalFunction():
            return True
    return None
