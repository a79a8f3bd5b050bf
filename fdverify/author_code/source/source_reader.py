"""The reader: abstract interpretation of a function's source, and of the functions that it calls."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE
from types import FunctionType
from typing import Any, TypeGuard

from fdverify.author_code.author_functions import AuthorFunction
from fdverify.author_code.source.abstract_values import (
    ANY,
    NOTHING,
    PLAIN,
    RECORD,
    AbstractValue,
    KnownObject,
    LocalFunction,
    StateDependent,
    StateIndependent,
    build_container,
    holds_state,
    join_values,
    lift_object,
)
from fdverify.author_code.source.call_reader import (
    CACHES,
    build_any_arguments,
    find_author_functions,
    is_filled,
    unbind_function,
)
from fdverify.author_code.source.parameter_binding import (
    bind_parameters,
    is_generator,
    list_required_keywords,
)
from fdverify.author_code.source.reader_base import ROUND, CallArguments, SourceTooLong, is_of_package, is_only_state
from fdverify.author_code.source.refusals import Refusal
from fdverify.author_code.source.scope import Scope, read_cells
from fdverify.author_code.source.signatures import Signature, build_signature
from fdverify.author_code.source.source_files import FileOwner, FunctionNode, find_node, find_owner
from fdverify.author_code.source.statement_reader import StatementReader

_DEEPEST = 30
"""The maximal depth of nested calls; what is called deeper is not read."""
_WIDENING_DEPTH, _RECURSION_LIMIT = 3, 8
"""The depths of recursion at which constants are widened, and at which the recursion is cut off."""
_ARGUMENT_COUNTS = {"phase": 2, "step property": 3}
"""The number of arguments that a function is called with, by its role; one for other roles."""


@dataclass
class SummaryCache:
    """Summaries of functions read before: their results, and whether everything that they call could be read."""

    results: dict[Any, tuple[AbstractValue, bool]] = field(default_factory=dict)
    kept: list[Any] = field(default_factory=list)
    """The objects behind the keys, kept alive so that their identities are not reused."""


_process_summaries = SummaryCache()
"""Summaries that hold for the whole process: those whose keys contain no identity of a changeable object."""


class SourceReader(StatementReader):
    def __init__(self, subject: AuthorFunction, findings: SummaryCache) -> None:
        super().__init__(subject)
        self._findings = findings
        self._running: list[object] = []
        self._assumed: dict[Any, AbstractValue] = {}
        self._met: set[Any] = set()

    def read(self) -> bool:
        """Read the function; return whether all of it could be read."""
        return self._read_function(self.subject.function)

    def _read_function(self, function: Any) -> bool:
        if isinstance(function, CACHES):
            self._refuse_cache(function.__wrapped__)
        inner, bound = unbind_function(function)
        if inner is None:
            return False
        if find_owner(inner.__code__.co_filename) is FileOwner.STANDARD:  # the standard library has wrapped it
            self._read_function(getattr(function, "__wrapped__", None))
            return False
        if is_of_package(inner):
            read = [
                self._read_function(author_function) for author_function in find_author_functions(function)
            ]  # without short-circuiting
            return all(read)
        place = find_node(inner.__code__)
        if place is None:
            return False
        source, node = place
        scope = Scope(source, inner.__globals__)
        flavour = ANY if self.subject.role == ROUND else RECORD
        required = inner.__code__.co_argcount - len(inner.__defaults__ or ())
        count = max(required, min(_ARGUMENT_COUNTS.get(self.subject.role, 1) + len(bound), inner.__code__.co_argcount))
        args = CallArguments([*bound, *[flavour] * (count - len(bound))])
        if node.args.vararg is not None:
            args.more = flavour
        args.named = dict.fromkeys(list_required_keywords(node, inner), flavour)
        result = self.run_function(inner, args, node, scope)
        self.escape(result, node, scope)
        return self.complete

    def _refuse_cache(self, function: Any) -> None:
        """Refuse a function of the state that is itself cached."""
        place = find_node(function.__code__)
        if place is not None:
            source, node = place
            self.refuse(Refusal.CACHE, node, Scope(source, function.__globals__))

    def run_function(self, function: FunctionType, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        place = find_node(function.__code__)
        if place is None:
            return self._call_unknown(args, node, scope)
        if function.__code__.co_flags & _COROUTINE:
            self.note_unreadable()
            return PLAIN
        source, tree = place
        identity = _build_identity(function, args)
        self._check_recursion(identity, args, node, scope)
        repeated = self._running.count(identity)
        if repeated >= _RECURSION_LIMIT or len(self.sites) >= _DEEPEST:
            return self._call_unknown(args, node, scope) if repeated < _RECURSION_LIMIT else NOTHING
        if repeated >= _WIDENING_DEPTH:
            args = CallArguments(
                [_widen_constants(value) for value in args.positional], dict(args.named), args.more, args.more_named
            )
        defaults = [lift_object(default) for default in function.__defaults__ or ()]
        named = {name: lift_object(default) for name, default in (function.__kwdefaults__ or {}).items()}

        def run_body() -> AbstractValue:
            inner = Scope(source, function.__globals__, read_cells(function))
            return self._run_body(identity, tree, inner, (defaults, named), args, (node, scope))

        key = _build_key(function, args)
        return run_body() if key is None else self._recall_or_run(key, function, args, run_body)

    def _recall_or_run(
        self, key: Signature, function: FunctionType, args: CallArguments, run: Callable[[], AbstractValue]
    ) -> AbstractValue:
        """Return the summary of a call, or read it now; inside a recursion, return what is known so far."""
        findings = _process_summaries if key.lasts else self._findings
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
        while key in self._met and result != self._assumed[key] and not _has_new_objects(result):
            self._assumed[key] = result
            result = join_values(result, run())
        del self._assumed[key]
        # A result that rests on an assumption about an enclosing call does not hold by itself.
        if not _has_new_objects(result) and not self._assumed.keys() & self._met:
            findings.results[key] = (result, self.complete)
            findings.kept.append((function, function.__closure__, args))
        self._met.discard(key)
        self.complete = self.complete and before
        return result

    def run_closure(self, closure: LocalFunction, args: CallArguments, node: ast.AST, scope: Scope) -> AbstractValue:
        home = closure.scope
        self._check_recursion(closure, args, node, scope)
        if self._running.count(closure) >= _RECURSION_LIMIT:
            return NOTHING
        if len(self.sites) >= _DEEPEST:
            return self._call_unknown(args, node, scope)
        simple = all(
            isinstance(atom, StateDependent | StateIndependent | KnownObject)
            for value in args.values()
            for atom in value
        )
        key = (
            closure,
            self.lasting,
            home.list_versions(),
            *args.positional,
            args.more,
            args.more_named,
            *sorted(args.named.items(), key=_get_name),
        )
        if simple and key in home.answers:
            return home.answers[key]
        inner = Scope(home.source, home.globals, parent=home)
        defaults = (closure.defaults, closure.keyword_defaults)
        result = self._run_body(closure, closure.node, inner, defaults, args, (node, scope))
        if simple and not _has_new_objects(result):
            home.answers[key] = result
        return result

    def _run_body(
        self,
        identity: object,
        tree: FunctionNode,
        inner: Scope,
        defaults: tuple[list[AbstractValue], dict[str, AbstractValue]],
        args: CallArguments,
        site: tuple[ast.AST, Scope],
    ) -> AbstractValue:
        bind_parameters(tree, inner, defaults[0], defaults[1], args)
        self._running.append(identity)
        self.sites.append((site[1], site[0]))
        try:
            if isinstance(tree, ast.Lambda):
                inner.returned = self.evaluate(tree.body, inner)
            elif self.run_block(tree.body, inner):
                inner.returned = join_values(inner.returned, lift_object(None))
            # A function that escaped may be called later, when names have other values.
            for closure in list(inner.escaped):
                with self.reading_escaped():
                    self.run_closure(closure, build_any_arguments(closure.node, len(closure.defaults)), tree, inner)
        finally:
            self._running.pop()
            self.sites.pop()
        if inner.yielded or is_generator(tree):
            return build_container("iterator", rest=inner.yielded)
        return inner.returned

    def _check_recursion(self, identity: object, args: CallArguments, node: ast.AST, scope: Scope) -> None:
        """Refuse a recursive call that only state values could end."""
        if identity not in self._running:
            return
        deciding = [value for value in args.values() if value and not _is_settled(value)]
        if deciding and all(is_only_state(value) for value in deciding):
            self.refuse(Refusal.RECURSION, node, scope)

    def read_with_any_arguments(self, function: Any, node: ast.AST, scope: Scope) -> None:
        inner, first = unbind_function(function)
        if (
            inner is not None and _build_identity(inner, CallArguments(first)) not in self._running
        ):  # else it is being read
            super().read_with_any_arguments(function, node, scope)


_COROUTINE = CO_COROUTINE | CO_ASYNC_GENERATOR


def _build_identity(function: FunctionType, args: CallArguments) -> tuple[object, ...]:
    """Identify a function together with the objects that it holds or is passed."""
    held = [cell.cell_contents for cell in function.__closure__ or () if is_filled(cell)]
    passed = [atom.object for value in args.values() for atom in value if _is_object(atom)]
    return (function.__code__, *(id(each) for each in (*held, *passed)))


def _is_object(atom: object) -> TypeGuard[KnownObject]:
    return isinstance(atom, KnownObject) and not atom.is_primitive()


def _build_key(function: FunctionType, args: CallArguments) -> Signature | None:
    """Build the key of a call's summary; return ``None`` if the call could change an argument."""
    if not all(
        isinstance(atom, StateDependent | StateIndependent | KnownObject) for value in args.values() for atom in value
    ):
        return None
    named = tuple((name, _sign_value(value)) for name, value in sorted(args.named.items(), key=_get_name))
    arguments = [*map(_sign_value, args.positional), _sign_value(args.more), _sign_value(args.more_named)]
    parts = [build_signature(function), *arguments, *(part for _, part in named)]
    lasts = all(part.lasts for part in parts)
    return Signature((*(part.key for part in parts), len(args.positional), tuple(name for name, _ in named)), lasts)


def _sign_value(value: AbstractValue) -> Signature:
    if len(value) == 1:
        (atom,) = value
        return build_signature(atom.object) if isinstance(atom, KnownObject) else Signature(atom, True)
    return Signature(value, all(not isinstance(atom, KnownObject) or atom.is_primitive() for atom in value))


def _get_name(entry: tuple[str, AbstractValue]) -> str:
    return entry[0]


def _has_new_objects(value: AbstractValue) -> bool:
    return any(not isinstance(atom, StateDependent | StateIndependent | KnownObject) for atom in value)


def _is_settled(value: AbstractValue) -> bool:
    """Tell whether the value is a function or an object that is the same in every call."""
    return all(
        (isinstance(atom, KnownObject) and not atom.is_primitive()) or isinstance(atom, LocalFunction) for atom in value
    )


def _widen_constants(value: AbstractValue) -> AbstractValue:
    if holds_state(value) or not value:
        return value
    return PLAIN if all(isinstance(atom, KnownObject) and atom.is_primitive() for atom in value) else value


def check_sources(functions: Iterable[AuthorFunction]) -> tuple[AuthorFunction, ...]:
    """Refuse source whose meaning may differ between symbols and values; return the functions that cannot be read."""
    findings = SummaryCache()
    return tuple(each for each in functions if not _read_function(each, findings))


def _read_function(function: AuthorFunction, findings: SummaryCache) -> bool:
    try:
        return SourceReader(function, findings).read()
    except (RecursionError, SourceTooLong):  # it is nested too deeply, or too long, to be read
        return False
