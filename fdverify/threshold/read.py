"""Reading threshold automata from ByMC's text format.  What is wrong is told with its line and column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, TypeAlias

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from fdverify.errors import UsageError, did_you_mean, nearby
from fdverify.logic import shortened
from fdverify.threshold.automaton import Automaton, Location, Rule, Specification
from fdverify.threshold.formula import (
    And,
    Comparison,
    Constant,
    Eventually,
    Formula,
    Globally,
    Implies,
    Linear,
    Not,
    Or,
    is_temporal,
    names,
)

Value: TypeAlias = Linear | Formula
Node: TypeAlias = Any
"""A tree or a token of the parser, whose classes are generic in ways that do not help here."""

_DEEPEST = 100
_MOST_DIGITS = 15
_CONNECTED: dict[str, type[And] | type[Or] | type[Implies]] = {"both": And, "either": Or, "implies": Implies}
_PREFIXED: dict[str, type[Not] | type[Eventually] | type[Globally]] = {
    "negation": Not,
    "eventually": Eventually,
    "globally": Globally,
}


@cache
def _parser() -> Lark:
    grammar = resources.files("fdverify.threshold").joinpath("grammar.lark").read_text()
    return Lark(
        grammar, parser="lalr", start=["start", "expression"], propagate_positions=True, maybe_placeholders=False
    )


def read_file(path: Path) -> Automaton:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        before = error.object[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        raise UsageError(f"{nearby(path)}:{line}:{column}: this is no text in UTF-8") from error
    return read(text, str(nearby(path)))


def read(text: str, file: str) -> Automaton:
    """The automaton that a text describes."""
    reader = _Reader(file)
    return reader.automaton(reader.tree(text, "start"))


def read_assumption(text: str, automaton: Automaton) -> Formula:
    """A resilience condition, written apart from the file."""
    reader = _Reader("--assume")
    reader.know(automaton)
    return reader.assumption(reader.tree(text, "expression"))


def _place(error: UnexpectedInput, text: str) -> tuple[int, int]:
    if error.line is None or error.line < 1:  # the text ends too early
        return text.count("\n") + 1, len(text) - text.rfind("\n")
    return error.line, error.column


def _unexpected(error: UnexpectedInput) -> str:
    if isinstance(error, UnexpectedEOF) or (isinstance(error, UnexpectedToken) and error.token.type == "$END"):
        return "the text ends too early"
    if isinstance(error, UnexpectedToken):
        return f"{shortened(error.token)!r} was not expected here"
    assert isinstance(error, UnexpectedCharacters), "there is no other kind"
    return f"{error.char!r} was not expected here"


class _Reader:
    """One text on its way to an automaton."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._kinds: dict[str, str] = {}
        self._macros: dict[str, Value] = {}

    def know(self, automaton: Automaton) -> None:
        """The names of an automaton that was read before."""
        self._kinds.update(dict.fromkeys((*automaton.parameters, *automaton.unknowns), "parameter"))
        self._kinds.update(dict.fromkeys(automaton.shared, "shared variable"))
        self._kinds.update(dict.fromkeys((location.name for location in automaton.locations), "location"))

    def tree(self, text: str, start: str) -> Node:
        try:
            tree = _parser().parse(text, start=start)
        except UnexpectedInput as error:
            raise self.wrong(*_place(error, text), _unexpected(error)) from error
        self.check_depth(tree)
        return tree

    def assumption(self, node: Node) -> Formula:
        return self._claim(node, {"parameter"})

    def wrong(self, line: int, column: int, what: str, hint: str | None = None) -> UsageError:
        return UsageError(f"{self._file}:{line}:{column}: {what}", hint)

    def _at(self, node: Node, what: str, hint: str | None = None) -> UsageError:
        place = node if isinstance(node, Token) else node.meta
        return self.wrong(getattr(place, "line", 1) or 1, getattr(place, "column", 1) or 1, what, hint)

    def check_depth(self, tree: Node) -> None:
        """Refuse what is nested so deeply that nobody has written it."""
        waiting = [(tree, 0)]
        while waiting:
            node, depth = waiting.pop()
            if depth > _DEEPEST and node.data not in ("plus", "minus", "both", "either"):
                raise self._at(node, f"this is nested more than {_DEEPEST} deep")
            waiting += [(child, depth + 1) for child in node.children if isinstance(child, Tree)]

    def automaton(self, tree: Node) -> Automaton:
        name, *items = tree.children
        lists = {kind: self._listed(items, kind) for kind in ("local", "shared", "parameters", "unknowns")}
        locations = tuple(self._location(node) for node in _inside(items, "locations"))
        for node in items:
            if node.data == "define":
                macro, expression = node.children
                self._declare(macro, "macro")
                self._macros[str(macro)] = self._value(expression)
        everything = {"shared variable", "parameter", "location"}
        return Automaton(
            name=str(name),
            local=lists["local"],
            shared=lists["shared"],
            parameters=lists["parameters"],
            unknowns=lists["unknowns"],
            assumptions=tuple(self.assumption(node) for node in _inside(items, "assumptions")),
            locations=locations,
            initial=tuple(self._claim(node, everything) for node in _inside(items, "inits")),
            rules=self._rules(list(_inside(items, "rules"))),
            specifications=self._specifications(list(_inside(items, "specifications")), everything),
        )

    def _declare(self, token: Node, kind: str) -> str:
        name = str(token)
        if name in self._kinds:
            raise self._at(token, f"{name} is declared twice")
        self._kinds[name] = kind
        return name

    def _listed(self, items: Sequence[Node], kind: str) -> tuple[str, ...]:
        role = {"local": "local variable", "shared": "shared variable"}.get(kind, "parameter")
        found = [token for item in items if item.data == kind for token in item.children[0].children]
        return tuple(self._declare(token, role) for token in found)

    def _location(self, node: Node) -> Location:
        name, *values = node.children
        return Location(self._declare(name, "location"), tuple(self._number(value) for value in values))

    def _rules(self, nodes: Sequence[Node]) -> tuple[Rule, ...]:
        rules: dict[int, Rule] = {}
        for node in nodes:
            number, source, target, guard, *actions = node.children
            key = self._number(number)
            if key in rules:
                raise self._at(number, f"there are two rules {key}")
            rules[key] = Rule(
                key,
                self._of_kind(source, "location"),
                self._of_kind(target, "location"),
                self._claim(guard, {"shared variable", "parameter"}),
                self._adds(actions),
            )
        return tuple(rules.values())

    def _adds(self, actions: Sequence[Node]) -> tuple[tuple[str, int], ...]:
        seen: dict[str, int] = {}
        for action in actions:
            if action.data == "unchanged":
                changes = [(token, 0) for token in action.children[0].children]
            else:
                token, expression = action.children
                changes = [(token, self._growth(str(token), expression))]
            for token, growth in changes:
                name = self._of_kind(token, "shared variable")
                if name in seen:
                    raise self._at(token, f"{name} is updated twice")
                seen[name] = growth
        return tuple((name, growth) for name, growth in sorted(seen.items()) if growth > 0)

    def _growth(self, name: str, expression: Node) -> int:
        value = self._value(expression)
        grown = value.plus(Linear.of({name: 1}), -1) if isinstance(value, Linear) else None
        if grown is None or grown.factors or grown.constant < 0:
            raise self._at(expression, f"shared variables only grow by numbers: {name}' == {name} + 1")
        return grown.constant

    def _specifications(self, nodes: Sequence[Node], kinds: set[str]) -> tuple[Specification, ...]:
        found: dict[str, Specification] = {}
        for node in nodes:
            name, expression = node.children
            if str(name) in found:
                raise self._at(name, f"there are two specifications {name}")
            found[str(name)] = Specification(str(name), self._claim(expression, kinds, temporal=True))
        return tuple(found.values())

    def _of_kind(self, token: Node, kind: str) -> str:
        name = str(token)
        if self._kinds.get(name) != kind:
            known = [each for each, other in self._kinds.items() if other == kind]
            raise self._at(token, f"{name} is no {kind}", did_you_mean(name, known) if known else None)
        return name

    def _number(self, token: Node) -> int:
        if len(token) > _MOST_DIGITS:
            raise self._at(token, f"a number has at most {_MOST_DIGITS} digits")
        return int(token)

    def _claim(self, node: Node, kinds: set[str], temporal: bool = False) -> Formula:
        """A truth value over names of these kinds."""
        value = self._value(node)
        if isinstance(value, Linear):
            raise self._at(node, "this is a number, and a truth value is needed", "compare it: x >= 1")
        if not temporal and is_temporal(value):
            raise self._at(node, "<> and [] belong to specifications")
        for name in sorted(names(value)):
            if self._kinds[name] not in kinds:
                raise self._at(node, f"{name} is a {self._kinds[name]}, which is not spoken of here")
        return value

    def _value(self, node: Node) -> Value:
        match node.data:
            case "name":
                return self._named(node.children[0])
            case "number":
                return Linear(constant=self._number(node.children[0]))
            case "true" | "false":
                return Constant(node.data == "true")
            case "compared":
                left, operator, right = node.children
                return Comparison(self._sum(left), str(operator), self._sum(right))
            case "plus" | "minus" | "both" | "either" | "implies":
                return self._chained(node)
            case "times":
                left, right = (self._sum(child) for child in node.children)
                if left.factors and right.factors:
                    raise self._at(node, "a product of two names is not linear")
                return left.times(right.constant) if left.factors else right.times(left.constant)
            case "minus_sign":
                return self._sum(node.children[0]).times(-1)
            case prefix:
                return _PREFIXED[prefix](self._truth(node.children[0]))

    def _chained(self, node: Node) -> Value:
        """A chain that leans to the left, however long, from its first link on."""
        links = []
        while isinstance(node, Tree) and node.data in ("plus", "minus", "both", "either", "implies"):
            left, right = node.children
            links.append((node.data, right))
            node = left
        value = self._value(node)
        for kind, right in reversed(links):
            if kind in ("plus", "minus"):
                value = self._as_sum(value, node).plus(self._sum(right), 1 if kind == "plus" else -1)
            else:
                value = _CONNECTED[kind](self._as_truth(value, node), self._truth(right))
        return value

    def _named(self, token: Node) -> Value:
        name = str(token)
        if name in self._macros:
            return self._macros[name]
        if name not in self._kinds:
            raise self._at(token, f"there is no {name}", did_you_mean(name, self._kinds) if self._kinds else None)
        return Linear.of({name: 1})

    def _sum(self, node: Node) -> Linear:
        return self._as_sum(self._value(node), node)

    def _truth(self, node: Node) -> Formula:
        return self._as_truth(self._value(node), node)

    def _as_sum(self, value: Value, node: Node) -> Linear:
        if not isinstance(value, Linear):
            raise self._at(node, "this is a truth value, and a number is needed")
        return value

    def _as_truth(self, value: Value, node: Node) -> Formula:
        if isinstance(value, Linear):
            raise self._at(node, "this is a number, and a truth value is needed", "compare it: x >= 1")
        return value


def _inside(items: Sequence[Node], section: str) -> Iterator[Node]:
    """What is in the sections of a name."""
    for item in items:
        if item.data == section:
            yield from (child for child in item.children if child.data != "size")
