"""The shapes of runs that break a specification: together they are its negation, on any run."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fdverify.errors import UsageError
from fdverify.threshold.claims.nnf import convert_to_nnf, negate_to_nnf
from fdverify.threshold.claims.run_shapes import RunShape, list_violating_shapes
from fdverify.threshold.lasso_semantics import evaluate_on_lasso
from fdverify.threshold.ltl_formula import (
    And,
    Constant,
    Eventually,
    Formula,
    Globally,
    Implies,
    LinearComparison,
    LinearExpression,
    Not,
    Or,
    evaluate_formula,
    is_temporal,
)
from fdverify.threshold.text.read import parse_automaton
from tests.threshold.small import TEXT

Values = Mapping[str, int]
numbers = st.integers(-2, 2)
linear = st.builds(LinearExpression.from_factors, st.dictionaries(st.sampled_from("AB"), numbers, max_size=2), numbers)
comparisons = st.builds(LinearComparison, linear, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), linear)
atoms = st.sampled_from(
    [LinearComparison(LinearExpression.from_factors({name: 1}), "==", LinearExpression(constant=1)) for name in "AB"]
)


def combined(leaves: st.SearchStrategy[Formula], temporal: bool) -> st.SearchStrategy[Formula]:
    def larger(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
        prefixed = [st.builds(Eventually, inner), st.builds(Globally, inner)] if temporal else []
        pairs = [st.builds(kind, inner, inner) for kind in (And, Or, Implies)]
        return st.one_of(st.builds(Not, inner), *pairs, *prefixed, *prefixed)

    return st.recursive(leaves | st.builds(Constant, st.booleans()), larger, max_leaves=6)


@given(combined(comparisons, temporal=False), st.fixed_dictionaries({"A": st.integers(0, 3), "B": st.integers(0, 3)}))
def test_what_is_simplified_says_the_same(formula: Formula, values: Values) -> None:
    assert evaluate_formula(convert_to_nnf(formula), values) == evaluate_formula(formula, values)
    assert evaluate_formula(negate_to_nnf(formula), values) != evaluate_formula(formula, values)


values = st.fixed_dictionaries({"A": st.integers(0, 1), "B": st.integers(0, 1)})


@given(combined(atoms, temporal=True), st.lists(values, min_size=1, max_size=5), st.data())
def test_a_run_breaks_a_specification_if_it_has_one_of_the_shapes(
    formula: Formula, run: list[Values], data: st.DataObject
) -> None:
    assume(is_temporal(formula))
    back = data.draw(st.integers(0, len(run) - 1))
    try:
        found = list_violating_shapes("s", formula)
    except UsageError:
        assume(False)
    assert any(has_shape(shape, run, back) for shape in found) != evaluate_on_lasso(formula, run, back)


def has_shape(shape: RunShape, run: Sequence[Values], back: int) -> bool:
    """Whether the moments of the shape can be placed in the run, unrolled once for each of them."""
    loop = list(run[back:])
    unrolled = [*run, *(loop * len(shape.moments))]

    def fits(moment: int, at: int) -> bool:
        now, ever = shape.moments[moment].holds, shape.moments[moment].globally
        return all(evaluate_formula(formula, unrolled[at]) for formula in now) and all(
            evaluate_formula(formula, place) for formula in ever for place in (*unrolled[at:], *loop)
        )

    def place(moment: int, places: tuple[int, ...]) -> bool:
        if moment == len(shape.moments):
            return True
        first = places[shape.moments[moment].after or 0]
        return any(fits(moment, at) and place(moment + 1, (*places, at)) for at in range(first, len(unrolled)))

    ends = all(evaluate_formula(formula, values) for formula in shape.eventually_always for values in loop)
    turns = all(any(evaluate_formula(formula, values) for values in loop) for formula in shape.infinitely_often)
    return ends and turns and fits(0, 0) and place(1, (0,))


def test_the_shapes_of_runs_that_break_reliable_broadcast() -> None:
    _, correctness, relay = parse_automaton(TEXT, "t").specifications
    (shape,) = list_violating_shapes("correctness", correctness.formula)
    assert [len(shape.moments), len(shape.eventually_always), len(shape.infinitely_often)] == [1, 1, 0]
    (shape,) = list_violating_shapes("relay", relay.formula)
    assert [moment.after for moment in shape.moments] == [None, 0]
    assert [len(moment.globally) for moment in shape.moments] == [0, 1]


def test_too_many_ways_are_refused() -> None:
    either: Formula = Constant(False)
    for name in "ABCDEFGHIJ":
        one, other = (
            LinearComparison(LinearExpression.from_factors({name: 1}), "==", LinearExpression(constant=number))
            for number in (1, 2)
        )
        either = Or(either, And(Eventually(one), Eventually(other)))
    with pytest.raises(UsageError, match="there are more than 500 ways to break it"):
        list_violating_shapes("s", either)
