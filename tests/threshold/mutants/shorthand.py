"""Parts of automata from short texts."""

from __future__ import annotations

from tests.threshold.mutants.automata import OPERATORS, Comparison, Guard, Rule


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
    """``add`` names the variables to which it adds one."""
    source, target = move.split(" -> ")
    return Rule(source, target, guard(when) if when else Guard(), tuple((name, 1) for name in add.split()))


def assumed(*texts: str) -> tuple[Comparison, ...]:
    return tuple(compared(text) for text in texts)
