"""Threshold automata at fixed small parameters, checked by walking through every configuration.

An oracle to compare other engines with: it shares no code with them.  It reads the text by itself, lists all
configurations that can be reached, and searches their product with what is left to be done of the negated
specification for a cycle on which nothing is put off for ever.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain

MOST_CONFIGURATIONS = 20_000


class TooLargeError(Exception):
    """There are more configurations than are worth listing."""


# Formulas


@dataclass(frozen=True)
class Sum:
    """Names times factors, none of which is zero, plus a number."""

    factors: tuple[tuple[str, int], ...]
    constant: int

    def plus(self, other: Sum, times: int) -> Sum:
        factors = dict(self.factors)
        for name, factor in other.factors:
            factors[name] = factors.get(name, 0) + times * factor
        return Sum(
            tuple(sorted((name, factor) for name, factor in factors.items() if factor)),
            self.constant + times * other.constant,
        )

    def given(self, values: Mapping[str, int]) -> Sum:
        """The same with values for some names."""
        known = sum(factor * values[name] for name, factor in self.factors if name in values)
        return Sum(tuple(each for each in self.factors if each[0] not in values), self.constant + known)

    def at(self, values: Mapping[str, int]) -> int:
        return self.constant + sum(factor * values[name] for name, factor in self.factors)


NOTHING = Sum((), 0)


@dataclass(frozen=True)
class Compared:
    """How a sum compares with zero."""

    difference: Sum
    operator: str


@dataclass(frozen=True)
class Truth:
    value: bool


@dataclass(frozen=True)
class Negated:
    operand: Formula


@dataclass(frozen=True)
class Both:
    left: Formula
    right: Formula


@dataclass(frozen=True)
class Either:
    left: Formula
    right: Formula


@dataclass(frozen=True)
class Later:
    """Now or at some later time."""

    operand: Formula


@dataclass(frozen=True)
class Always:
    """Now and at all later times."""

    operand: Formula


@dataclass(frozen=True)
class Claim:
    """A formula about one configuration, by its place in a list."""

    place: int


Formula = Claim | Compared | Truth | Negated | Both | Either | Later | Always

COMPARISONS: dict[str, Callable[[int], bool]] = {
    "==": lambda number: number == 0,
    "!=": lambda number: number != 0,
    "<": lambda number: number < 0,
    "<=": lambda number: number <= 0,
    ">": lambda number: number > 0,
    ">=": lambda number: number >= 0,
}


def true_at(formula: Formula, values: Mapping[str, int]) -> bool:
    """Whether a formula without times holds."""
    match formula:
        case Compared(difference, operator):
            return COMPARISONS[operator](difference.at(values))
        case Truth(value):
            return value
        case Negated(operand):
            return not true_at(operand, values)
        case Both(left, right):
            return true_at(left, values) and true_at(right, values)
        case Either(left, right):
            return true_at(left, values) or true_at(right, values)
        case Later() | Always() | Claim():
            raise ValueError("<> and [] are for specifications")


def names_of(formula: Formula) -> set[str]:
    match formula:
        case Compared(difference):
            return {name for name, _ in difference.factors}
        case Truth() | Claim():
            return set()
        case Negated(operand) | Later(operand) | Always(operand):
            return names_of(operand)
        case Both(left, right) | Either(left, right):
            return names_of(left) | names_of(right)


# Reading


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


TOKEN = re.compile(r"\s+|/\*.*?\*/|([A-Za-z_]\w*|\d+|->|<>|\[\]|[=!<>]=|&&|\|\||[-+*<>!(){}\[\];:,'])", re.DOTALL)


def tokens_of(text: str) -> list[str]:
    found, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"what is {text[at : at + 10]!r}?")
        if match[1]:
            found.append(match[1])
        at = match.end()
    return found


class Reader:
    """Recursive descent, one method for each level of precedence."""

    def __init__(self, text: str) -> None:
        self.tokens = tokens_of(text)
        self.at = 0
        self.macros: dict[str, Sum | Formula] = {}

    def next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def skip(self, token: str) -> bool:
        """Whether the next token is this one, which is then taken."""
        found = self.next() == token
        self.at += found
        return found

    def need(self, *tokens: str) -> None:
        for token in tokens:
            if not self.skip(token):
                raise ValueError(f"{token!r} was expected instead of {self.next()!r}")

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

    def implication(self) -> Sum | Formula:
        found = self.disjunction()
        while self.skip("->"):
            found = Either(Negated(truth(found)), truth(self.disjunction()))
        return found

    def disjunction(self) -> Sum | Formula:
        found = self.conjunction()
        while self.skip("||"):
            found = Either(truth(found), truth(self.conjunction()))
        return found

    def conjunction(self) -> Sum | Formula:
        found = self.prefixed()
        while self.skip("&&"):
            found = Both(truth(found), truth(self.prefixed()))
        return found

    def prefixed(self) -> Sum | Formula:
        if self.skip("!"):
            return Negated(truth(self.prefixed()))
        if self.skip("<>"):
            return Later(truth(self.prefixed()))
        if self.skip("[]"):
            return Always(truth(self.prefixed()))
        return self.comparison()

    def comparison(self) -> Sum | Formula:
        found = self.sum()
        if self.next() not in COMPARISONS:
            return found
        operator = self.take()
        return Compared(number(found).plus(number(self.sum()), -1), operator)

    def sum(self) -> Sum | Formula:
        found = self.product()
        while self.next() in ("+", "-"):
            sign = 1 if self.take() == "+" else -1
            found = number(found).plus(number(self.product()), sign)
        return found

    def product(self) -> Sum | Formula:
        found = self.signed()
        while self.skip("*"):
            one, other = number(found), number(self.signed())
            if one.factors and other.factors:
                raise ValueError("a product of names is not linear")
            found = NOTHING.plus(one, other.constant) if one.factors else NOTHING.plus(other, one.constant)
        return found

    def signed(self) -> Sum | Formula:
        if self.skip("-"):
            return NOTHING.plus(number(self.signed()), -1)
        if self.skip("("):
            found = self.implication()
            self.need(")")
            return found
        token = self.take()
        if token.isdigit():
            return Sum((), int(token))
        if token in ("true", "false"):
            return Truth(token == "true")
        if token in self.macros:
            return self.macros[token]
        if not token.isidentifier():
            raise ValueError(f"{token!r} was not expected")
        return Sum(((token, 1),), 0)


def truth(value: Sum | Formula) -> Formula:
    if isinstance(value, Sum):
        raise ValueError("a number stands for a truth value")
    return value


def number(value: Sum | Formula) -> Sum:
    if not isinstance(value, Sum):
        raise ValueError("a truth value stands for a number")
    return value


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


# Configurations


Configuration = tuple[int, ...]
"""How many processes are at each location, then the values of shared variables."""


@dataclass
class Graph:
    """All that can be reached.  Each configuration is among its own successors."""

    names: list[str]
    parameters: dict[str, int]
    configurations: list[Configuration]
    successors: list[list[int]]
    initial: int
    """So many of the first ones are initial."""

    def values(self, configuration: int) -> dict[str, int]:
        return self.parameters | dict(zip(self.names, self.configurations[configuration], strict=True))


def explored(automaton: Automaton, parameters: Mapping[str, int]) -> Graph:
    if set(parameters) != set(automaton.parameters) or min(parameters.values(), default=0) < 0:
        raise ValueError(f"{', '.join(automaton.parameters)} are natural numbers, each of which is needed")
    names = automaton.locations + automaton.shared
    graph = Graph(names, dict(parameters), [], [], 0)
    if not all(true_at(formula, parameters) for formula in automaton.assumptions):
        return graph
    graph.configurations += initial_configurations(automaton, parameters)
    graph.initial = len(graph.configurations)
    places = {configuration: place for place, configuration in enumerate(graph.configurations)}
    rules = [(names.index(rule.source), rule, effect(names, rule)) for rule in automaton.rules]
    enabled: dict[Configuration, list[tuple[int, Configuration]]] = {}  # by the values of shared variables
    for place, configuration in enumerate(graph.configurations):  # which grows
        shared = configuration[len(automaton.locations) :]
        if shared not in enabled:
            values = graph.values(place)
            enabled[shared] = [(source, change) for source, rule, change in rules if true_at(rule.guard, values)]
        reached = {place}
        for source, change in enabled[shared]:
            if configuration[source] > 0:
                after = tuple(map(int.__add__, configuration, change))
                if after not in places:
                    places[after] = len(graph.configurations)
                    graph.configurations.append(after)
                    if len(places) > MOST_CONFIGURATIONS:
                        raise TooLargeError
                reached.add(places[after])
        graph.successors.append(sorted(reached))
    return graph


def effect(names: Sequence[str], rule: Rule) -> Configuration:
    """What the rule adds to each location and shared variable."""
    return tuple(rule.adds.get(name, 0) + (name == rule.target) - (name == rule.source) for name in names)


def initial_configurations(automaton: Automaton, parameters: Mapping[str, int]) -> list[Configuration]:
    names = automaton.locations + automaton.shared
    claims = list(chain.from_iterable(conjuncts(formula) for formula in automaton.inits))
    if not all(true_at(claim, parameters) for claim in claims if names_of(claim) <= set(parameters)):
        return []
    most = upper_bounds(names, claims, parameters)
    if most is None:
        return []
    found: list[Configuration] = []
    values = dict(parameters)

    def assign(left: list[str]) -> None:
        """Try all values for what is left, and go on where no claim fails of which all names have a value."""
        if not left:
            found.append(tuple(values[name] for name in names))
            if len(found) > MOST_CONFIGURATIONS:
                raise TooLargeError
            return
        name = left[0]
        settled = [claim for claim in claims if name in names_of(claim) and not names_of(claim) & set(left[1:])]
        for value in range(most[name] + 1):
            values[name] = value
            if all(true_at(claim, values) for claim in settled):
                assign(left[1:])
        del values[name]

    assign(names)
    return found


def conjuncts(formula: Formula) -> list[Formula]:
    return [*conjuncts(formula.left), *conjuncts(formula.right)] if isinstance(formula, Both) else [formula]


def upper_bounds(
    names: Sequence[str], claims: Sequence[Formula], parameters: Mapping[str, int]
) -> dict[str, int] | None:
    """What each name is at most, as all are natural numbers; none if that leaves nothing for one of them.

    A claim that a sum is at most zero bounds each name that is added in it, by what the others can make up for.
    """
    sums: list[Sum] = []
    for claim in claims:
        if isinstance(claim, Compared):
            difference = claim.difference.given(parameters)
            sums += [NOTHING.plus(difference, sign) for sign, says in LIMITS.items() if claim.operator in says]
    most: dict[str, int] = {}
    for _ in names:  # one bound may need another first
        for each in sums:
            subtracted = [(name, factor) for name, factor in each.factors if factor < 0]
            if any(name not in most for name, _ in subtracted):
                continue
            least = each.constant + sum(factor * most[name] for name, factor in subtracted)
            for name, factor in each.factors:
                if factor > 0:
                    bound = -least // factor
                    if bound < 0:
                        return None
                    most[name] = min(bound, most.get(name, bound))
    if unbounded := set(names) - set(most):
        raise ValueError(f"nothing bounds {', '.join(sorted(unbounded))} at first")
    return most


LIMITS = {1: ("==", "<=", "<"), -1: ("==", ">=", ">")}
"""Comparisons that say that a sum, or its negative, is at most zero."""


@lru_cache(maxsize=16)
def graph_of(text: str, parameters: tuple[tuple[str, int], ...]) -> Graph:
    return explored(read(text), dict(parameters))


# Runs


def pushed(formula: Formula, positive: bool, claims: list[Formula]) -> Formula:
    """The formula, or its negation, with negations pushed inwards till they are about one configuration.

    What is about one configuration is added to the claims, and its place there stands for it.
    """
    if not is_temporal(formula):
        claims.append(formula if positive else Negated(formula))
        return Claim(len(claims) - 1)
    match formula:
        case Negated(operand):
            return pushed(operand, not positive, claims)
        case Both(left, right) | Either(left, right):
            one, other = pushed(left, positive, claims), pushed(right, positive, claims)
            return Both(one, other) if isinstance(formula, Both) == positive else Either(one, other)
        case Later(operand) | Always(operand):
            inside = pushed(operand, positive, claims)
            return Later(inside) if isinstance(formula, Later) == positive else Always(inside)
        case _:
            raise AssertionError("nothing else is about several times")


def is_temporal(formula: Formula) -> bool:
    match formula:
        case Compared() | Truth() | Claim():
            return False
        case Negated(operand):
            return is_temporal(operand)
        case Both(left, right) | Either(left, right):
            return is_temporal(left) or is_temporal(right)
        case Later() | Always():
            return True


Places = frozenset[int]
"""Which of the claims hold."""

Duties = frozenset[Formula]
"""Formulas that a run must satisfy from some time on."""


def ways(duties: Duties, true: Places) -> set[tuple[Duties, Duties]]:
    """All ways to do now what is due, where these claims hold now.

    Each is what is due at the next step, and what of the form <>… was put off till then.
    """
    found: set[tuple[Duties, Duties]] = set()

    def go_on(left: list[Formula], seen: Duties, later: Duties, put_off: Duties) -> None:
        if not left:
            found.add((later, put_off))
            return
        formula, rest = left[0], left[1:]
        if formula in seen:
            go_on(rest, seen, later, put_off)
            return
        seen |= {formula}
        match formula:
            case Claim(place):
                if place in true:
                    go_on(rest, seen, later, put_off)
            case Both(one, other):
                go_on([one, other, *rest], seen, later, put_off)
            case Either(one, other):
                go_on([one, *rest], seen, later, put_off)
                go_on([other, *rest], seen, later, put_off)
            case Always(operand):
                go_on([operand, *rest], seen, later | {formula}, put_off)
            case Later(operand):
                go_on([operand, *rest], seen, later, put_off)
                go_on(rest, seen, later | {formula}, put_off | {formula})
            case _:
                raise AssertionError("negations have been pushed inwards")

    go_on(list(duties), frozenset(), frozenset(), frozenset())
    return found


Node = tuple[int, Duties]


def some_run(
    formula: Formula, successors: Sequence[Sequence[int]], true: Sequence[Places], initial: Iterable[int]
) -> bool:
    """Whether some infinite run through a graph satisfies the formula, made of claims.

    ``true`` tells for each node of the graph which claims hold there.  A run satisfies the formula if what is
    due can be done at each step, and no <>… is put off at every step from some time on.
    """
    first = [(place, frozenset({formula})) for place in initial]
    edges: dict[Node, list[tuple[Node, Duties]]] = {}
    known: dict[tuple[Duties, Places], set[tuple[Duties, Duties]]] = {}
    waiting = list(first)
    while waiting:
        node = waiting.pop()
        if node in edges:
            continue
        place, duties = node
        key = duties, true[place]
        if key not in known:
            known[key] = ways(*key)
        edges[node] = [((after, later), put_off) for later, put_off in known[key] for after in successors[place]]
        waiting += [after for after, _ in edges[node] if after not in edges]
    for component in components(edges):
        inside = [put_off for node in component for after, put_off in edges[node] if after in component]
        if inside and not frozenset.intersection(*inside):
            return True  # a cycle takes all these steps; each <>… is not put off at one of them
    return False


def components(edges: Mapping[Node, Sequence[tuple[Node, Duties]]]) -> Iterator[set[Node]]:
    """The strongly connected components, by Tarjan's algorithm without recursion."""
    order: dict[Node, int] = {}
    lowest: dict[Node, int] = {}
    stack: list[Node] = []
    stacked: set[Node] = set()
    for root in edges:
        if root in order:
            continue
        path = [(root, iter(edges[root]))]
        order[root] = lowest[root] = len(order)
        stack.append(root)
        stacked.add(root)
        while path:
            node, rest = path[-1]
            for after, _ in rest:
                if after not in order:
                    order[after] = lowest[after] = len(order)
                    stack.append(after)
                    stacked.add(after)
                    path.append((after, iter(edges[after])))
                    break
                if after in stacked:
                    lowest[node] = min(lowest[node], order[after])
            else:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[node])
                if lowest[node] == order[node]:
                    component: set[Node] = set()
                    while node not in component:
                        component.add(stack.pop())
                    stacked -= component
                    yield component


def holds(text: str, spec_name: str, parameters: Mapping[str, int]) -> bool | None:
    """Whether all runs from all initial configurations satisfy the specification; none if there is none of these."""
    graph = graph_of(text, tuple(sorted(parameters.items())))
    if not graph.initial:
        return None
    claims: list[Formula] = []
    broken = pushed(read(text).specifications[spec_name], False, claims)
    true = []
    for place in range(len(graph.configurations)):
        values = graph.values(place)
        true.append(frozenset(at for at, claim in enumerate(claims) if true_at(claim, values)))
    return not some_run(broken, graph.successors, true, range(graph.initial))
