"""Statements: how the values of names change along the paths through a function."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from fdverify.author_code.source.abstract_values import (
    NOTHING,
    PLAIN,
    AbstractValue,
    NewContainer,
    holds_state,
    join_values,
    lift_object,
)
from fdverify.author_code.source.expression_reader import ExpressionReader
from fdverify.author_code.source.reader_base import CallArguments
from fdverify.author_code.source.refusals import Refusal
from fdverify.author_code.source.scope import LoopExits, Scope, join_environments
from fdverify.models.loading import find_neighbours

_PASSES = 6
"""A loop is read until the values of its names reach a fixpoint, but at most this often."""


class StatementReader(ExpressionReader):
    def run_block(self, statements: Sequence[ast.stmt], scope: Scope) -> bool:
        """Read statements in order; return whether the code after them is reached."""
        return all(self._run_statement(statement, scope) for statement in statements)

    def _run_statement(self, node: ast.stmt, scope: Scope) -> bool:
        handler = getattr(self, f"_do_{type(node).__name__}", None)
        if handler is None:  # such as async with
            self.note_unreadable()
            return True
        return handler(node, scope) is not False

    def _do_Expr(self, node: ast.Expr, scope: Scope) -> None:
        self.evaluate(node.value, scope)

    def _do_Pass(self, node: ast.Pass, scope: Scope) -> None: ...

    def _do_TypeAlias(self, node: ast.stmt, scope: Scope) -> None: ...

    def _do_Return(self, node: ast.Return, scope: Scope) -> bool:
        value = lift_object(None) if node.value is None else self.evaluate(node.value, scope)
        scope.returned = join_values(scope.returned, value)
        return False

    def _do_Raise(self, node: ast.Raise, scope: Scope) -> bool:
        for part in (node.exc, node.cause):
            if part is not None:
                self.evaluate(part, scope)
        return False

    def _do_Assign(self, node: ast.Assign, scope: Scope) -> None:
        value = self.evaluate(node.value, scope)
        for target in node.targets:
            self.assign(target, value, scope)

    def _do_AnnAssign(self, node: ast.AnnAssign, scope: Scope) -> None:
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value, scope), scope)

    def _do_AugAssign(self, node: ast.AugAssign, scope: Scope) -> None:
        before, value = self.evaluate(node.target, scope), self.evaluate(node.value, scope)
        self.assign(node.target, self.apply_augmented_operator(node.op, before, value, node, scope), scope)

    def _do_Delete(self, node: ast.Delete, scope: Scope) -> None:
        for target in node.targets:
            match target:
                case ast.Name():
                    scope.env.pop(target.id, None)
                case ast.Attribute() | ast.Subscript():
                    base = self.evaluate(target.value, scope)
                    for atom in base:
                        if not isinstance(atom, NewContainer):
                            self.refuse(Refusal.MEMORY, node, scope)
                        self.check_change(atom, node, scope)
                    if isinstance(target, ast.Subscript) and holds_state(self.evaluate(target.slice, scope)):
                        self.refuse(Refusal.INDEX, node, scope)

    def assign(self, target: ast.expr, value: AbstractValue, scope: Scope) -> None:
        match target:
            case ast.Name(id=name):
                self._assign_name(name, value, target, scope)
            case ast.Attribute():
                self.store_attribute(self.evaluate(target.value, scope), target.attr, value, target, scope)
            case ast.Subscript():
                base, key = self.evaluate(target.value, scope), self.evaluate(target.slice, scope)
                self.store_item(base, key, value, target, scope)
            case ast.Tuple() | ast.List():
                self._assign_parts(target.elts, value, target, scope)
            case ast.Starred():
                self.assign(target.value, frozenset({NewContainer("list", rest=value)}), scope)

    def _assign_parts(self, targets: list[ast.expr], value: AbstractValue, node: ast.expr, scope: Scope) -> None:
        starred = next((place for place, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
        if starred is None:
            parts = self.unpack(value, len(targets), node, scope)
        else:
            items, rest = self.spread(value, node, scope)
            after = len(items) - (len(targets) - 1 - starred)
            middle = join_values(rest, *items[starred:after])
            parts = [rest] * len(targets) if rest else [*items[:starred], middle, *items[after:]]
            parts = parts if len(parts) == len(targets) else [join_values(rest, *items)] * len(targets)
        for target, part in zip(targets, parts, strict=True):
            self.assign(target, part, scope)

    def _assign_name(self, name: str, value: AbstractValue, node: ast.expr, scope: Scope) -> None:
        if name in scope.outer_names:
            home = scope.find_home(name)
            if home is None:
                self.refuse(Refusal.MEMORY, node, scope)
            self.check_change(home, node, scope)
            home.bind(name, join_values(home.env.get(name, NOTHING), value))
            return
        if name in scope.global_names:
            self.refuse(Refusal.MEMORY, node, scope)
        scope.bind(name, value)

    def _do_Global(self, node: ast.Global, scope: Scope) -> None:
        scope.global_names.update(node.names)

    def _do_Nonlocal(self, node: ast.Nonlocal, scope: Scope) -> None:
        scope.outer_names.update(node.names)

    def _do_FunctionDef(self, node: ast.FunctionDef, scope: Scope) -> None:
        value: AbstractValue = frozenset({self.build_closure(node, scope)})
        for decorator in reversed(node.decorator_list):
            value = self.call(self.evaluate(decorator, scope), CallArguments([value]), decorator, scope)
        scope.bind(node.name, value)

    def _do_ClassDef(self, node: ast.ClassDef, scope: Scope) -> None:
        self.refuse(Refusal.LOCAL_CLASS, node, scope)

    def _do_Import(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            whole = self._find_imported_module(alias.name, scope)
            first = self._find_imported_module(alias.name.partition(".")[0], scope)
            scope.bind(alias.asname or alias.name.partition(".")[0], whole if alias.asname else first)

    def _do_ImportFrom(self, node: ast.ImportFrom, scope: Scope) -> None:
        package = str(scope.globals.get("__package__") or "")
        parts = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
        module = self._find_imported_module(".".join([*parts, *([node.module] if node.module else [])]), scope)
        for alias in node.names:
            scope.bind(alias.asname or alias.name, self.read_attribute(module, alias.name, node, scope))

    def _find_imported_module(self, name: str, scope: Scope) -> AbstractValue:
        """Find a module that is imported in a function; if it was not loaded before, nothing is known of it."""
        module = find_neighbours(Path(scope.source.path)).get(name) or sys.modules.get(name)
        return PLAIN if module is None else lift_object(module)

    def _do_If(self, node: ast.If, scope: Scope) -> bool:
        match self.decide_truth(self.evaluate(node.test, scope), Refusal.IF, node.test, scope):
            case True:
                return self.run_block(node.body, scope)
            case False:
                return self.run_block(node.orelse, scope)
        before, ends = scope.env, []
        for block in (node.body, node.orelse):
            scope.env = dict(before)
            if self.run_block(block, scope):
                ends.append(scope.env)
        scope.env = join_environments(*ends) if ends else dict(before)
        return bool(ends)

    def _do_For(self, node: ast.For, scope: Scope) -> bool:
        elements = self.read_elements(self.evaluate(node.iter, scope), node.iter, scope)

        def begin_iteration() -> bool:
            self.assign(node.target, elements, scope)
            return True

        return self._run_loop(node, scope, begin_iteration)

    def _do_While(self, node: ast.While, scope: Scope) -> bool:
        def begin_iteration() -> bool:
            return self.decide_truth(self.evaluate(node.test, scope), Refusal.WHILE, node.test, scope) is not False

        return self._run_loop(node, scope, begin_iteration)

    def _run_loop(self, node: ast.For | ast.While, scope: Scope, begin: Callable[[], bool]) -> bool:
        loop, head = LoopExits(), dict(scope.env)
        scope.loops.append(loop)
        for passes in range(_PASSES):
            scope.env = dict(head)
            if not begin():
                break
            alive = self.run_block(node.body, scope)
            grown = join_environments(head, *loop.again, *([scope.env] if alive else []))
            # A change of a container does not show in the names, so read the body at least twice.
            if grown == head and passes > 0:
                break
            head = grown
        scope.loops.pop()
        endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
        scope.env = dict(head)
        ends = [] if endless else [scope.env]
        if not endless and not self.run_block(node.orelse, scope):
            ends = []
        ends = [*([scope.env] if ends else []), *loop.left]
        scope.env = join_environments(*ends) if ends else dict(head)
        return bool(ends)

    def _do_Break(self, node: ast.Break, scope: Scope) -> bool:
        scope.loops[-1].left.append(dict(scope.env))
        return False

    def _do_Continue(self, node: ast.Continue, scope: Scope) -> bool:
        scope.loops[-1].again.append(dict(scope.env))
        return False

    def _do_Assert(self, node: ast.Assert, scope: Scope) -> None:
        self.decide_truth(self.evaluate(node.test, scope), Refusal.ASSERT, node, scope)
        if node.msg is not None:
            self.evaluate(node.msg, scope)

    def _do_Match(self, node: ast.Match, scope: Scope) -> bool:
        subject = self.evaluate(node.subject, scope)
        if holds_state(subject):
            self.refuse(Refusal.MATCH, node.subject, scope)
        before, ends = scope.env, [scope.env]
        for case in node.cases:
            scope.env = dict(before)
            for part in ast.walk(case.pattern):
                name = getattr(part, "name", None) or getattr(part, "rest", None)
                if isinstance(name, str):
                    scope.bind(name, join_values(PLAIN, subject))
            if case.guard is not None:
                self.decide_truth(self.evaluate(case.guard, scope), Refusal.IF, case.guard, scope)
            if self.run_block(case.body, scope):
                ends.append(scope.env)
        scope.env = join_environments(*ends)
        return True

    def _do_Try(self, node: ast.Try, scope: Scope) -> bool:
        before, touched = dict(scope.env), self.touched
        alive = self.run_block(node.body, scope)
        if node.handlers and self.touched > touched:
            self.refuse(Refusal.CATCH, node, scope)
        ends = [scope.env] if alive and self.run_block(node.orelse, scope) else []
        for handler in node.handlers:
            scope.env = join_environments(before, *ends)
            if handler.name is not None:
                scope.bind(handler.name, PLAIN)
            if self.run_block(handler.body, scope):
                ends.append(scope.env)
        scope.env = join_environments(*ends) if ends else before
        return self.run_block(node.finalbody, scope) and bool(ends)

    _do_TryStar = _do_Try

    def _do_With(self, node: ast.With, scope: Scope) -> bool:
        touched = self.touched
        managers = []
        for item in node.items:
            manager = self.evaluate(item.context_expr, scope)
            managers.append(manager)
            entered = self.call_own_method(manager, "__enter__", [], item.context_expr, scope) or PLAIN
            if item.optional_vars is not None:
                self.assign(item.optional_vars, join_values(PLAIN, manager, entered), scope)
        alive = self.run_block(node.body, scope)
        for manager in managers:
            self.call_own_method(manager, "__exit__", [PLAIN, PLAIN, PLAIN], node, scope)
        if self.touched > touched:
            self.refuse(Refusal.WITH, node, scope)
        return alive
