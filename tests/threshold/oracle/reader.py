"""Reading threshold automata in the text format of ByMC."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain

from tests.threshold.oracle.expressions import ExpressionReader, number, truth
from tests.threshold.oracle.formulas import Formula, Sum, names_of


@dataclass
class Rule:
    source: str
    target: str
    guard: Formula
    adds: dict[str, int]


@dataclass
class Automaton:
    parameters: list[str] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)
    locations: list[str] = field(default_factory=list)
    assumptions: list[Formula] = field(default_factory=list)
    inits: list[Formula] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    specifications: dict[str, Formula] = field(default_factory=dict)


class Reader(ExpressionReader):
    """One method for each part of an automaton."""

    def name(self) -> str:
        token = self.take()
        if not (token[0].isalpha() or token[0] == "_"):
            raise ValueError(f"{token!r} is no name")
        return token

    def names(self, end: str) -> list[str]:
        found: list[str] = []
        while not self.skip(end):
            if found:
                self.need(",")
            found.append(self.name())
        return found

    def section(self) -> Iterator[None]:
        """Once for each entry of a section."""
        if self.skip("("):
            self.take()
            self.need(")")
        self.need("{")
        while not self.skip("}"):
            yield

    def automaton(self) -> Automaton:
        if self.take() not in ("skel", "thresholdAutomaton", "threshAuto"):
            raise ValueError("this is no automaton")
        self.name()
        self.need("{")
        found = Automaton()
        while not self.skip("}"):
            self.item(found)
        if self.at != len(self.tokens):
            raise ValueError("there is more after the end")
        check_names(found)
        return found

    def item(self, found: Automaton) -> None:
        match self.take():
            case "local":
                self.names(";")
            case "shared":
                found.shared += self.names(";")
            case "parameters" | "unknowns":
                found.parameters += self.names(";")
            case "define":
                name = self.name()
                self.need("==")
                self.macros[name] = self.implication()
                self.need(";")
            case "assumptions":
                for _ in self.section():
                    found.assumptions.append(self.claim())
            case "inits":
                for _ in self.section():
                    found.inits.append(self.claim())
            case "locations":
                for _ in self.section():
                    found.locations.append(self.location())
            case "rules":
                for _ in self.section():
                    found.rules.append(self.rule())
            case "specifications":
                for _ in self.section():
                    name = self.name()
                    self.need(":")
                    found.specifications[name] = self.claim()
            case other:
                raise ValueError(f"what is {other!r}?")

    def location(self) -> str:
        name = self.name()
        self.need(":")
        if not self.skip("[]"):
            self.need("[")
            while not self.skip("]"):
                self.take()
        self.need(";")
        return name

    def claim(self) -> Formula:
        found = truth(self.implication())
        self.need(";")
        return found

    def rule(self) -> Rule:
        self.take()
        self.need(":")
        source = self.name()
        self.need("->")
        target = self.name()
        self.need("when", "(")
        guard = truth(self.implication())
        self.need(")", "do", "{")
        adds: dict[str, int] = {}
        while not self.skip("}"):
            if self.skip("unchanged"):
                self.need("(")
                self.names(")")
            else:
                name = self.name()
                self.need("'", "==")
                growth = number(self.implication()).plus(Sum(((name, 1),), 0), -1)
                if growth.factors or growth.constant < 0 or name in adds:
                    raise ValueError(f"{name} does not grow by a number")
                adds[name] = growth.constant
            self.need(";")
        self.need(";")
        return Rule(source, target, guard, adds)


def check_names(automaton: Automaton) -> None:
    """Refuse names that are not declared, or not for where they stand."""
    parameters, shared, locations = set(automaton.parameters), set(automaton.shared), set(automaton.locations)
    everything = parameters | shared | locations
    used = chain(
        ((names_of(formula), parameters) for formula in automaton.assumptions),
        ((names_of(formula), everything) for formula in automaton.inits),
        ((names_of(formula), everything) for formula in automaton.specifications.values()),
        ((names_of(rule.guard), parameters | shared) for rule in automaton.rules),
        ((set(rule.adds), shared) for rule in automaton.rules),
        (({rule.source, rule.target}, locations) for rule in automaton.rules),
    )
    for names, known in used:
        if not names <= known:
            raise ValueError(f"there is no {', '.join(sorted(names - known))}")


@lru_cache(maxsize=16)
def read(text: str) -> Automaton:
    return Reader(text).automaton()
