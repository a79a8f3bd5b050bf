"""The reader: abstract interpretation of a function's source, and of the functions that it calls."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE
from types import FunctionType
from typing import Any, TypeGuard

from fdverify.author_code.functions import AuthorFunction
from fdverify.author_code.source.abstract import (
    ANY,
    NOTHING,
    PLAIN,
    RECORD,
    Known,
    LocalFunction,
    OfState,
    Plain,
    Value,
    holds_state,
    join,
    known,
    made,
)
from fdverify.author_code.source.binding import bind_parameters, is_generator, required_names
from fdverify.author_code.source.calls import CACHES, given_away, is_filled, reachable, unbound
from fdverify.author_code.source.core import ROUND, Args, all_of_state, is_of_package
from fdverify.author_code.source.refusals import Refusal
from fdverify.author_code.source.scope import Scope, cells_of
from fdverify.author_code.source.signatures import Signature, signature
from fdverify.author_code.source.sources import FunctionNode, Owner, node_of, owner_of
from fdverify.author_code.source.statements import Statements

_DEEPEST = 30
"""The maximal depth of nested calls; what is called deeper is not read."""
_WIDE, _ENOUGH = 3, 8
"""The depths of recursion at which constants are widened, and at which the recursion is cut off."""
_GIVEN = {"phase": 2, "step property": 3}
"""The number of arguments that a function is called with, by its role; one for other roles."""


@dataclass
class Findings:
    """Summaries of functions read before: their results, and whether everything that they call could be read."""

    results: dict[Any, tuple[Value, bool]] = field(default_factory=dict)
    kept: list[Any] = field(default_factory=list)
    """The objects behind the keys, kept alive so that their identities are not reused."""


_lasting = Findings()
"""Summaries that hold for the whole process: those whose keys contain no identity of a changeable object."""


class Reader(Statements):
    def __init__(self, subject: AuthorFunction, findings: Findings) -> None:
        super().__init__(subject)
        self._findings = findings
        self._running: list[object] = []
        self._assumed: dict[Any, Value] = {}
        self._met: set[Any] = set()

    def read(self) -> bool:
        """Read the function; return whether all of it could be read."""
        return self._read(self.subject.function)

    def _read(self, function: Any) -> bool:
        if isinstance(function, CACHES):
            self._refuse_cache(function.__wrapped__)
        inner, bound = unbound(function)
        if inner is None:
            return False
        if owner_of(inner.__code__.co_filename) is Owner.STANDARD:  # the standard library has wrapped it
            self._read(getattr(function, "__wrapped__", None))
            return False
        if is_of_package(inner):
            read = [self._read(author_function) for author_function in reachable(function)]  # without short-circuiting
            return all(read)
        place = node_of(inner.__code__)
        if place is None:
            return False
        source, node = place
        scope = Scope(source, inner.__globals__)
        flavour = ANY if self.subject.role == ROUND else RECORD
        required = inner.__code__.co_argcount - len(inner.__defaults__ or ())
        count = max(required, min(_GIVEN.get(self.subject.role, 1) + len(bound), inner.__code__.co_argcount))
        args = Args([*bound, *[flavour] * (count - len(bound))])
        if node.args.vararg is not None:
            args.more = flavour
        args.named = dict.fromkeys(required_names(node, inner), flavour)
        result = self.run_function(inner, args, node, scope)
        self.escape(result, node, scope)
        return self.complete

    def _refuse_cache(self, function: Any) -> None:
        """Refuse a function of the state that is itself cached."""
        place = node_of(function.__code__)
        if place is not None:
            source, node = place
            self.refuse(Refusal.CACHE, node, Scope(source, function.__globals__))

    def run_function(self, function: FunctionType, args: Args, node: ast.AST, scope: Scope) -> Value:
        place = node_of(function.__code__)
        if place is None:
            return self._call_unknown(args, node, scope)
        if function.__code__.co_flags & _COROUTINE:
            self.note_unreadable()
            return PLAIN
        source, tree = place
        identity = _identity_of(function, args)
        self._check_recursion(identity, args, node, scope)
        repeated = self._running.count(identity)
        if repeated >= _ENOUGH or len(self.sites) >= _DEEPEST:
            return self._call_unknown(args, node, scope) if repeated < _ENOUGH else NOTHING
        if repeated >= _WIDE:
            args = Args([_widened(value) for value in args.positional], dict(args.named), args.more, args.more_named)
        defaults = [known(default) for default in function.__defaults__ or ()]
        named = {name: known(default) for name, default in (function.__kwdefaults__ or {}).items()}

        def run() -> Value:
            inner = Scope(source, function.__globals__, cells_of(function))
            return self._run_body(identity, tree, inner, (defaults, named), args, (node, scope))

        key = _key_of(function, args)
        return run() if key is None else self._recalled(key, function, args, run)

    def _recalled(self, key: Signature, function: FunctionType, args: Args, run: Callable[[], Value]) -> Value:
        """Return the summary of a call, or read it now; inside a recursion, return what is known so far."""
        findings = _lasting if key.lasts else self._findings
        if key in findings.results:
            result, complete = findings.results[key]
            self.complete = self.complete and complete
            return result
        if key in self._assumed:
            self._met.add(key)
            return self._assumed[key]
        before, self.complete = self.complete, True
        self._assumed[key] = NOTHING
        result = run()
        while key in self._met and result != self._assumed[key] and not _has_made(result):
            self._assumed[key] = result
            result = join(result, run())
        del self._assumed[key]
        # A result that rests on an assumption about an enclosing call does not hold by itself.
        if not _has_made(result) and not self._assumed.keys() & self._met:
            findings.results[key] = (result, self.complete)
            findings.kept.append((function, function.__closure__, args))
        self._met.discard(key)
        self.complete = self.complete and before
        return result

    def run_closure(self, closure: LocalFunction, args: Args, node: ast.AST, scope: Scope) -> Value:
        home = closure.scope
        self._check_recursion(closure, args, node, scope)
        if self._running.count(closure) >= _ENOUGH:
            return NOTHING
        if len(self.sites) >= _DEEPEST:
            return self._call_unknown(args, node, scope)
        simple = all(isinstance(atom, OfState | Plain | Known) for value in args.values() for atom in value)
        key = (
            closure,
            self.lasting,
            home.versions(),
            *args.positional,
            args.more,
            args.more_named,
            *sorted(args.named.items(), key=_name),
        )
        if simple and key in home.answers:
            return home.answers[key]
        inner = Scope(home.source, home.globals, parent=home)
        defaults = (closure.defaults, closure.keyword_defaults)
        result = self._run_body(closure, closure.node, inner, defaults, args, (node, scope))
        if simple and not _has_made(result):
            home.answers[key] = result
        return result

    def _run_body(
        self,
        identity: object,
        tree: FunctionNode,
        inner: Scope,
        defaults: tuple[list[Value], dict[str, Value]],
        args: Args,
        site: tuple[ast.AST, Scope],
    ) -> Value:
        bind_parameters(tree, inner, defaults[0], defaults[1], args)
        self._running.append(identity)
        self.sites.append((site[1], site[0]))
        try:
            if isinstance(tree, ast.Lambda):
                inner.returned = self.evaluate(tree.body, inner)
            elif self.run_block(tree.body, inner):
                inner.returned = join(inner.returned, known(None))
            # A function that escaped may be called later, when names have other values.
            for closure in list(inner.escaped):
                with self.handing_out():
                    self.run_closure(closure, given_away(closure.node, len(closure.defaults)), tree, inner)
        finally:
            self._running.pop()
            self.sites.pop()
        if inner.yielded or is_generator(tree):
            return made("iterator", rest=inner.yielded)
        return inner.returned

    def _check_recursion(self, identity: object, args: Args, node: ast.AST, scope: Scope) -> None:
        """Refuse a recursive call that only state values could end."""
        if identity not in self._running:
            return
        deciding = [value for value in args.values() if value and not _is_settled(value)]
        if deciding and all(all_of_state(value) for value in deciding):
            self.refuse(Refusal.RECURSION, node, scope)

    def read_any(self, function: Any, node: ast.AST, scope: Scope) -> None:
        inner, first = unbound(function)
        if inner is not None and _identity_of(inner, Args(first)) not in self._running:  # else it is being read
            super().read_any(function, node, scope)


_COROUTINE = CO_COROUTINE | CO_ASYNC_GENERATOR


def _identity_of(function: FunctionType, args: Args) -> tuple[object, ...]:
    """Identify a function together with the objects that it holds or is passed."""
    held = [cell.cell_contents for cell in function.__closure__ or () if is_filled(cell)]
    passed = [atom.object for value in args.values() for atom in value if _is_object(atom)]
    return (function.__code__, *(id(each) for each in (*held, *passed)))


def _is_object(atom: object) -> TypeGuard[Known]:
    return isinstance(atom, Known) and not atom.is_primitive()


def _key_of(function: FunctionType, args: Args) -> Signature | None:
    """Build the key of a call's summary; return ``None`` if the call could change an argument."""
    if not all(isinstance(atom, OfState | Plain | Known) for value in args.values() for atom in value):
        return None
    named = tuple((name, _signed(value)) for name, value in sorted(args.named.items(), key=_name))
    arguments = [*map(_signed, args.positional), _signed(args.more), _signed(args.more_named)]
    parts = [signature(function), *arguments, *(part for _, part in named)]
    lasts = all(part.lasts for part in parts)
    return Signature((*(part.key for part in parts), len(args.positional), tuple(name for name, _ in named)), lasts)


def _signed(value: Value) -> Signature:
    if len(value) == 1:
        (atom,) = value
        return signature(atom.object) if isinstance(atom, Known) else Signature(atom, True)
    return Signature(value, all(not isinstance(atom, Known) or atom.is_primitive() for atom in value))


def _name(entry: tuple[str, Value]) -> str:
    return entry[0]


def _has_made(value: Value) -> bool:
    return any(not isinstance(atom, OfState | Plain | Known) for atom in value)


def _is_settled(value: Value) -> bool:
    """Tell whether the value is a function or an object that is the same in every call."""
    return all(
        (isinstance(atom, Known) and not atom.is_primitive()) or isinstance(atom, LocalFunction) for atom in value
    )


def _widened(value: Value) -> Value:
    if holds_state(value) or not value:
        return value
    return PLAIN if all(isinstance(atom, Known) and atom.is_primitive() for atom in value) else value
