"""Reader of threshold automata in ByMC's text format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from fdverify.errors import nearby
from fdverify.logic import shortened
from fdverify.threshold.automaton import Automaton, Location, Rule, Specification
from fdverify.threshold.formula import Formula, Linear
from fdverify.threshold.text.expressions import Expressions
from fdverify.threshold.text.parse import Node, Source, text_of

_EVERYTHING = {"shared variable", "parameter", "location"}


def read_file(path: Path) -> Automaton:
    return read(text_of(path), str(nearby(path)))


def read(text: str, file: str) -> Automaton:
    """Parse an automaton."""
    source = Source(file)
    return _Reader(source).automaton(source.tree(text, "start"))


def read_assumption(text: str, automaton: Automaton) -> Formula:
    """Parse a resilience condition that is given on the command line."""
    source = Source("--assume")
    reader = _Reader(source)
    reader.know(automaton)
    return reader.assumption(source.tree(text, "expression"))


def read_claim(text: str, names: Iterable[str], place: str) -> Formula:
    """Parse a formula over these names, without temporal operators."""
    return _over(names, place).claim(Source(place).tree(text, "expression"), {"name"})


def read_specification(text: str, names: Iterable[str], macros: Mapping[str, Formula], place: str) -> Formula:
    """Parse a formula over these names and macros, with temporal operators."""
    expressions = _over(names, place)
    for name, value in macros.items():
        expressions.name(name, value)
    return expressions.claim(Source(place).tree(text, "expression"), {"name", "macro"}, temporal=True)


def read_linear(text: str, names: Iterable[str], place: str) -> Linear:
    """Parse a linear expression over these names."""
    return _over(names, place).sum(Source(place).tree(text, "expression"))


def _over(names: Iterable[str], place: str) -> Expressions:
    expressions = Expressions(Source(place))
    for name in names:
        expressions.declare(name, "name")
    return expressions


class _Reader:
    """The conversion of one syntax tree to an automaton."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._expressions = Expressions(source)

    def know(self, automaton: Automaton) -> None:
        """Declare the names of an automaton."""
        for kind, names in (
            ("parameter", (*automaton.parameters, *automaton.unknowns)),
            ("shared variable", automaton.shared),
            ("location", [location.name for location in automaton.locations]),
        ):
            for name in names:
                self._expressions.declare(name, kind)

    def assumption(self, node: Node) -> Formula:
        return self._expressions.claim(node, {"parameter"})

    def automaton(self, tree: Node) -> Automaton:
        name, *items = tree.children
        local = self._listed(items, "local", "local variable")
        shared = self._listed(items, "shared", "shared variable")
        parameters = self._listed(items, "parameters", "parameter")
        unknowns = self._listed(items, "unknowns", "parameter")
        locations = tuple(self._location(node, len(local)) for node in self._entries(items, "locations"))
        for item in items:
            if item.data == "define":
                self._expressions.define(*item.children)
        return Automaton(
            name=str(name),
            local=local,
            shared=shared,
            parameters=parameters,
            unknowns=unknowns,
            assumptions=tuple(self.assumption(node) for node in self._entries(items, "assumptions")),
            locations=locations,
            initial=tuple(self._expressions.claim(node, _EVERYTHING) for node in self._entries(items, "inits")),
            rules=self._rules(self._entries(items, "rules")),
            specifications=self._specifications(self._entries(items, "specifications")),
        )

    def _entries(self, items: Sequence[Node], section: str) -> Sequence[Node]:
        """Return the entries of a section; refuse a section that occurs twice."""
        sections = [item for item in items if item.data == section]
        if len(sections) > 1:
            raise self._source.wrong(sections[1], f"there are two sections {section}")
        return sections[0].children[2:] if sections else []

    def _listed(self, items: Sequence[Node], keyword: str, kind: str) -> tuple[str, ...]:
        """Declare the names that are listed after a keyword."""
        tokens = [token for item in items if item.data == keyword for token in item.children[0].children]
        return tuple(self._expressions.declare(token, kind) for token in tokens)

    def _location(self, node: Node, local: int) -> Location:
        name, *values = node.children
        if len(values) != local:
            problem = (
                f"a location has a value for each local variable ({local}), but {shortened(name)} has {len(values)}"
            )
            raise self._source.wrong(name, problem)
        return Location(
            self._expressions.declare(name, "location"), tuple(self._expressions.number(value) for value in values)
        )

    def _rules(self, nodes: Sequence[Node]) -> tuple[Rule, ...]:
        # Rule numbers need not be unique: in published files they are not.
        rules = []
        for node in nodes:
            number, source, target, guard, *actions = node.children
            rules.append(
                Rule(
                    self._expressions.number(number),
                    self._expressions.of_kind(source, "location"),
                    self._expressions.of_kind(target, "location"),
                    self._expressions.claim(guard, {"shared variable", "parameter"}),
                    self._adds(actions),
                )
            )
        return tuple(rules)

    def _adds(self, actions: Sequence[Node]) -> tuple[tuple[str, int], ...]:
        updates: dict[str, int] = {}
        for action in actions:
            if action.data == "unchanged":
                changes = [(token, 0) for token in action.children[0].children]
            else:
                token, expression = action.children
                changes = [(token, self._expressions.growth(str(token), expression))]
            for token, growth in changes:
                name = self._expressions.of_kind(token, "shared variable")
                if name in updates:
                    raise self._source.wrong(token, f"{shortened(name)} is updated twice")
                updates[name] = growth
        return tuple((name, growth) for name, growth in sorted(updates.items()) if growth > 0)

    def _specifications(self, nodes: Sequence[Node]) -> tuple[Specification, ...]:
        specifications: dict[str, Specification] = {}
        for node in nodes:
            token, expression = node.children
            name = str(token)
            if name in specifications:
                raise self._source.wrong(token, f"there are two specifications {shortened(name)}")
            specifications[name] = Specification(name, self._expressions.claim(expression, _EVERYTHING, temporal=True))
        return tuple(specifications.values())
