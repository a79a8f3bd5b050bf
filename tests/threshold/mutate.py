"""Small threshold automata, changed at random, with a specification of each shape."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product

MOST_RULES = 8
OPERATORS = (">=", ">", "<", "<=", "==", "!=")
OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
LARGEST = {"N": 5, "T": 2, "F": 2}

SPECIFICATIONS = ("from_start", "safe", "fair_reach", "fair_response", "response", "reach", "settle")
"""What the specifications of each automaton are called, by shape."""


def sum_text(factors: Mapping[str, int], constant: int = 0) -> str:
    text = ""
    for name, factor in [*factors.items(), ("", constant)]:
        if factor:
            times = str(abs(factor)) if not name else name if abs(factor) == 1 else f"{abs(factor)} * {name}"
            sign = " - " if factor < 0 else " + "
            text += sign + times if text else sign.strip(" +") + times
    return text or "0"


@dataclass(frozen=True)
class Comparison:
    left: tuple[tuple[str, int], ...]
    operator: str
    right: tuple[tuple[str, int], ...]
    constant: int = 0

    def text(self) -> str:
        return f"{sum_text(dict(self.left))} {self.operator} {sum_text(dict(self.right), self.constant)}"

    def opposite(self) -> Comparison:
        return replace(self, operator=OPPOSITE[self.operator])

    def true_at(self, values: Mapping[str, int]) -> bool:
        left = sum(factor * values[name] for name, factor in self.left)
        right = sum(factor * values[name] for name, factor in self.right) + self.constant
        return {
            "==": left == right,
            "!=": left != right,
            "<": left < right,
            "<=": left <= right,
            ">": left > right,
            ">=": left >= right,
        }[self.operator]


@dataclass(frozen=True)
class Guard:
    """Comparisons that all hold, or some of which do; true if there are none."""

    parts: tuple[Comparison, ...] = ()
    joined: str = "&&"

    def text(self) -> str:
        return f" {self.joined} ".join(part.text() for part in self.parts) or "true"

    def opposite(self) -> Guard:
        """The negation, of a guard that has parts."""
        return Guard(tuple(part.opposite() for part in self.parts), "||" if self.joined == "&&" else "&&")

    def bounds(self, name: str) -> bool:
        """Whether it holds no more once the variable has grown enough."""
        falls = [part.operator in ("<", "<=") and name in dict(part.left) for part in self.parts]
        return any(falls) if self.joined == "&&" else bool(falls) and all(falls)


@dataclass(frozen=True)
class Rule:
    source: str
    target: str
    guard: Guard = Guard()
    adds: tuple[tuple[str, int], ...] = ()

    def text(self, shared: Iterable[str]) -> str:
        adds = dict(self.adds)
        actions = [f"{name}' == {name} + {adds[name]};" if name in adds else f"unchanged({name});" for name in shared]
        return f"{self.source} -> {self.target} when ({self.guard.text()}) do {{ {' '.join(actions)} }};"


@dataclass(frozen=True)
class Automaton:
    """All processes, as many as ``processes`` says, are at locations of ``start`` at first."""

    name: str
    shared: tuple[str, ...]
    locations: tuple[str, ...]
    start: tuple[str, ...]
    rules: tuple[Rule, ...]
    assumptions: tuple[Comparison, ...]
    processes: tuple[tuple[tuple[str, int], ...], int] = ((("N", 1), ("F", -1)), 0)
    more_inits: tuple[str, ...] = ()
    first_values: tuple[tuple[str, int], ...] = ()
    """What shared variables are at first, if not zero."""
    adds_on_cycles: bool = False
    """Whether rules on cycles may add to variables that their guards bound."""

    def text(self, specifications: Mapping[str, str]) -> str:
        values = dict.fromkeys(self.shared, 0) | dict(self.first_values)
        factors, constant = self.processes
        inits = [
            f"{' + '.join(self.start)} == {sum_text(dict(factors), constant)}",
            *(f"{name} == 0" for name in self.locations if name not in self.start),
            *(f"{name} == {value}" for name, value in values.items()),
            *self.more_inits,
        ]
        return "\n".join(
            [
                f"skel {self.name} {{",
                "  local pc;",
                f"  shared {', '.join(self.shared)};",
                "  parameters N, T, F;",
                *section("assumptions", (f"{each.text()};" for each in self.assumptions)),
                *section("locations", (f"{name}: [{place}];" for place, name in enumerate(self.locations))),
                *section("inits", (f"{each};" for each in inits)),
                *section("rules", (f"{at}: {rule.text(self.shared)}" for at, rule in enumerate(self.rules, 1))),
                *section("specifications", (f"{name}: {formula};" for name, formula in specifications.items())),
                "}",
                "",
            ]
        )

    def is_well_made(self) -> bool:
        """Not too large, and no variable grows without end on a cycle of locations."""
        reached = {name: {name} for name in self.locations}
        for _ in self.locations:
            for rule in self.rules:
                for places in reached.values():
                    if rule.source in places:
                        places.add(rule.target)
        return 0 < len(self.rules) <= MOST_RULES and all(
            rule.source not in reached[rule.target] or (self.adds_on_cycles and rule.guard.bounds(name))
            for rule in self.rules
            for name, _ in rule.adds
        )


def section(name: str, entries: Iterable[str]) -> list[str]:
    lines = [f"    {entry}" for entry in entries]
    return [f"  {name} ({len(lines)}) {{", *lines, "  }"]


# What is changed


def sums(text: str) -> tuple[tuple[tuple[str, int], ...], int]:
    """A sum such as ``2 * T + 1``, as factors and a number."""
    factors: dict[str, int] = {}
    constant = 0
    for term in text.replace("-", "+ -").split("+"):
        *times, last = term.replace("- ", "-").strip().split(" * ")
        sign = -1 if last.startswith("-") else 1
        factor = int(times[0]) if times else sign
        name = last.removeprefix("-")
        if name.isdigit():
            constant += factor * int(name)
        else:
            factors[name] = factors.get(name, 0) + factor
    return tuple(factors.items()), constant


def compared(text: str) -> Comparison:
    left, operator, right = next(text.partition(f" {each} ") for each in OPERATORS if f" {each} " in text)
    return Comparison(sums(left)[0], operator.strip(), *sums(right))


def guard(text: str) -> Guard:
    joined = "||" if "||" in text else "&&"
    return Guard(tuple(compared(each.strip()) for each in text.split(joined)), joined)


def rule(move: str, when: str = "", add: str = "") -> Rule:
    source, target = move.split(" -> ")
    return Rule(source, target, guard(when) if when else Guard(), ((add, 1),) if add else ())


def assumed(*texts: str) -> tuple[Comparison, ...]:
    return tuple(compared(text) for text in texts)


BASES = (
    Automaton(
        name="Broadcast",
        shared=("x",),
        locations=("V0", "V1", "SE", "AC"),
        start=("V0", "V1"),
        rules=(
            rule("V1 -> SE", add="x"),
            rule("V0 -> SE", "x >= T + 1 - F", "x"),
            rule("V0 -> AC", "x >= N - T - F", "x"),
            rule("V1 -> AC", "x >= N - T - F", "x"),
            rule("SE -> AC", "x >= N - T - F"),
            rule("SE -> SE"),
            rule("AC -> AC"),
        ),
        assumptions=assumed("N > 3 * T", "T >= F", "T >= 1"),
    ),
    Automaton(
        name="Falling",
        shared=("x",),
        locations=("A", "B", "W", "D0", "D1"),
        start=("A", "B"),
        rules=(
            rule("A -> W", add="x"),
            rule("B -> W"),
            rule("B -> D0", "x < T + 1"),
            rule("W -> D0", "x < N - T - F"),
            rule("W -> D1", "x >= T + 1"),
            rule("D1 -> D1", "x < N"),
        ),
        assumptions=assumed("N > 2 * T", "T >= F", "F >= 0"),
    ),
    Automaton(
        name="Cycle",
        shared=("x",),
        locations=("A", "B", "C", "D"),
        start=("A",),
        rules=(
            rule("A -> B", add="x"),
            rule("B -> C", "x >= T + 1"),
            rule("C -> B"),
            rule("C -> D", "x >= N - T"),
            rule("B -> B"),
            rule("D -> D"),
        ),
        assumptions=assumed("N > 2 * T", "T >= F"),
    ),
    Automaton(
        name="Votes",
        shared=("x", "y"),
        locations=("V0", "V1", "W", "D0", "D1"),
        start=("V0", "V1"),
        rules=(
            rule("V0 -> W", add="x"),
            rule("V1 -> W", add="y"),
            rule("W -> D0", "x >= N - T - F && y < T + 1"),
            rule("W -> D1", "y >= T + 1"),
            rule("W -> D0", "x + y >= N - F"),
            rule("D0 -> D0"),
        ),
        assumptions=assumed("N > 3 * T", "T >= F"),
    ),
    Automaton(
        name="Gaps",
        shared=("x", "y"),
        locations=("A", "B", "C", "D"),
        start=("A", "B"),
        rules=(
            rule("A -> B", "x >= 1 || x == 0", "x"),
            rule("B -> C", "x == 0 || x >= T + 1"),
            rule("C -> B", "y == 1"),
            rule("C -> D", "y >= 1 || x == 0"),
            rule("A -> C", "x != 1", "y"),
            rule("D -> D"),
        ),
        assumptions=assumed("N > T", "T >= F"),
    ),
    Automaton(
        name="Bounded",
        shared=("x",),
        locations=("A", "B", "C", "D"),
        start=("A", "C"),
        rules=(
            rule("A -> A", "x < T + 1", "x"),
            rule("A -> B", "x >= T"),
            rule("B -> A", "x <= N - T", "x"),
            rule("B -> D", "x > T && x < N", "x"),
            rule("C -> B", "x >= 1"),
            rule("C -> D", "x < 1", "x"),
        ),
        assumptions=assumed("N > T", "T >= F"),
        adds_on_cycles=True,
    ),
)


# How it is changed


def changed_comparison(source: random.Random, comparison: Comparison, names: tuple[str, ...]) -> Comparison:
    """Another number, operator, factor or name; ``names`` are those of the left side."""
    match source.randrange(6):
        case 0 | 1:
            return replace(comparison, constant=comparison.constant + source.choice((-1, 1)))
        case 2:
            return replace(comparison, operator=source.choice(OPERATORS))
        case 3:
            right = dict(comparison.right)
            name = source.choice(tuple(LARGEST))
            right[name] = right.get(name, 0) + source.choice((-1, 1))
            return replace(comparison, right=tuple((name, factor) for name, factor in right.items() if factor))
        case 4:
            left = dict(comparison.left)
            name = source.choice(tuple(left))
            left[name] = 3 - left[name] if left[name] in (1, 2) else 1
            return replace(comparison, left=tuple(left.items()))
        case _:
            left = dict.fromkeys(source.sample(names, source.randint(1, min(2, len(names)))), 1)
            return replace(comparison, left=tuple(left.items()))


def changed_guard(source: random.Random, automaton: Automaton) -> Automaton:
    place = source.randrange(len(automaton.rules))
    parts = list(automaton.rules[place].guard.parts)
    joined = automaton.rules[place].guard.joined
    others = [part for each in automaton.rules for part in each.guard.parts]
    what = source.randrange(8)
    if not parts or (what == 0 and len(parts) < 2):
        parts.append(
            changed_comparison(source, source.choice(others), automaton.shared)
            if others
            else some_guard(source, automaton)
        )
        joined = source.choice(("&&", "||"))
    elif what == 1:
        parts.pop(source.randrange(len(parts)))
    else:
        at = source.randrange(len(parts))
        parts[at] = changed_comparison(source, parts[at], automaton.shared)
    return with_rule(automaton, place, replace(automaton.rules[place], guard=Guard(tuple(parts), joined)))


def with_rule(automaton: Automaton, place: int, rule: Rule) -> Automaton:
    return replace(automaton, rules=(*automaton.rules[:place], rule, *automaton.rules[place + 1 :]))


def changed_rules(source: random.Random, automaton: Automaton) -> Automaton:
    """A rule is dropped, doubled with other ends, or redirected."""
    rules = list(automaton.rules)
    place = source.randrange(len(rules))
    other = source.choice(automaton.locations)
    moved = replace(rules[place], target=other) if source.randrange(2) else replace(rules[place], source=other)
    match source.randrange(3):
        case 0:
            del rules[place]
        case 1:
            rules.append(source.choice((rules[place], moved)))
        case _:
            rules[place] = moved
    return replace(automaton, rules=tuple(rules))


def changed_update(source: random.Random, automaton: Automaton) -> Automaton:
    place = source.randrange(len(automaton.rules))
    adds = dict(automaton.rules[place].adds)
    name = source.choice(automaton.shared)
    adds[name] = source.choice([each for each in (0, 1, 1, 2) if each != adds.get(name, 0)])
    growing = tuple((name, growth) for name, growth in adds.items() if growth)
    return with_rule(automaton, place, replace(automaton.rules[place], adds=growing))


def changed_assumption(source: random.Random, automaton: Automaton) -> Automaton:
    assumptions = list(automaton.assumptions)
    place = source.randrange(len(assumptions))
    if source.randrange(3) == 0 and len(assumptions) > 1:
        del assumptions[place]
    else:
        left = tuple(name for name, _ in assumptions[place].left)
        assumptions[place] = changed_comparison(source, assumptions[place], left)
    return replace(automaton, assumptions=tuple(assumptions))


def changed_start(source: random.Random, automaton: Automaton) -> Automaton:
    match source.randrange(4):
        case 0:
            chosen = set(source.sample(automaton.locations, source.randint(1, 3)))
            start = tuple(name for name in automaton.locations if name in chosen)
            return replace(automaton, start=start, more_inits=())
        case 1:
            counts = ("N", "N - T", "N - F", "N - F - 1", "N - T - 1", "T + 1", "2 * T", "2")
            return replace(automaton, processes=sums(source.choice(counts)))
        case 2:
            name = source.choice(automaton.start)
            limits = ("<= T", ">= 1", "== 1", "<= 1", ">= T + 1", "== 0", "!= 1")
            more = source.choice([f"{name} {limit}" for limit in limits] + [f"{name} == 0 || {name} >= 2"])
            return replace(automaton, more_inits=(more,))
        case _:
            return replace(automaton, first_values=((source.choice(automaton.shared), source.randint(1, 2)),))


CHANGES: tuple[Callable[[random.Random, Automaton], Automaton], ...] = (
    changed_guard,
    changed_guard,
    changed_guard,
    changed_rules,
    changed_rules,
    changed_update,
    changed_assumption,
    changed_start,
)


def changed(source: random.Random, automaton: Automaton) -> Automaton:
    """The automaton after some changes, each of which leaves it well made."""
    left = source.randint(1, 5)
    while left:
        other = source.choice(CHANGES)(source, automaton)
        if other.is_well_made():
            automaton, left = other, left - 1
    return automaton


# What is claimed


def some_guard(source: random.Random, automaton: Automaton) -> Comparison:
    """A comparison of shared variables, often one of the automaton's own or close to it."""
    own = [part for each in automaton.rules for part in each.guard.parts]
    if own and source.randrange(3):
        found = source.choice(own)
        if source.randrange(2):
            found = found.opposite()
        return found if source.randrange(2) else changed_comparison(source, found, automaton.shared)
    needed = source.choice(("1", "2", "T", "T + 1", "N - T", "N - F", "N"))
    left = source.sample(automaton.shared, source.randint(1, len(automaton.shared)))
    return Comparison(tuple((name, 1) for name in left), source.choice(OPERATORS), *sums(needed))


def some_part(source: random.Random, automaton: Automaton) -> str:
    one, other = source.sample(automaton.locations, 2)
    match source.randrange(7):
        case 0 | 1:
            return f"{one} == 0"
        case 2:
            return f"{one} != 0"
        case 3:
            return f"({one} == 0 && {other} == 0)"
        case 4:
            return f"({one} != 0 || {other} != 0)"
        case 5:
            return some_guard(source, automaton).text()
        case _:
            return f"({some_guard(source, automaton).text()} || {one} == 0)"


def some_claim(source: random.Random, automaton: Automaton) -> str:
    """A claim about one configuration."""
    parts = [some_part(source, automaton) for _ in range(source.choice((1, 1, 2, 2, 3)))]
    return source.choice((" && ", " && ", " || ")).join(parts)


def some_safety(source: random.Random, automaton: Automaton) -> str:
    """Mostly what is so at first, as no process has come to a location that it says is empty."""
    late = [name for name in automaton.locations if name not in automaton.start]
    if not late or source.randrange(3) == 0:
        return some_claim(source, automaton)
    parts = [f"{name} == 0" for name in source.sample(late, source.randint(1, min(2, len(late))))]
    if source.randrange(2):
        parts[0] = f"({some_guard(source, automaton).text()} || {parts[0]})"
    return source.choice((" && ", " || ")).join(parts)


def some_start(source: random.Random, automaton: Automaton) -> str:
    """A claim about initial configurations, such that many satisfy it."""
    limits = ("== 0", "== 0", "== 0", "<= T", ">= 1", ">= N - T", "== N - F", "< T + 1", "!= 0")
    names = source.sample(automaton.start, source.randint(1, min(2, len(automaton.start))))
    return " && ".join(f"{name} {source.choice(limits)}" for name in names)


def some_fairness(source: random.Random, automaton: Automaton) -> str:
    """Mostly that no process waits for ever that a rule lets move, though perhaps not for every rule."""
    if source.randrange(5) == 0:
        return some_claim(source, automaton)
    parts = []
    for each in automaton.rules:
        if each.source != each.target and source.randrange(8):
            empty = f"{each.source} == 0"
            parts.append(f"(({each.guard.opposite().text()}) || {empty})" if each.guard.parts else empty)
    return " && ".join(dict.fromkeys(parts)) or some_claim(source, automaton)


def some_goal(source: random.Random, automaton: Automaton) -> str:
    """Something that may well be reached: that some location is left, or entered."""
    if source.randrange(3) == 0:
        return some_claim(source, automaton)
    names = source.sample(automaton.locations, source.randint(1, 2))
    if source.randrange(2):
        return " && ".join(f"{name} == 0" for name in names)
    return " || ".join(f"{name} != 0" for name in names)


def some_specifications(source: random.Random, automaton: Automaton) -> dict[str, str]:
    """One of each shape."""

    def start() -> str:
        return some_start(source, automaton)

    def claim() -> str:
        return some_claim(source, automaton)

    def safety() -> str:
        return some_safety(source, automaton)

    def goal() -> str:
        return some_goal(source, automaton)

    def fair() -> str:
        return some_fairness(source, automaton)

    formulas = (
        f"{start()} -> []({safety()})",
        f"[]({safety()})",
        f"<>[]({fair()}) -> ({start()} -> <>({goal()}))",
        f"<>[]({fair()}) -> [](({claim()}) -> <>({goal()}))",
        f"[](({claim()}) -> <>({goal()}))",
        f"<>({claim()})",
        f"<>[]({claim()})",
    )
    return dict(zip(SPECIFICATIONS, formulas, strict=True))


def some_parameters(source: random.Random, automaton: Automaton) -> dict[str, int]:
    """Mostly such that the assumptions hold and there are some processes."""
    everything = [
        dict(zip(LARGEST, values, strict=True)) for values in product(*(range(each + 1) for each in LARGEST.values()))
    ]
    factors, constant = automaton.processes
    good = [
        each
        for each in everything
        if all(assumption.true_at(each) for assumption in automaton.assumptions)
        and sum(factor * each[name] for name, factor in factors) + constant > 1
    ]
    return source.choice(good if good and source.randrange(20) else everything)


def mutants(seed: int, count: int) -> list[tuple[str, dict[str, int]]]:
    """Texts of automata, each with small values for its parameters; always the same for a seed."""
    source = random.Random(seed)
    found = []
    for _ in range(count):
        automaton = changed(source, source.choice(BASES))
        text = automaton.text(some_specifications(source, automaton))
        found.append((text, some_parameters(source, automaton)))
    return found
