"""Scripts that are proved together are those that are proved one by one, or fewer; their cores suffice."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from fdverify.obligations.inductive import build_obligations
from fdverify.proofs.proof_files import load_proof
from fdverify.smt import decide
from fdverify.smt.decide import decide_script, prove_scripts
from fdverify.smt.print_terms import print_assertions
from fdverify.smt.script import Script, render_assertions
from fdverify.smt.solver_name import SOLVER
from tests.sampling import every

SHIPPED = sorted((Path(__file__).parents[2] / "invariants").rglob("[!_]*.py"))
X = [z3.Int(f"x{number}") for number in range(4)]
STEP = [X[0] == 0]
POOL = [
    *(X[number + 1] <= X[number] + 1 for number in range(3)),
    *(X[number + 1] >= X[number] for number in range(3)),
    X[1] == 5,
    z3.Or(X[2] == 7, X[3] < 0),
    z3.BoolVal(False),
    z3.Bool("guard!0"),
    z3.Not(z3.Bool("guard!1")),
]
GOALS = [X[3] > 3, X[3] < 0, X[1] != 5, X[2] == 100, z3.BoolVal(True), z3.Not(z3.Bool("guard!0"))]


def script(hypotheses: Sequence[Any], negated: Any, step: Sequence[Any] = STEP) -> Script:
    texts = print_assertions([*step, *hypotheses, negated])
    return Script("test", tuple(texts[: len(step)]), tuple(texts[len(step) : -1]), texts[-1])


GROUPS = st.lists(
    st.tuples(st.lists(st.sampled_from(range(len(POOL))), max_size=6), st.sampled_from(range(len(GOALS)))),
    min_size=1,
    max_size=8,
)


@given(group=GROUPS)
def test_together_as_alone(group: list[tuple[list[int], int]]) -> None:
    scripts = [script([POOL[number] for number in numbers], GOALS[goal]) for numbers, goal in group]
    for each, together in zip(scripts, prove_scripts(scripts), strict=True):
        alone = decide_script(each)
        assert (together is not None) == (alone.status == "unsat"), "so little is decided either way"
        if together is not None:
            assert together.status == "unsat"
            assert together.core is not None
            kept = replace(each, hypotheses=tuple(each.hypotheses[index] for index in together.core))
            assert decide_script(kept).status == "unsat", "the core suffices"
            if not together.needs_negated:
                assert decide_script(replace(kept, negated=print_assertions([z3.BoolVal(True)])[0])).status == "unsat"


@pytest.mark.parametrize("path", every(4, SHIPPED), ids=lambda path: path.stem)
def test_a_claim_dropped_is_not_proved_together(path: Path) -> None:
    """Without its hypotheses hardly an obligation holds; together with whole ones it must not be taken for one."""
    questions = build_obligations(load_proof(path).build_invariant({}, {}))
    steps = {question.script.step for question in questions}
    for step in steps:
        whole = [question.script for question in questions if question.script.step == step]
        bare = [replace(each, hypotheses=()) for each in whole]
        for each, together in zip(bare, prove_scripts([*whole, *bare])[len(whole) :], strict=True):
            assert together is None or decide_script(each).status == "unsat"


@pytest.mark.parametrize("path", every(4, SHIPPED), ids=lambda path: path.stem)
def test_what_is_proved_at_once_is_what_the_text_says(path: Path) -> None:
    """The terms that a process has printed, and the text read back, are the same but for how constants are written."""
    questions = build_obligations(load_proof(path).build_invariant({}, {}))
    assertions = {assertion for question in questions for assertion in question.script.assertions}
    printed = [assertion for assertion in assertions if assertion.term is not None]
    assert len(printed) > len(assertions) // 2
    for assertion in printed:
        (read,) = z3.parse_smt2_string(render_assertions([assertion]))
        assert is_same(read, assertion.term), read


def is_same(read: z3.ExprRef, term: z3.ExprRef) -> bool:
    """Tell whether two terms are the same, or a solver says that they mean the same: simplifying has no one result."""
    if z3.simplify(read).eq(z3.simplify(term)):
        return True
    solver = z3.Solver()
    return bool(solver.check(read != term) == z3.unsat)


def test_a_term_stays_in_its_process() -> None:
    (assertion,) = print_assertions([X[0] > 0])
    (sent,) = pickle.loads(pickle.dumps([assertion]))
    assert assertion.term is not None
    assert sent.term is None
    assert sent == assertion


@given(group=GROUPS)
def test_texts_as_terms(group: list[tuple[list[int], int]]) -> None:
    scripts = [script([POOL[number] for number in numbers], GOALS[goal]) for numbers, goal in group]
    sent = pickle.loads(pickle.dumps(scripts))
    assert [each is None for each in prove_scripts(scripts)] == [each is None for each in prove_scripts(sent)]


def test_nothing_is_proved_without_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = [script([X[1] <= X[0]], X[1] > number) for number in range(3)]
    assert None not in prove_scripts(scripts)
    monkeypatch.setattr(decide, "_EFFORT_TOGETHER", 0)
    first, *others = prove_scripts(scripts)
    assert first is not None
    assert others == [None, None]


def test_symbols_of_two_sorts_are_not_mixed() -> None:
    number = script([], z3.And(z3.Int("w") > 0, z3.Int("w") < 0))
    flag = script([], z3.And(z3.Bool("w"), z3.Not(z3.Bool("w"))))
    assert prove_scripts([number, flag]) == [None, None]
    assert all(decision is not None for each in (number, flag) for decision in prove_scripts([each]))


def test_symbols_like_guards_are_not_guards() -> None:
    symbols = [z3.Bool(f"guard!{marks}{number}") for marks in ("", "!", "!!") for number in range(1000)]
    possible = [script([], goal, step=[z3.Not(symbol) for symbol in symbols]) for goal in (X[0] > 0, X[0] < 0)]
    assert prove_scripts(possible) == [None, None]


def test_scripts_of_two_steps_are_refused() -> None:
    with pytest.raises(AssertionError, match="step"):
        prove_scripts([script([], X[0] > 0), script([], X[0] > 0, step=[X[0] == 1])])


def test_the_name_of_the_solver_is_the_solvers() -> None:
    assert f"z3 {z3.get_version_string()}" == SOLVER
