"""Claims in which names cancel out or that are the same everywhere, and others that are written in an odd way."""

from __future__ import annotations

from collections.abc import Sequence

from tests.threshold.mutants.automata import OPPOSITE, PARAMETERS
from tests.threshold.mutants.comparisons import some_guard
from tests.threshold.mutants.formulas import TRUE, Formula, negated
from tests.threshold.mutants.words import Words


def sides(left: str, operator: str, right: str) -> Formula:
    return Formula(f"{left} {operator} {right}", f"{left} {OPPOSITE[operator]} {right}")


class OddWords(Words):
    def empty(self, names: Sequence[str]) -> Formula:
        if self.one_in(8):
            return self.constant()
        if self.one_in(2):
            return super().empty(names)
        name = self.source.choice(self.automaton.locations)
        total = " + ".join(names)
        return self.source.choice(
            (
                sides(" + ".join(f"2 * {each}" for each in names), "<=", "0"),
                sides(f"{total} + {name}", "==", name),
                sides(f"{name} - {name} + {total}", "<", "1"),
                sides("0", ">=", total),
                sides(f"0 - {' - '.join(names)}", ">", "0 - 1"),
                negated(sides("0", "<", total)),
                sides(f"{total} + {total}", "<", "2"),
            )
        )

    def guard(self) -> Formula:
        if self.one_in(8):
            return self.constant()
        if self.one_in(2):
            return super().guard()
        left, operator, right = self.guard_sides()
        name = self.source.choice(self.automaton.locations)
        other = self.source.choice(self.automaton.shared)
        return self.source.choice(
            (
                sides(f"{name} + {left}", operator, f"{name} + {right}"),
                sides(f"{left} - {other}", operator, f"{right} - {other}"),
                sides(f"2 * ({left})", operator, f"2 * ({right})"),
                sides(f"{left} - ({right})", operator, "0"),
                sides(f"{left} + 0 * {name}", operator, right),
                sides(f"0 - ({right})", operator, f"0 - ({left})"),
            )
        )

    def start(self) -> Formula:
        if self.one_in(2):
            return super().start()
        name = self.source.choice(self.automaton.start)
        return self.source.choice((self.constant(), self.empty([name]), sides(f"{name} + N", ">", "T + N")))

    def guard_sides(self) -> tuple[str, str, str]:
        guard = some_guard(self.source, self.automaton)
        left, _, right = guard.text().partition(f" {guard.operator} ")
        return left, guard.operator, right

    def constant(self) -> Formula:
        """What is true everywhere, or false everywhere, or so for the parameters."""
        name = self.source.choice((*self.automaton.locations, *self.automaton.shared))
        parameter = self.source.choice(PARAMETERS)
        found = self.source.choice(
            (
                TRUE,
                sides("1", "==", "1"),
                sides(name, "==", name),
                sides(name, ">=", name),
                sides(name, ">", "0 - 1"),
                sides(f"{name} + {parameter}", "<", f"{parameter} + {name} + 1"),
                sides(parameter, ">=", "1"),
            )
        )
        return found if self.one_in(2) else negated(found)
