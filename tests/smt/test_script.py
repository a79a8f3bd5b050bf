"""Questions as text: what is printed says what was meant, to every solver that reads it, in whatever order."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from fdverify.smt.decide import decide_script
from fdverify.smt.print_terms import print_assertions
from fdverify.smt.script import Assertion, Script, render_standalone_script
from fdverify.smt.second_opinion import decide_with_solver

Draw = Callable[[st.SearchStrategy[Any]], Any]

NUMBERS = ["delta", "x@0", "a name", "age!0123", "semi;colon", "Φ", "phi"]
FLAGS = ["p", "buffer@1#(+ 1 delta)", "buffer@1#(+ (* (- 1) 'x@0') delta)", "all!beef", "(assert false)"]
WORDS = ["bits@0", "w"]
MEMBER = z3.Function("buffer@0", z3.IntSort(), z3.BoolSort())


def numbers(draw: Draw, size: int) -> Any:
    kind = draw(st.integers(0, 5 if size > 0 else 1))
    if kind == 0:
        return z3.IntVal(draw(st.integers(-3, 3)))
    if kind == 1:
        return z3.Int(draw(st.sampled_from(NUMBERS)))
    left = numbers(draw, size - 1)
    right = left if draw(st.booleans()) else numbers(draw, size - 1)
    match kind:
        case 2:
            return left + right
        case 3:
            return left - right
        case 4:
            return z3.If(truths(draw, size - 1), left, right)
    return left * draw(st.integers(-3, 3))


def truths(draw: Draw, size: int) -> Any:
    """A formula in which parts occur more than once, so that long ones are printed with let."""
    kind = draw(st.integers(0, 9 if size > 0 else 3))
    match kind:
        case 0:
            return z3.Bool(draw(st.sampled_from(FLAGS)))
        case 1:
            return z3.BoolVal(draw(st.booleans()))
        case 2:
            return MEMBER(numbers(draw, 0))
        case 3:
            word = z3.BitVec(draw(st.sampled_from(WORDS)), 3)
            return (word << 1) & draw(st.integers(0, 7)) == word
    left, right = truths(draw, size - 1), truths(draw, size - 1)
    match kind:
        case 4:
            return z3.And(left, right, left)
        case 5:
            return z3.Or(z3.Not(left), right)
        case 6:
            return left == right
        case 7:
            return z3.If(left, right, z3.Xor(left, right))
    first, second = numbers(draw, size - 1), numbers(draw, size - 1)
    return first <= second if kind == 8 else z3.And(first == second + 1, MEMBER(first + second))


@st.composite
def formulas(draw: Draw) -> Any:
    return truths(draw, draw(st.integers(0, 4)))


def parsed(assertion: Assertion) -> Any:
    text = "\n".join((*assertion.declarations, f"(assert {assertion.formula})"))
    return z3.And(list(z3.parse_smt2_string(text)))


def same_meaning(left: Any, right: Any) -> bool:
    solver = z3.Solver()
    solver.add(z3.Xor(left, right))
    return bool(solver.check() == z3.unsat)


@given(terms=st.lists(formulas(), min_size=1, max_size=4))
def test_what_is_printed_means_the_same_when_it_is_read(terms: list[Any]) -> None:
    assertions = print_assertions(terms)
    assert len(assertions) == len(terms)
    for term, assertion in zip(terms, assertions, strict=True):
        assert same_meaning(term, parsed(assertion))


def test_nothing_is_printed_of_nothing() -> None:
    assert print_assertions([]) == []


def test_a_term_printed_twice_and_truth_values() -> None:
    p = z3.Bool("p")
    texts = [assertion.formula for assertion in print_assertions([p, z3.BoolVal(True), p, z3.BoolVal(False), p])]
    assert texts == ["p", "true", "p", "false", "p"]


def long_formula() -> Any:
    term = z3.Int("x@0") + z3.Int("delta")
    for name in NUMBERS:
        term = z3.If(term > z3.Int(name), term + z3.Int(name), term - term)
    return z3.And(term > 0, z3.Bool(FLAGS[1]), term < 7)


def test_a_long_formula_is_printed_with_let() -> None:
    (assertion,) = print_assertions([long_formula()])
    assert "(let " in assertion.formula
    assert "\n" not in assertion.formula
    assert same_meaning(long_formula(), parsed(assertion))


def test_the_same_formula_has_the_same_text_whatever_was_printed_before() -> None:
    (first,) = print_assertions([long_formula()])
    kept = [z3.Int(f"other{number}") * 3 > number for number in range(50)]
    (second, *_) = print_assertions([long_formula(), *kept])
    assert second.formula == first.formula
    assert second.fingerprint == first.fingerprint


def script(step: Sequence[Any], hypotheses: Sequence[Any], negated: Any) -> Script:
    texts = print_assertions([*step, *hypotheses, negated])
    return Script("test", tuple(texts[: len(step)]), tuple(texts[len(step) : -1]), texts[-1])


scripts = st.builds(script, st.lists(formulas(), max_size=2), st.lists(formulas(), max_size=4), formulas())


def expected(found: Script) -> str:
    solver = z3.Solver()
    solver.add(*(parsed(assertion) for assertion in found.assertions))
    return str(solver.check())


@given(found=scripts, seed=st.integers(1, 99))
def test_the_order_of_assertions_does_not_matter(found: Script, seed: int) -> None:
    assert decide_script(found).status == decide_script(found, seed).status == expected(found)


@given(found=scripts)
def test_a_core_suffices(found: Script) -> None:
    """With the hypotheses of the core alone the script is still unsat: what is remembered rests on this."""
    decision = decide_script(found)
    assert decide_script(found, core=False).status == decision.status
    if decision.status == "unsat":
        assert decision.core is not None
        kept = tuple(found.hypotheses[place] for place in decision.core)
        assert expected(Script(found.title, found.step, kept, found.negated)) == "unsat"


def test_a_core_names_what_is_needed() -> None:
    x, y, z = z3.Ints("x y z")
    assert decide_script(script([], [z > 0, x > y, z > 1, y > 0], x < 0)).core == (1, 3)
    assert decide_script(script([x > 0], [y > 0, z > 0], x < 0)).core == ()
    assert decide_script(script([x > y], [z > 0, y > z], x < 0), seed=3).core == (0, 1)


@pytest.mark.parametrize("name", ["h0", "h1", "h2", "mod", "abs", "div", "let"])
def test_a_parameter_may_be_called_anything(name: str) -> None:
    """Like the name of a hypothesis, or like a word of SMT-LIB."""
    number = z3.Int(name)
    decision = decide_script(script([], [number > 0, z3.Int("other") > 0], number < 0))
    assert (decision.status, decision.core) == ("unsat", (0,))
    assert decide_script(script([], [number > 0, z3.Int("other") > 0], number < 9)).status == "sat"


def fewer() -> settings:
    assert settings.default is not None
    return settings(max_examples=settings.default.max_examples // 5)


@fewer()
@given(found=scripts)
def test_any_solver_reads_the_file(found: Script) -> None:
    """Z3 and cvc5 (by its own parser, and through pysmt) give the same answer to the same text."""
    text = render_standalone_script(found)
    solver = z3.Solver()
    solver.from_string(text)
    answer = str(solver.check())
    assert answer == expected(found)
    assert answer_of_cvc5(text) == answer
    assert decide_with_solver(found, "cvc5").status == answer


def answer_of_cvc5(text: str) -> str:
    cvc5 = pytest.importorskip("cvc5")
    solver = cvc5.Solver(cvc5.TermManager())
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "script")
    answers = ""
    while not (command := parser.nextCommand()).isNull():
        answers += command.invoke(solver, parser.getSymbolManager())
    return answers.strip()


def test_a_file_by_hand() -> None:
    x = z3.Int("x y")
    text = render_standalone_script(script([x > 0], [x > 1, x < 4], x == 3))
    assert re.sub(r":named [^)]+", ":named …", text).splitlines() == [
        "(set-logic ALL)",
        "; test: unsat proves it",
        "(declare-fun |x y| () Int)",
        "(assert (> |x y| 0))",
        "(assert (! (> |x y| 1) :named …))",
        "(assert (! (< |x y| 4) :named …))",
        "(assert (= |x y| 3))",
        "(check-sat)",
    ]


def test_fingerprints_tell_sorts_apart() -> None:
    sorts = [z3.IntSort(), z3.BoolSort(), z3.BitVecSort(3), z3.BitVecSort(4)]
    assertions = [print_assertions([z3.Const("p", sort) == z3.Const("q", sort)])[0] for sort in sorts]
    assert {assertion.formula for assertion in assertions} == {"(= p q)"}
    assert len({assertion.fingerprint for assertion in assertions}) == len(sorts)


@given(left=formulas(), right=formulas())
def test_fingerprints_are_equal_only_of_the_same_formula(left: Any, right: Any) -> None:
    first, second = print_assertions([left])[0], print_assertions([right])[0]
    assert (first.fingerprint == second.fingerprint) == (first == second)
    assert print_assertions([left])[0].fingerprint == first.fingerprint


def test_declarations_are_those_of_the_symbols_that_occur() -> None:
    p, q = print_assertions([z3.Bool("p"), MEMBER(z3.Int("a name"))])
    assert p.declarations == ("(declare-fun p () Bool)",)
    assert q.declarations == ("(declare-fun buffer@0 (Int) Bool)", "(declare-fun |a name| () Int)")
