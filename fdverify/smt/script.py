"""Obligations as SMT-LIB text, and the answers of solvers to them.

The same text is solved, sent to other processes and solvers, cached and saved.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any, Literal

from fdverify.printable import make_printable

SYMBOL = re.compile(r"\|[^|]*\||[^\s()|]+")


@dataclass(frozen=True)
class Assertion:
    """A formula with the declarations of its symbols, and the term it was printed from, in the process that did so."""

    formula: str
    declarations: tuple[str, ...]
    term: Any = field(default=None, compare=False, repr=False)

    def __reduce__(self) -> tuple[type[Assertion], tuple[str, tuple[str, ...]]]:
        return Assertion, (self.formula, self.declarations)

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
        hypotheses = [hypothesis.formula for hypothesis in self.hypotheses]
        if named:
            hypotheses = [f"(! {formula} :named h!{index})" for index, formula in enumerate(hypotheses)]
        formulas = [*(assertion.formula for assertion in self.step), *hypotheses, self.negated.formula]
        return f"; {make_printable(self.title)}: unsat proves it\n{_render_commands(self.assertions, formulas)}"


def find_declared_symbol(declaration: str) -> str:
    """Return the symbol that a declaration declares, as formulas write it."""
    symbol: str = SYMBOL.findall(declaration)[1]
    return symbol


def render_assertions(assertions: Sequence[Assertion]) -> str:
    """Render assertions with their declarations."""
    return _render_commands(assertions, [assertion.formula for assertion in assertions])


def _render_commands(assertions: Sequence[Assertion], formulas: Sequence[str]) -> str:
    declarations = dict.fromkeys(line for assertion in assertions for line in assertion.declarations)
    return "\n".join((*declarations, *(f"(assert {formula})" for formula in formulas), ""))


def render_standalone_script(script: Script) -> str:
    """Render the script as a complete file for any SMT-LIB solver."""
    return f"(set-logic ALL)\n{script.render()}(check-sat)\n"


@dataclass(frozen=True)
class Decision:
    """Z3's answer to a script.  For ``unsat``, ``core`` has the indices of the hypotheses in the unsat core, if wanted.

    If the core does not need the negated conclusion, the step and the hypotheses contradict each other.  ``effort`` is
    Z3's own count of its work (``rlimit``), which does not depend on the speed of the machine.
    """

    status: Literal["sat", "unsat", "unknown"]
    reason: str = ""
    effort: int = 0
    core: tuple[int, ...] | None = None
    needs_negated: bool = True
    seconds: float = 0.0
