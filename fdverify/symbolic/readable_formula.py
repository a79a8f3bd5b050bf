"""Readable formulas for numbers that authors write in Python."""

from __future__ import annotations

from typing import Any

import z3

from fdverify.logic import Number
from fdverify.models.system import State, System
from fdverify.symbolic.values import Int


def build_readable_state(system: System, **named: str) -> State:
    """Build a state in which arbitrary parameters are their names, and other values have the names in ``named``."""
    parameters = system.compute_parameters({name: Int(z3.Int(name)) for name in system.list_arbitrary()})
    return State({**parameters, **{name: Int(z3.Int(text)) for name, text in named.items()}})


def format_number(number: Number) -> str:
    """Format a number as a sum of products, positive summands first: ``6*phi + delta - timeout - 1``."""
    if not isinstance(number, Int):
        return str(number)
    total = z3.simplify(number.term, som=True)
    parts = [_split_summand(child) for child in (total.children() if z3.is_add(total) else [total])]
    ordered = sorted(parts, key=lambda part: (part[0] < 0, part[1] == ""))
    text = ""
    for factor, rest in ordered:
        sign = ("-" if factor < 0 else "") if text == "" else (" - " if factor < 0 else " + ")
        size = "*".join(filter(None, ("" if abs(factor) == 1 and rest else str(abs(factor)), rest)))
        text += sign + size
    return text


def _split_summand(term: Any) -> tuple[int, str]:
    """Split a summand into an integer factor and the rest."""
    if z3.is_int_value(term):
        return term.as_long(), ""
    if z3.is_mul(term):
        numbers = [child.as_long() for child in term.children() if z3.is_int_value(child)]
        others = [_format_term(child) for child in term.children() if not z3.is_int_value(child)]
        factor = 1
        for number in numbers:
            factor *= number
        return factor, "*".join(others)
    return 1, _format_term(term)


def _format_term(term: Any) -> str:
    return " ".join(str(term).split())


def build_maximum(left: Number, right: Number) -> Number:
    """Return the larger of two numbers if their difference is constant, else a name ``max(left, right)``."""
    difference = left - right
    if isinstance(difference, Int):
        simplified = z3.simplify(difference.term, som=True)
        if not z3.is_int_value(simplified):
            return Int(z3.Int(f"max({format_number(left)}, {format_number(right)})"))
        difference = simplified.as_long()
    return left if difference >= 0 else right
