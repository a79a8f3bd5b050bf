"""Obligations as SMT-LIB text.  The same text is solved, sent to other processes and solvers, cached and saved."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

import z3

from fdverify.errors import InternalError
from fdverify.printable import make_printable

_SYMBOL = re.compile(r"\|[^|]*\||[^\s()|]+")
_ABBREVIATION = re.compile(r"\|[^|]*\||[$?]x\d+")
_COMMAND = re.compile(r"\n(?=\((?:assert|declare-fun|declare-const|check-sat|set-)\b)")


@dataclass(frozen=True)
class Assertion:
    """A formula with the declarations of its symbols."""

    formula: str
    declarations: tuple[str, ...]

    @cached_property
    def fingerprint(self) -> str:
        """A digest that two assertions share only if formula, symbols and sorts are the same."""
        return sha256("\n".join((*self.declarations, self.formula)).encode()).hexdigest()


@dataclass(frozen=True)
class Script:
    """A satisfiability query: step, hypotheses and negated conclusion.  ``unsat`` proves the conclusion."""

    title: str
    step: tuple[Assertion, ...]
    hypotheses: tuple[Assertion, ...]
    negated: Assertion

    @property
    def assertions(self) -> tuple[Assertion, ...]:
        return (*self.step, *self.hypotheses, self.negated)

    def render(self, named: bool = True) -> str:
        """Render the script.  If ``named``, hypothesis number i gets the name ``h!i``."""
        declarations = dict.fromkeys(line for assertion in self.assertions for line in assertion.declarations)
        hypotheses = [hypothesis.formula for hypothesis in self.hypotheses]
        if named:
            hypotheses = [f"(! {formula} :named h!{index})" for index, formula in enumerate(hypotheses)]
        formulas = [*(assertion.formula for assertion in self.step), *hypotheses, self.negated.formula]
        commands = [f"(assert {formula})" for formula in formulas]
        return "\n".join((f"; {make_printable(self.title)}: unsat proves it", *declarations, *commands, ""))


def render_standalone_script(script: Script) -> str:
    """Render the script as a complete file for any SMT-LIB solver."""
    return f"(set-logic ALL)\n{script.render()}(check-sat)\n"


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
    declarations = {_SYMBOL.findall(c)[1]: " ".join(c.split()) for c in commands if c.startswith("(declare-")}
    formulas = [_extract_formula(c) for c in commands if c.startswith("(assert")]
    if len(formulas) != len(distinct):
        raise InternalError("the solver did not print every formula it was given")
    assertions = {key: _build_assertion(text, declarations) for key, text in zip(distinct, formulas, strict=True)}
    return [assertions[term.get_id()] for term in terms]


def _extract_formula(command: str) -> str:
    """Extract the formula, with its let-variables renumbered: Z3 numbers them across all the formulas it prints."""
    body = " ".join(command.strip().removeprefix("(assert").removesuffix(")").split())
    names: dict[str, str] = {}

    def rename_variable(match: re.Match[str]) -> str:
        token = match.group()
        return token if token.startswith("|") else names.setdefault(token, f"{token[0]}{len(names)}")

    return _ABBREVIATION.sub(rename_variable, body)


def _build_assertion(formula: str, declarations: dict[str, str]) -> Assertion:
    symbols = dict.fromkeys(_SYMBOL.findall(formula))
    return Assertion(formula, tuple(sorted(declarations[symbol] for symbol in symbols if symbol in declarations)))
