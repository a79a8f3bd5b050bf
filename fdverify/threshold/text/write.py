"""Writer of threshold automata in ByMC's text format; the reader gives back the same automaton."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fdverify.errors import UsageError
from fdverify.threshold.automaton import Automaton, Rule
from fdverify.threshold.ltl_formula import (
    And,
    Constant,
    Eventually,
    Formula,
    Globally,
    Implies,
    LinearComparison,
    LinearExpression,
    Not,
    Or,
)


def write_automaton(automaton: Automaton, about: str = "", macros: Mapping[str, Formula] | None = None) -> str:
    """Write an automaton, with a comment, and with macros for formulas that specifications repeat."""
    for specification in automaton.specifications:
        if specification.under_approximation is not None:
            raise UsageError(f"{specification.under_approximation.refusal}, so the automaton cannot be written as text")
    named: dict[Formula, str] = {
        claim: name for name, claim in (macros or {}).items() if not isinstance(claim, Constant)
    }
    lists = (("local", automaton.local), ("shared", automaton.shared), ("parameters", automaton.parameters))
    lines = [f"/* {about.replace('*/', '* /')} */"] if about else []
    lines += [f"skel {automaton.name} {{"]
    lines += [f"  {kind} {', '.join(names)};" for kind, names in (*lists, ("unknowns", automaton.unknowns)) if names]
    lines += [f"  define {name} == {format_formula(claim)};" for claim, name in named.items()]
    lines += _format_section("assumptions", (f"{format_formula(claim)};" for claim in automaton.assumptions))
    lines += _format_section(
        "locations", (f"{place.name}: [{'; '.join(map(str, place.values))}];" for place in automaton.locations)
    )
    lines += _format_section("inits", (f"{format_formula(claim)};" for claim in automaton.initial))
    lines += _format_section("rules", (_format_rule(automaton, rule) for rule in automaton.rules))
    lines += _format_section(
        "specifications", (f"{each.name}: {format_formula(each.formula, named)};" for each in automaton.specifications)
    )
    return "\n".join([*lines, "}", ""])


def _format_section(name: str, entries: Iterable[str]) -> list[str]:
    inside = [f"    {entry}" for entry in entries]
    return [f"  {name} ({len(inside)}) {{", *inside, "  }"]


def _format_rule(automaton: Automaton, rule: Rule) -> str:
    added = rule.get_increments()
    updates = [f"{name}' == {name} + {added[name]};" for name in automaton.shared if name in added]
    same = [name for name in automaton.shared if name not in added]
    actions = " ".join([*updates, *([f"unchanged({', '.join(same)});"] if same else [])])
    guard = format_formula(rule.guard)
    return f"{rule.number}: {rule.source} -> {rule.target} when ({guard}) do {{ {actions} }};"


def format_formula(formula: Formula, named: Mapping[Formula, str] | None = None) -> str:
    """Write a formula; ``named`` has the macros for formulas in it."""
    if named and formula in named:
        return f"({named[formula]})"
    match formula:
        case LinearComparison(left, operator, right):
            return f"({format_linear(left)} {operator} {format_linear(right)})"
        case Constant(value):
            return "true" if value else "false"
        case Not(operand):
            return f"!{format_formula(operand, named)}"
        case Eventually(operand):
            return f"<>{format_formula(operand, named)}"
        case Globally(operand):
            return f"[]{format_formula(operand, named)}"
        case And(left, right):
            return f"({format_formula(left, named)} && {format_formula(right, named)})"
        case Or(left, right):
            return f"({format_formula(left, named)} || {format_formula(right, named)})"
        case Implies(left, right):
            return f"({format_formula(left, named)} -> {format_formula(right, named)})"


def format_linear(linear: LinearExpression) -> str:
    """Write a linear expression, positive terms first, so that it needs no parentheses."""
    terms = [(factor, name if abs(factor) == 1 else f"{abs(factor)} * {name}") for name, factor in linear.factors]
    if linear.constant or not terms:
        terms.append((linear.constant, str(abs(linear.constant))))
    text = ""
    for factor, term in sorted(terms, key=lambda pair: pair[0] < 0):
        text += (" - " if factor < 0 else " + ") + term if text else ("-" if factor < 0 else "") + term
    return text
