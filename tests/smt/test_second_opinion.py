"""Another solver, asked the same text: it agrees, or says that it does not know."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import z3

from fdverify.errors import UsageError
from fdverify.obligations.inductive import build_obligations
from fdverify.proofs.proof_files import load_proof
from fdverify.smt.decide import decide_script
from fdverify.smt.print_terms import print_assertions
from fdverify.smt.script import Assertion, Script
from fdverify.smt.second_opinion import check_solver_available, decide_with_solver

INVARIANTS = Path(__file__).parents[2] / "invariants"
X, Y, PHI = z3.Ints("x y phi")
P, Q = z3.Bools("p q")
V, W = z3.BitVec("v", 5), z3.BitVec("w", 5)
MEMBER = z3.Function("buffer@0", z3.IntSort(), z3.BoolSort())

solvers = pytest.mark.parametrize("solver", ["cvc5", "z3"])

QUESTIONS: dict[str, tuple[str, list[Any]]] = {
    "arithmetic": ("unsat", [X > Y, Y > 0, X < 1]),
    "arithmetic that can hold": ("sat", [X > Y, Y > 0, X < 9]),
    "truth values": ("unsat", [z3.Or(P, Q), z3.Not(P), Q == P]),
    "nothing known": ("sat", [z3.BoolVal(True), P]),
    "false": ("unsat", [z3.BoolVal(False), P]),
    "bits": ("unsat", [(V << 1) & 1 == 1, V == V]),
    "bits that fit": ("sat", [(V << 1) | 1 == W, W & 16 == 16, V & 16 == 0]),
    "a predicate": ("unsat", [MEMBER(X), X == Y + 1, z3.Not(MEMBER(Y + 1))]),
    "a predicate of two ages": ("sat", [MEMBER(X), X > Y, z3.Not(MEMBER(Y))]),
    "a product": ("unsat", [PHI >= 1, X >= 0, X <= Y, PHI * X > PHI * Y]),
    "a product that fits": ("sat", [PHI * X == 35, PHI > 1, X > PHI]),
    "bits and a product": ("unsat", [z3.Implies(V == 3, PHI * X == 7), V & 7 == 3, V & 24 == 0, PHI * X == 8]),
    "remainders": ("unsat", [X % 3 == 1, (X + 1) % 3 != 2]),
    "remainders that fit": ("sat", [X % 3 == 1, (X + 1) % 3 != 1, X < 0]),
    "a remainder of a negative number": ("unsat", [X == -1, z3.Or(X % 3 != 2, X / 3 != -1)]),
    "quotients": ("unsat", [Y == 3 * ((X + 2) / 3), Y < X]),
    "quotients on one side of a choice": ("sat", [z3.Or(P, X / 3 == 5), z3.Not(P), X % 3 == 2]),
    "odd names": ("unsat", [z3.Bool("b@1#(+ 1 delta)"), z3.Not(z3.Bool("b@1#(+ 1 delta)"))]),
}


def script(terms: list[Any]) -> Script:
    first, *between, last = print_assertions(terms)
    return Script("test", (first,), tuple(between), last)


@solvers
@pytest.mark.parametrize(("expected", "terms"), QUESTIONS.values(), ids=QUESTIONS)
def test_both_give_the_right_answer(solver: str, expected: str, terms: list[Any]) -> None:
    found = script(terms)
    assert decide_script(found).status == expected
    assert decide_with_solver(found, solver).status == expected


@pytest.mark.parametrize("buffer", ["predicate", "counter", "bitvector"])
def test_both_agree_on_a_proof_and_without_its_hypotheses(buffer: str) -> None:
    asked = build_obligations(
        load_proof(INVARIANTS / "strong_accuracy.py").build_invariant({"delta": 2}, {"buffer": buffer})
    )
    by_name = {question.name: question.script for question in asked}
    for name in ("trusted-init", "trusted-step", "message_grows_old-step", "goal"):
        proved = by_name[name]
        assert decide_script(proved).status == decide_with_solver(proved, "cvc5").status == "unsat"
        bare = Script(proved.title, proved.step, (), proved.negated)
        assert decide_script(bare).status == decide_with_solver(bare, "cvc5").status


def test_unknown_solver() -> None:
    check_solver_available("cvc5")
    with pytest.raises(UsageError) as caught:
        check_solver_available("oracle")
    assert "oracle" in caught.value.message
    assert caught.value.hint is not None
    assert "cvc5" in caught.value.hint
    assert "z3" in caught.value.hint


UNREADABLE = {
    "an unknown function": ("(frobnicate x)", "(declare-fun x () Int)"),
    "an undeclared symbol": ("(> y 0)", "(declare-fun x () Int)"),
    "no formula": ("", "(declare-fun x () Int)"),
    "a number": ("(+ x 1)", "(declare-fun x () Int)"),
    "mixed sorts": ("(> x true)", "(declare-fun x () Int)"),
    "parentheses left open": ("(and (> x 0)", "(declare-fun x () Int)"),
    "an unknown sort": ("(> x 0)", "(declare-fun x () Integer)"),
    "division by an unknown": ("(= (mod x x) 1)", "(declare-fun x () Int)"),
    "division by zero": ("(= (div x 0) 1)", "(declare-fun x () Int)"),
    "no declaration": ("(> x 0)", "hello"),
}


@solvers
@pytest.mark.parametrize(("formula", "declaration"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_unknown(solver: str, formula: str, declaration: str) -> None:
    """It is no answer, and no other error either, that part of a script makes no sense to the solver."""
    odd = Assertion(formula, (declaration,))
    fine = print_assertions([P])[0]
    for found in (Script("test", (fine,), (), odd), Script("test", (fine,), (odd,), fine)):
        opinion = decide_with_solver(found, solver)
        assert opinion.status == "unknown"
        assert opinion.reason
        assert "\n" not in opinion.reason


def test_a_script_that_neither_reads_is_unknown_to_both() -> None:
    odd = Script("test", (), (), Assertion("(frobnicate x)", ("(declare-fun x () Int)",)))
    assert decide_script(odd).status == decide_with_solver(odd, "cvc5").status == "unknown"
    assert decide_script(odd).reason
    assert "\n" not in decide_script(odd).reason
