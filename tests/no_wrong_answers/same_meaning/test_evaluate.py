"""Terms evaluated in many states at once: the same as Z3 says, state by state."""

import random
from typing import Any

import numpy as np
import pytest
import z3

from fdverify.author_code.term_evaluator import RecordingBook, TermEvaluator
from fdverify.logic import And, Implies, Not
from fdverify.symbolic.age_claims import SymbolicBuffer
from fdverify.symbolic.selection import build_predicate
from fdverify.symbolic.values import Int, lift_truth
from tests.sampling import every

NUMBERS, FLAGS, BITS = ("x", "y"), ("p", "q"), ("b", "c")
SIZE, WIDTH, AGES = 24, 5, 4


class Terms:
    """Random terms over numbers, flags, vectors of bits and a predicate over ages."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._has = z3.Function("has", z3.IntSort(), z3.BoolSort())

    def truth(self, depth: int) -> Any:
        if depth == 0:
            return z3.Bool(self._random.choice(FLAGS))
        kind = self._random.randrange(9)
        if kind == 0:
            return z3.And(self.truth(depth - 1), self.truth(depth - 1), self.truth(depth - 1))
        if kind == 1:
            return z3.Or(self.truth(depth - 1), z3.Not(self.truth(depth - 1)))
        if kind == 2:
            return z3.Implies(self.truth(depth - 1), self.truth(depth - 1))
        if kind == 3:
            return z3.If(self.truth(depth - 1), self.truth(depth - 1), self.truth(depth - 1))
        if kind == 4:
            return self._has(self.number(depth - 1))
        if kind == 5:
            return z3.Distinct(self.number(depth - 1), self.number(depth - 1), self.number(depth - 1))
        if kind == 6:
            return self.bits(depth - 1) == self.bits(depth - 1)
        if kind == 7:
            return self.truth(depth - 1) == self.truth(depth - 1)
        left, right = self.number(depth - 1), self.number(depth - 1)
        return self._random.choice(
            [left < right, left <= right, left > right, left >= right, left == right, left != right]
        )

    def number(self, depth: int) -> Any:
        if depth == 0:
            literal = z3.IntVal(self._random.choice([0, 1, -3, 7, 10**25]))
            return self._random.choice([z3.Int(self._random.choice(NUMBERS)), literal])
        kind = self._random.randrange(6)
        if kind == 0:
            return self.number(depth - 1) + self.number(depth - 1) - self.number(depth - 1)
        if kind == 1:
            return self.number(depth - 1) * self.number(depth - 1)
        if kind == 2:
            return -self.number(depth - 1)
        if kind == 3:
            return self.number(depth - 1) / z3.IntVal(self._random.randint(1, 5))
        if kind == 4:
            return self.number(depth - 1) % z3.IntVal(self._random.randint(1, 5))
        return z3.If(self.truth(depth - 1), self.number(depth - 1), self.number(depth - 1))

    def bits(self, depth: int) -> Any:
        if depth == 0:
            return z3.BitVec(self._random.choice(BITS), WIDTH)
        kind = self._random.randrange(4)
        if kind == 0:
            return self.bits(depth - 1) & self.bits(depth - 1)
        if kind == 1:
            return self.bits(depth - 1) | z3.BitVecVal(self._random.randrange(1 << WIDTH), WIDTH)
        if kind == 2:
            return ~self.bits(depth - 1)
        return self.bits(depth - 1) << self._random.randrange(WIDTH + 2)


@pytest.mark.parametrize("seed", every(10, range(200)))
def test_a_term_has_the_value_that_z3_gives_it(seed: int) -> None:
    drawn = np.random.default_rng(seed)
    columns: dict[str, Any] = {name: drawn.integers(-9, 10, SIZE) for name in NUMBERS}
    columns |= {name: drawn.random(SIZE) < 0.5 for name in FLAGS}
    columns |= {name: drawn.integers(0, 1 << WIDTH, SIZE) for name in BITS}
    members = {"has": drawn.random((SIZE, AGES)) < 0.5}
    terms = Terms(seed)
    evaluator = TermEvaluator(SIZE, columns, members, AGES, RecordingBook())
    for term in (terms.truth(4), terms.number(4), terms.bits(4)):
        found = evaluator.evaluate(term).tolist()
        for at in range(0, SIZE, 6):
            assert found[at] == by_z3(term, columns, members["has"], at)


def by_z3(term: Any, columns: dict[str, Any], members: Any, at: int) -> Any:
    solver = z3.Solver()
    solver.add(*(z3.Int(name) == int(columns[name][at]) for name in NUMBERS))
    solver.add(*(z3.Bool(name) == bool(columns[name][at]) for name in FLAGS))
    solver.add(*(z3.BitVec(name, WIDTH) == int(columns[name][at]) for name in BITS))
    ages = [age for age in range(AGES) if members[at][age]]
    age = z3.Var(0, z3.IntSort())
    meaning = z3.Or(*(age == each for each in ages)) if ages else z3.BoolVal(False)
    assert solver.check() == z3.sat
    replaced = z3.substitute_funs(term, (z3.Function("has", z3.IntSort(), z3.BoolSort()), meaning))
    value = solver.model().eval(replaced, model_completion=True)
    return z3.is_true(value) if z3.is_bool(value) else value.as_long()


@pytest.mark.parametrize("seed", every(5, range(40)))
def test_claims_about_all_ages_are_evaluated_at_all_ages(seed: int) -> None:
    drawn = np.random.default_rng(seed)
    members = drawn.random((SIZE, AGES)) < 0.4
    deltas = drawn.integers(0, AGES, SIZE)
    members &= np.arange(AGES) <= deltas[:, None]
    book = RecordingBook()
    buffer = SymbolicBuffer(Int(z3.Int("delta")), build_predicate("has"), book)
    x = Int(z3.Int("x"))
    claims = [
        buffer.empty(),
        buffer.single(),
        buffer.any(1, x),
        buffer.forall(0, x, lambda a: Implies(buffer.has(a), buffer.exists(a, buffer.delta, lambda b: b > a))),
        buffer.exists(x, buffer.delta, lambda a: And(Not(buffer.has(a)), buffer.forall(0, a, lambda b: b <= x))),
    ]
    columns = {"delta": deltas, "x": drawn.integers(-1, AGES + 1, SIZE)}
    evaluator = TermEvaluator(SIZE, columns, {"has": members}, AGES, book)
    found = [evaluator.evaluate(lift_truth(claim)).tolist() for claim in claims]
    for at in range(SIZE):
        ages, delta, k = {a for a in range(AGES) if members[at][a]}, int(deltas[at]), int(columns["x"][at])
        every_age = range(delta + 1)
        wanted = [
            not ages,
            len(ages) <= 1,
            any(1 <= a <= k for a in ages),
            all(a not in ages or any(b > a for b in every_age if b >= a) for a in every_age if a <= k),
            any(a not in ages and all(b <= k for b in every_age if b <= a) for a in every_age if a >= k),
        ]
        assert [column[at] for column in found] == wanted
