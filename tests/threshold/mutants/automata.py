"""Small threshold automata, and how they are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

MOST_RULES = 8
PARAMETERS = ("N", "T", "F")
OPERATORS = (">=", ">", "<", "<=", "==", "!=")
OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


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
                f"  parameters {', '.join(PARAMETERS)};",
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
        reached = self.reached(self.rules)
        return 0 < len(self.rules) <= MOST_RULES and all(
            rule.source not in reached[rule.target] or rule.guard.bounds(name)
            for rule in self.rules
            for name, _ in rule.adds
        )

    def reached(self, rules: Iterable[Rule]) -> dict[str, set[str]]:
        """Where these rules lead from each location, whatever their guards say."""
        found = {name: {name} for name in self.locations}
        rules = tuple(rules)
        for _ in self.locations:
            for rule in rules:
                for places in found.values():
                    if rule.source in places:
                        places.add(rule.target)
        return found

    def on_quiet_cycles(self) -> list[tuple[str, str]]:
        """Locations between which processes may walk to and fro without adding to any variable."""
        reached = self.reached(rule for rule in self.rules if not rule.adds)
        return [
            (one, other)
            for one in self.locations
            for other in self.locations
            if one != other and other in reached[one] and one in reached[other]
        ]


def section(name: str, entries: Iterable[str]) -> list[str]:
    lines = [f"    {entry}" for entry in entries]
    return [f"  {name} ({len(lines)}) {{", *lines, "  }"]
