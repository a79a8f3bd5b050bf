"""Operators, comparisons and truth tests, on state values and on what holds them."""

from __future__ import annotations

import ast
from enum import Enum
from types import FunctionType
from typing import Any

from fdverify.author_code.source.abstract_values import (
    FRACTION,
    PLAIN,
    TEXT,
    VALUE,
    AbstractAtom,
    AbstractValue,
    KnownObject,
    LocalFunction,
    NewContainer,
    NewObject,
    StateIndependent,
    build_container,
    holds_state,
    is_state,
    join_values,
    lift_object,
)
from fdverify.author_code.source.name_tables import COMPARISONS, OPERATORS, REFUSED_OPERATORS
from fdverify.author_code.source.object_reader import ObjectReader
from fdverify.author_code.source.reader_base import CallArguments, find_author_method, find_only_object
from fdverify.author_code.source.refusals import Refusal
from fdverify.author_code.source.scope import Scope

_NUMBERS = (int, bool, float)
_LARGE = 1 << 64


class OperatorReader(ObjectReader):
    def apply_operator(
        self, operator: ast.operator, left: AbstractValue, right: AbstractValue, node: ast.AST, scope: Scope
    ) -> AbstractValue:
        name, function = OPERATORS[type(operator)]
        own = self._call_own_operator(f"__{name}__", f"__r{name}__", left, right, node, scope)
        if own is not None:
            return own
        textual = isinstance(operator, ast.Mod) and any(_is_text(atom) for atom in left)
        if textual and holds_state(right):
            self.refuse(Refusal.TEXT, node, scope)
        if is_state(left) or is_state(right):
            self._check_operands(operator, left, right, node, scope)
            return VALUE
        if any(isinstance(atom, NewContainer) for atom in (*left, *right)):
            return self._combine_containers(left, right, node, scope)
        constants = find_only_object(left), find_only_object(right)
        if function is not None and constants[0] is not None and constants[1] is not None:
            return _compute_constant(function, constants[0].object, constants[1].object)
        if textual or any(_is_text(atom) for atom in (*left, *right)):
            return TEXT
        inexact = isinstance(operator, ast.Div) or any(_is_fraction(atom) for atom in (*left, *right))
        return FRACTION if inexact else PLAIN

    def apply_augmented_operator(
        self, operator: ast.operator, before: AbstractValue, value: AbstractValue, node: ast.AST, scope: Scope
    ) -> AbstractValue:
        """Apply an augmented assignment, such as ``before += value``: a mutable object is changed in place."""
        for atom in before:
            if isinstance(atom, KnownObject) and isinstance(atom.object, list | dict | set | bytearray):
                self.refuse(Refusal.MEMORY, node, scope)
        name, _ = OPERATORS[type(operator)]
        own = self.call_own_method(before, f"__i{name}__", [value], node, scope)
        after = join_values(own or frozenset(), self.apply_operator(operator, before, value, node, scope))
        for atom in before:
            if isinstance(atom, NewContainer) and atom.kind in ("list", "set", "dict"):
                self.check_change(atom, node, scope)
                atom.merge_parts()
                atom.rest = join_values(
                    atom.rest, *(each.join_elements() for each in after if isinstance(each, NewContainer))
                )
                after = join_values(after, before)
        return after

    def _check_operands(
        self, operator: ast.operator, left: AbstractValue, right: AbstractValue, node: ast.AST, scope: Scope
    ) -> None:
        refusal = REFUSED_OPERATORS.get(type(operator))
        if refusal is not None:
            self.refuse(refusal, node, scope)
        for atom in (*left, *right):
            if _is_fraction(atom):
                self.refuse(Refusal.FRACTION, node, scope)
            if isinstance(atom, NewContainer) or _is_text(atom):  # such as a list that is repeated
                self.refuse(Refusal.INDEX, node, scope)

    def _combine_containers(
        self, left: AbstractValue, right: AbstractValue, node: ast.AST, scope: Scope
    ) -> AbstractValue:
        """Build a container of the elements of two containers, or of one that is repeated."""
        kind = next(atom.kind for atom in (*left, *right) if isinstance(atom, NewContainer))
        if kind == "dict":
            result = NewContainer("dict", named={})
            self.merge_into(result, left, node, scope)
            self.merge_into(result, right, node, scope)
            return frozenset({result})
        elements = []
        for value in (left, right):
            containers = [
                a for a in value if isinstance(a, NewContainer) or (isinstance(a, KnownObject) and not a.is_primitive())
            ]
            elements.append(self.read_elements(frozenset(containers), node, scope))
        return build_container(kind, rest=join_values(*elements))

    def merge_into(self, result: NewContainer, value: AbstractValue, node: ast.AST, scope: Scope) -> None:
        """Put the entries of a mapping, or of pairs, into a dictionary."""
        exact = next(iter(value)) if len(value) == 1 else None
        if isinstance(exact, NewContainer) and exact.named is not None and result.named is not None:
            result.named.update(exact.named)
            return
        if isinstance(exact, KnownObject) and isinstance(exact.object, dict) and result.named is not None:
            result.named.update({key: lift_object(entry) for key, entry in exact.object.items()})
            return
        result.merge_parts()
        for atom in value:
            if isinstance(atom, NewContainer) and atom.kind == "dict":
                keys, entries = self.read_elements(frozenset({atom}), node, scope), atom.join_elements()
            elif isinstance(atom, KnownObject) and hasattr(atom.object, "items"):
                keys, entries = PLAIN, join_values(*(lift_object(entry) for _, entry in atom.object.items()))
            elif is_state(frozenset({atom})):
                keys, entries = PLAIN, frozenset({atom})
            else:
                pairs = self.read_elements(frozenset({atom}), node, scope)
                keys, entries = self.unpack(pairs, 2, node, scope)
            if holds_state(keys):
                self.refuse(Refusal.SET, node, scope)
            result.rest, result.keys = join_values(result.rest, entries), join_values(result.keys, keys)

    def apply_comparison(
        self, operator: ast.cmpop, left: AbstractValue, right: AbstractValue, node: ast.AST, scope: Scope
    ) -> AbstractValue:
        """Apply one comparison, which may be a part of a chain."""
        match operator:
            case ast.Is() | ast.IsNot():
                return self._compare_identity(isinstance(operator, ast.Is), left, right, node, scope)
            case ast.In() | ast.NotIn():
                return self._test_membership(isinstance(operator, ast.In), left, right, node, scope)
        name, mirrored, function = COMPARISONS[type(operator)]
        if is_state(left) or is_state(right):
            for value in (left, right):
                if value and all(_is_incomparable(atom) for atom in value):
                    self.refuse(Refusal.NOTHING, node, scope)
                if any(_is_fraction(atom) for atom in value):
                    self.refuse(Refusal.FRACTION, node, scope)
        own = self._call_own_operator(f"__{name}__", f"__{mirrored}__", left, right, node, scope)
        if own is not None:
            return own
        if is_state(left) or is_state(right):
            return VALUE
        if holds_state(left) or holds_state(right):
            self.refuse(Refusal.WHOLE, node, scope)
        constants = find_only_object(left), find_only_object(right)
        if constants[0] is None or constants[1] is None:
            return PLAIN
        return _compute_constant(function, constants[0].object, constants[1].object)

    def _compare_identity(
        self, positive: bool, left: AbstractValue, right: AbstractValue, node: ast.AST, scope: Scope
    ) -> AbstractValue:
        for value, other in ((left, right), (right, left)):
            # A value that may also be None may be tested for None, since no state value is None.
            asked_for_none = find_only_object(other) == KnownObject(None) and KnownObject(None) in value
            if is_state(value) and not asked_for_none:
                self.refuse(Refusal.IDENTITY, node, scope)
        constants = find_only_object(left), find_only_object(right)
        if constants[0] is not None and constants[1] is not None:
            return lift_object((constants[0].object is constants[1].object) is positive)
        nothing = KnownObject(None) in left or KnownObject(None) in right
        made_here = all(
            not isinstance(atom, KnownObject | StateIndependent)
            for atom in (left if KnownObject(None) in right else right)
        )
        return lift_object(not positive) if nothing and made_here and len(left) == len(right) == 1 else PLAIN

    def _test_membership(
        self, positive: bool, left: AbstractValue, right: AbstractValue, node: ast.AST, scope: Scope
    ) -> AbstractValue:
        if is_state(left) or is_state(right):
            self.refuse(Refusal.MEMBER, node, scope)
        own = self.call_own_method(right, "__contains__", [left], node, scope)
        if own is not None:
            return own
        for atom in right:
            looked_at = frozenset({atom})
            keyed = isinstance(atom, NewContainer) and atom.kind == "dict"
            if isinstance(atom, KnownObject):
                self.check_pure(atom.object, node, scope)
            elif holds_state(self.read_elements(looked_at, node, scope) if keyed else looked_at) or holds_state(left):
                self.refuse(Refusal.MEMBER, node, scope)
        constants = find_only_object(left), find_only_object(right)
        if constants[0] is None or constants[1] is None:
            return PLAIN
        return _compute_constant(lambda a, b: (a in b) is positive, constants[0].object, constants[1].object)

    def decide_truth(self, value: AbstractValue, refusal: Refusal, node: ast.AST, scope: Scope) -> bool | None:
        """Refuse the truth of a state value; return that of a constant, or ``None`` if it is unknown."""
        if is_state(value):
            self.refuse(refusal, node, scope)
        for name in ("__bool__", "__len__"):
            own = self.call_own_method(value, name, [], node, scope)
            if own is not None:
                self.decide_truth(own, refusal, node, scope)
                return None
        truths = {_find_truth(atom) for atom in value}
        return truths.pop() if len(truths) == 1 else None

    def _call_own_operator(
        self, name: str, mirrored: str, left: AbstractValue, right: AbstractValue, node: ast.AST, scope: Scope
    ) -> AbstractValue | None:
        """Call the operator that an author's class defines; return ``None`` if there is none."""
        for value, method, other in ((left, name, right), (right, mirrored, left)):
            result = self.call_own_method(value, method, [other], node, scope)
            if result is not None:
                return result
        return None

    def call_own_method(
        self, value: AbstractValue, name: str, others: list[AbstractValue], node: ast.AST, scope: Scope
    ) -> AbstractValue | None:
        """Call the method of that name of the objects whose class an author wrote; ``None`` if there are none."""
        results = []
        for atom in value:
            cls = atom.of if isinstance(atom, NewObject) else type(getattr(atom, "object", None))
            method = find_author_method(cls, name)
            if method is None:
                continue
            if name in ("__eq__", "__ne__") and any(map(holds_state, (value, *others))):
                self.refuse(Refusal.CLASS, node, scope)
            args = CallArguments([frozenset({atom}), *others])
            results.append(self.call(lift_object(method), args, node, scope))
        return join_values(*results) if results else None


def _compute_constant(function: Any, left: Any, right: Any) -> AbstractValue:
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
    return lift_object(result) if isinstance(result, (*_NUMBERS, str)) else PLAIN


def has_fraction(value: AbstractValue) -> bool:
    return any(_is_fraction(atom) for atom in value)


def _is_fraction(atom: AbstractAtom) -> bool:
    if isinstance(atom, KnownObject):
        return isinstance(atom.object, float | complex) or type(atom.object).__module__ in ("fractions", "decimal")
    return isinstance(atom, StateIndependent) and atom.fractional


def _is_text(atom: AbstractAtom) -> bool:
    if isinstance(atom, KnownObject):
        return isinstance(atom.object, str | bytes)
    return isinstance(atom, StateIndependent) and atom.textual


def _is_incomparable(atom: AbstractAtom) -> bool:
    """Tell whether no state value can equal it."""
    if isinstance(atom, KnownObject):
        value = atom.object
        own = find_author_method(type(value), "__eq__") is not None and not isinstance(value, int)
        return own or isinstance(value, str | bytes | tuple | list | dict | set | frozenset | type | type(None))
    return isinstance(atom, NewContainer | LocalFunction) or (
        isinstance(atom, StateIndependent) and atom.textual and not atom.fractional
    )


def _find_truth(atom: AbstractAtom) -> bool | None:
    match atom:
        case KnownObject(value) if atom.is_primitive() or isinstance(value, FunctionType | type | tuple):
            return bool(value)
        case LocalFunction():
            return True
    return None
