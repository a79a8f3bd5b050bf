"""Texts of formulas, each with that of its negation, as people write it."""

from __future__ import annotations

from dataclasses import dataclass

from tests.threshold.mutants.automata import Comparison, Guard


@dataclass(frozen=True)
class Formula:
    """Both texts are comparisons, or in parentheses, after signs such as <> if need be."""

    text: str
    negation: str


TRUE = Formula("true", "false")


def enclosed(text: str) -> str:
    return text if text.startswith(("(", "<>", "[]", "!")) else f"({text})"


def bare(text: str) -> str:
    return text[1:-1] if text.startswith("(") else text


def comparing(comparison: Comparison) -> Formula:
    return Formula(comparison.text(), comparison.opposite().text())


def guarding(guard: Guard) -> Formula:
    parts = [comparing(part) for part in guard.parts] or [TRUE]
    return both(*parts) if guard.joined == "&&" else either(*parts)


def negated(formula: Formula) -> Formula:
    return Formula(formula.negation, formula.text)


def refused(formula: Formula) -> Formula:
    """The negation with a sign in front."""
    return Formula(f"!{enclosed(formula.text)}", formula.text)


def joined(word: str, texts: list[str]) -> str:
    different = list(dict.fromkeys(texts))
    return different[0] if len(different) == 1 else f"({f' {word} '.join(different)})"


def both(*parts: Formula) -> Formula:
    """That all of them hold."""
    return Formula(joined("&&", [part.text for part in parts]), joined("||", [part.negation for part in parts]))


def either(*parts: Formula) -> Formula:
    """That some of them holds."""
    return negated(both(*map(negated, parts)))


def implied(premise: Formula, goal: Formula) -> Formula:
    return Formula(f"({premise.text} -> {goal.text})", both(premise, negated(goal)).text)


def later(formula: Formula) -> Formula:
    return Formula(f"<>{enclosed(formula.text)}", f"[]{enclosed(formula.negation)}")


def always(formula: Formula) -> Formula:
    return negated(later(negated(formula)))
