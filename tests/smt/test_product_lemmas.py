"""Lemmas about products: each is true of all integers, and they are about the products of the script alone."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import z3

from fdverify.obligations.inductive import build_obligations
from fdverify.obligations.obligation import InvariantObligation
from fdverify.proofs.proof_files import load_proof
from fdverify.smt.print_terms import print_assertions
from fdverify.smt.product_lemmas import build_order_lemmas, build_product_lemmas, build_sign_lemmas
from fdverify.smt.script import Assertion

PROOF = Path(__file__).parents[2] / "invariants" / "strong_completeness_any_timeout.py"
SCHEMATA = [*build_sign_lemmas("f", "a", "fa"), *build_order_lemmas("f", "a", "fa", "b", "fb")]
F, A, B, FA, FB = z3.Ints("f a b fa fb")
DECLARED = "".join(f"(declare-fun {name} () Int)" for name in ("f", "a", "b", "fa", "fb"))

schemata = pytest.mark.parametrize("schema", SCHEMATA)


def read(schema: str) -> Any:
    (term,) = z3.parse_smt2_string(f"{DECLARED}(assert {schema})")
    return term


@schemata
def test_true_of_all_integers(schema: str) -> None:
    """Decided by Z3 with the products spelled out."""
    lemma = z3.substitute(read(schema), (FA, F * A), (FB, F * B))
    solver = z3.Solver()
    solver.add(z3.Not(lemma))
    assert solver.check() == z3.unsat


@schemata
def test_true_of_small_integers(schema: str) -> None:
    lemma = read(schema)
    for f, a, b in product(range(-4, 5), repeat=3):
        values = {F: f, A: a, B: b, FA: f * a, FB: f * b}
        found = z3.simplify(z3.substitute(lemma, *((name, z3.IntVal(value)) for name, value in values.items())))
        assert z3.is_true(found), values


@schemata
def test_says_something(schema: str) -> None:
    """It is false of some numbers that are no products, so that it does rule something out."""
    solver = z3.Solver()
    solver.add(z3.Not(read(schema)))
    assert solver.check() == z3.sat


@pytest.fixture(scope="module")
def asked() -> list[InvariantObligation]:
    return build_obligations(load_proof(PROOF).build_invariant({}, {}))


def integers(assertion: Assertion) -> set[str]:
    """The integers among the symbols declared by an assertion."""
    found = (re.fullmatch(r"\(declare-fun (\|[^|]*\||\S+) \(\) Int\)", line) for line in assertion.declarations)
    return {match.group(1) for match in found if match is not None}


def test_the_products_of_a_proof_are_found(asked: list[InvariantObligation]) -> None:
    step = next(question.script for question in asked if question.name == "waited_for_timeout-step")
    lemmas = build_product_lemmas(step.assertions)
    text = " ".join(lemma.formula for lemma in lemmas)
    for factor, other in (("phi", "timeout@0"), ("phi", "timeout@1"), ("phi", "waiting_time@0")):
        assert f"(* {factor} {other})" in text
    assert set(lemmas) <= set(step.hypotheses)


def test_lemmas_are_about_declared_integers(asked: list[InvariantObligation]) -> None:
    """Each can be read on its own, each symbol in it is an integer that the script declares, each is true."""
    for script in {id(question.script): question.script for question in asked}.values():
        declared = {name for assertion in script.assertions for name in integers(assertion)}
        for lemma in build_product_lemmas(script.assertions):
            assert len(integers(lemma)) == len(lemma.declarations)
            assert integers(lemma) <= declared
    for formula, declarations in {
        (lemma.formula, lemma.declarations) for lemma in build_product_lemmas(script.assertions)
    }:
        solver = z3.Solver()
        solver.add(z3.Not(z3.And(list(z3.parse_smt2_string("\n".join((*declarations, f"(assert {formula})")))))))
        assert solver.check() == z3.unsat


def test_no_product_no_lemma() -> None:
    x, y = z3.Ints("x y")
    assert (
        build_product_lemmas(print_assertions([x + y > 3, 2 * x > y, z3.BitVec("v", 4) * z3.BitVec("w", 4) == 3])) == ()
    )


def test_a_product_of_something_shared_is_left_alone() -> None:
    """What the printer gives a name of its own with let is no symbol of the script."""
    x, y = z3.Ints("x y")
    shared = z3.If(x > y, x + y + 1, x - y)
    formula = z3.And(shared * y > 0, shared * x < 7, shared + shared > x, x * y > 2)
    lemmas = build_product_lemmas(print_assertions([formula]))
    assert {symbol for lemma in lemmas for symbol in integers(lemma)} == {"x", "y"}
    assert all("let" not in lemma.formula and "?" not in lemma.formula for lemma in lemmas)


@pytest.mark.parametrize("name", ["odd name", "Φ", "x@0", "x(y)"])
def test_factors_with_odd_names(name: str) -> None:
    x, y = z3.Int(name), z3.Int("y")
    lemmas = build_product_lemmas(print_assertions([x * y > 3]))
    assert len(lemmas) > 0
    assert all(len(lemma.declarations) == 2 for lemma in lemmas)


def test_a_square() -> None:
    x = z3.Int("x")
    for lemma in build_product_lemmas(print_assertions([x * x > 3])):
        solver = z3.Solver()
        solver.add(z3.Not(z3.And(list(z3.parse_smt2_string(f"{lemma.declarations[0]}(assert {lemma.formula})")))))
        assert solver.check() == z3.unsat
