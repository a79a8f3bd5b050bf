"""A second opinion: another solver, available through pysmt, decides the same text."""

from __future__ import annotations

import warnings
from functools import cache
from io import StringIO
from typing import Any

from fdverify.errors import UsageError
from fdverify.smt.script import Decision, Script


def check_solver_available(name: str) -> None:
    """Refuse a solver that pysmt does not find on this machine."""
    known = sorted(_create_environment().factory.all_solvers())
    if name not in known:
        raise UsageError(f"pysmt finds no solver {name}", f"it finds {', '.join(known)}; install one: pip install cvc5")


def decide_with_solver(script: Script, name: str) -> Decision:
    """Decide the script with the solver of this name."""
    from pysmt.exceptions import SolverReturnedUnknownResultError
    from pysmt.logics import Logic

    environment = _create_environment()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            formula = _parse_script(environment, script.render())
            # pysmt names no logic with both bit-vectors and products of integers; solvers call the union ALL.
            solver = environment.factory.all_solvers()[name](environment=environment, logic=Logic("ALL", ""))
            solver.add_assertion(formula)
            return Decision("sat" if solver.solve() else "unsat")
        except SolverReturnedUnknownResultError:
            return Decision("unknown", reason=f"{name} gives no reason")
        except Exception as error:  # parsers and solvers raise many kinds of exception at unsupported input
            return Decision("unknown", reason=" ".join(f"{name}: {type(error).__name__} {error}".split()))


def _parse_script(environment: Any, text: str) -> Any:
    """Parse the script.  pysmt has neither div nor mod: each quotient becomes a fresh symbol, defined by two bounds."""
    from pysmt.smtlib.parser import SmtLibParser
    from pysmt.typing import INT

    terms, bounds = environment.formula_manager, []

    @cache
    def define_quotient(dividend: Any, divisor: Any) -> Any:
        if not (divisor.is_int_constant() and divisor.constant_value() > 0):
            raise ValueError("the divisor is not a positive literal")
        symbol = terms.FreshSymbol(INT)
        multiple = terms.Times(divisor, symbol)
        bounds.append(terms.And(terms.LE(multiple, dividend), terms.LT(dividend, terms.Plus(multiple, divisor))))
        return symbol

    def build_remainder(dividend: Any, divisor: Any) -> Any:
        return terms.Minus(dividend, terms.Times(divisor, define_quotient(dividend, divisor)))

    parser = SmtLibParser(environment=environment)
    for name, function in (("div", define_quotient), ("mod", build_remainder)):
        parser.interpreted[name] = lambda stack, tokens, key, function=function: stack[-1].append(function)
    formula = parser.get_script(StringIO(text)).get_last_formula()
    return terms.And(formula, *bounds)


def _create_environment() -> Any:
    from pysmt.environment import Environment

    return Environment()
