"""Reader of threshold automata in ByMC's text format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from fdverify.logic import shorten_value
from fdverify.threshold.automaton import Automaton, Location, Rule, Specification
from fdverify.threshold.ltl_formula import Formula, LinearExpression
from fdverify.threshold.text.expression_converter import ExpressionConverter
from fdverify.threshold.text.parse import Node, TextSource, read_text

_EVERYTHING = {"shared variable", "parameter", "location"}


def read_automaton(path: Path) -> Automaton:
    return parse_automaton(read_text(path), path)


def parse_automaton(text: str, file: Path | str) -> Automaton:
    """Parse an automaton; errors are in this file."""
    source = TextSource(Path(file))
    return _AutomatonReader(source).convert_automaton(source.parse(text, "start"))


def parse_assumption(text: str, automaton: Automaton) -> Formula:
    """Parse a resilience condition that is given on the command line."""
    source = TextSource("--assume")
    reader = _AutomatonReader(source)
    reader.declare_names(automaton)
    return reader.convert_assumption(source.parse(text, "expression"))


def parse_claim(text: str, names: Iterable[str], place: str) -> Formula:
    """Parse a formula over these names, without temporal operators."""
    return _declare_all(names, place).convert_formula(TextSource(place).parse(text, "expression"), {"name"})


def parse_specification(text: str, names: Iterable[str], macros: Mapping[str, Formula], place: str) -> Formula:
    """Parse a formula over these names and macros, with temporal operators."""
    expressions = _declare_all(names, place)
    for name, value in macros.items():
        expressions.define_formula(name, value)
    return expressions.convert_formula(TextSource(place).parse(text, "expression"), {"name", "macro"}, temporal=True)


def parse_linear(text: str, names: Iterable[str], place: str) -> LinearExpression:
    """Parse a linear expression over these names."""
    return _declare_all(names, place).convert_linear(TextSource(place).parse(text, "expression"))


def _declare_all(names: Iterable[str], place: str) -> ExpressionConverter:
    expressions = ExpressionConverter(TextSource(place))
    for name in names:
        expressions.declare_name(name, "name")
    return expressions


class _AutomatonReader:
    """The conversion of one syntax tree to an automaton."""

    def __init__(self, source: TextSource) -> None:
        self._source = source
        self._expressions = ExpressionConverter(source)

    def declare_names(self, automaton: Automaton) -> None:
        """Declare the names of an automaton."""
        for kind, names in (
            ("parameter", (*automaton.parameters, *automaton.unknowns)),
            ("shared variable", automaton.shared),
            ("location", [location.name for location in automaton.locations]),
        ):
            for name in names:
                self._expressions.declare_name(name, kind)

    def convert_assumption(self, node: Node) -> Formula:
        return self._expressions.convert_formula(node, {"parameter"})

    def convert_automaton(self, tree: Node) -> Automaton:
        name, *items = tree.children
        local = self._declare_listed(items, "local", "local variable")
        shared = self._declare_listed(items, "shared", "shared variable")
        parameters = self._declare_listed(items, "parameters", "parameter")
        unknowns = self._declare_listed(items, "unknowns", "parameter")
        locations = tuple(self._convert_location(node, len(local)) for node in self._find_entries(items, "locations"))
        for item in items:
            if item.data == "define":
                self._expressions.define_macro(*item.children)
        return Automaton(
            name=str(name),
            local=local,
            shared=shared,
            parameters=parameters,
            unknowns=unknowns,
            assumptions=tuple(self.convert_assumption(node) for node in self._find_entries(items, "assumptions")),
            locations=locations,
            initial=tuple(
                self._expressions.convert_formula(node, _EVERYTHING) for node in self._find_entries(items, "inits")
            ),
            rules=self._convert_rules(self._find_entries(items, "rules")),
            specifications=self._convert_specifications(self._find_entries(items, "specifications")),
        )

    def _find_entries(self, items: Sequence[Node], section: str) -> Sequence[Node]:
        """Return the entries of a section; refuse a section that occurs twice."""
        sections = [item for item in items if item.data == section]
        if len(sections) > 1:
            raise self._source.build_error(sections[1], f"there are two sections {section}")
        return sections[0].children[2:] if sections else []

    def _declare_listed(self, items: Sequence[Node], keyword: str, kind: str) -> tuple[str, ...]:
        """Declare the names that are listed after a keyword."""
        tokens = [token for item in items if item.data == keyword for token in item.children[0].children]
        return tuple(self._expressions.declare_name(token, kind) for token in tokens)

    def _convert_location(self, node: Node, local: int) -> Location:
        name, *values = node.children
        if len(values) != local:
            problem = (
                f"a location has a value for each local variable ({local}), but {shorten_value(name)} has {len(values)}"
            )
            raise self._source.build_error(name, problem)
        return Location(
            self._expressions.declare_name(name, "location"),
            tuple(self._expressions.parse_number(value) for value in values),
        )

    def _convert_rules(self, nodes: Sequence[Node]) -> tuple[Rule, ...]:
        # Rule numbers need not be unique: in published files they are not.
        rules = []
        for node in nodes:
            number, source, target, guard, *actions = node.children
            rules.append(
                Rule(
                    self._expressions.parse_number(number),
                    self._expressions.check_kind(source, "location"),
                    self._expressions.check_kind(target, "location"),
                    self._expressions.convert_formula(guard, {"shared variable", "parameter"}),
                    self._convert_updates(actions),
                )
            )
        return tuple(rules)

    def _convert_updates(self, actions: Sequence[Node]) -> tuple[tuple[str, int], ...]:
        updates: dict[str, int] = {}
        for action in actions:
            if action.data == "unchanged":
                changes = [(token, 0) for token in action.children[0].children]
            else:
                token, expression = action.children
                changes = [(token, self._expressions.convert_update(str(token), expression))]
            for token, growth in changes:
                name = self._expressions.check_kind(token, "shared variable")
                if name in updates:
                    raise self._source.build_error(token, f"{shorten_value(name)} is updated twice")
                updates[name] = growth
        return tuple((name, growth) for name, growth in sorted(updates.items()) if growth > 0)

    def _convert_specifications(self, nodes: Sequence[Node]) -> tuple[Specification, ...]:
        specifications: dict[str, Specification] = {}
        for node in nodes:
            token, expression = node.children
            name = str(token)
            if name in specifications:
                raise self._source.build_error(token, f"there are two specifications {shorten_value(name)}")
            specifications[name] = Specification(
                name, self._expressions.convert_formula(expression, _EVERYTHING, temporal=True)
            )
        return tuple(specifications.values())
