"""Z3 terms printed as SMT-LIB text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import z3

from fdverify.errors import InternalError
from fdverify.smt.script import SYMBOL, Assertion, find_declared_symbol

_ABBREVIATION = re.compile(r"\|[^|]*\||[$?]x\d+")
_COMMAND = re.compile(r"\n(?=\((?:assert|declare-fun|declare-const|check-sat|set-)\b)")


def print_assertions(terms: Sequence[Any]) -> list[Assertion]:
    """Print each Z3 term as an assertion.  Printing all of them in one call is far faster than one at a time."""
    if not terms:
        return []
    distinct: dict[int, Any] = {}
    for term in terms:
        distinct.setdefault(term.get_id(), term)
    handles = [term.as_ast() for term in distinct.values()]
    # Solver.to_smt2 prints the same format, but solvers rewrite their assertions.  Z3 omits the last formula if it is
    # true, so ``true`` is passed as the last one.
    context, true = z3.main_ctx().ref(), z3.BoolVal(True)
    array = (z3.Ast * len(handles))(*handles)
    text = z3.Z3_benchmark_to_smtlib_string(context, "", "", "unknown", "", len(handles), array, true.as_ast())
    commands = _COMMAND.split("\n" + text)
    declarations = {find_declared_symbol(c): " ".join(c.split()) for c in commands if c.startswith("(declare-")}
    formulas = [_extract_formula(c) for c in commands if c.startswith("(assert")]
    if len(formulas) != len(distinct):
        raise InternalError("the solver did not print every formula it was given")
    assertions = {
        key: _build_assertion(term, text, declarations)
        for (key, term), text in zip(distinct.items(), formulas, strict=True)
    }
    return [assertions[term.get_id()] for term in terms]


def _extract_formula(command: str) -> str:
    """Extract the formula, with its let-variables renumbered: Z3 numbers them across all the formulas it prints."""
    body = " ".join(command.strip().removeprefix("(assert").removesuffix(")").split())
    names: dict[str, str] = {}

    def rename_variable(match: re.Match[str]) -> str:
        token = match.group()
        return token if token.startswith("|") else names.setdefault(token, f"{token[0]}{len(names)}")

    return _ABBREVIATION.sub(rename_variable, body)


def _build_assertion(term: Any, formula: str, declarations: dict[str, str]) -> Assertion:
    symbols = dict.fromkeys(SYMBOL.findall(formula))
    declared = tuple(sorted(declarations[symbol] for symbol in symbols if symbol in declarations))
    return Assertion(formula, declared, term)
