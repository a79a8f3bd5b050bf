"""Runs through small graphs, judged by the meaning of <> and []."""

import random
from collections.abc import Sequence
from itertools import pairwise, product

import pytest

from tests.threshold.oracle.expressions import ExpressionReader, truth
from tests.threshold.oracle.formulas import Always, Both, Claim, Either, Formula, Later, true_at
from tests.threshold.oracle.tableau import pushed, some_run

# Two places, p holds at the second only; how one gets from one to the other.
ONCE = [[0, 1], [1]]
BACK = [[0, 1], [0, 1]]
SWAP = [[1], [0]]


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("[]<>p == 1", SWAP, True),
        ("<>[]p == 1", SWAP, False),
        ("[]<>p == 1 && []<>p == 0", SWAP, True),
        ("<>[]p == 0", SWAP, False),
        ("[]<>p == 1 && []<>p == 0", ONCE, False),
        ("<>p == 1 && []<>p == 0", ONCE, False),
        ("[]<>p == 1", ONCE, True),
        ("[]p == 0", ONCE, True),
        ("[]<>p == 1 && []<>p == 0", BACK, True),
        ("<>(p == 1 && <>[]p == 0)", BACK, True),
        ("<>(p == 1 && <>[]p == 0)", ONCE, False),
        ("<>(p == 1 && <>p == 0) && <>[]p == 1", BACK, True),
        ("<>[]p == 1 -> []p == 0", SWAP, True),
        ("!(<>[]p == 1 -> []<>p == 1)", BACK, False),
        ("!([]<>p == 1 -> <>[]p == 1)", BACK, True),
        ("!([]<>p == 1 -> <>[]p == 1)", ONCE, False),
        ("[](p == 0 -> <>p == 1) && [](p == 1 -> <>p == 0)", SWAP, True),
        ("[](p == 0 -> <>p == 1) && [](p == 1 -> <>p == 0)", ONCE, False),
        ("[](p == 0 || []p == 1) && <>p == 1", SWAP, False),
        ("[](p == 0 || []p == 1) && <>p == 1", BACK, True),
    ],
)
def test_some_run_through_two_places(text: str, graph: Sequence[Sequence[int]], expected: bool) -> None:
    claims: list[Formula] = []
    wanted = pushed(truth(ExpressionReader(text).implication()), True, claims)
    true = [frozenset(at for at, claim in enumerate(claims) if true_at(claim, {"p": p})) for p in (0, 1)]
    assert some_run(wanted, graph, true, [0]) is expected


def test_against_the_meaning_of_each_formula() -> None:
    """A run that satisfies a formula is among those that come back to a place after a few steps."""
    source = random.Random(3)
    outcomes = []
    for _ in range(400):
        size = source.randint(1, 3)
        graph = [sorted(source.sample(range(size), source.randint(1, size))) for _ in range(size)]
        true = [frozenset(claim for claim in range(2) if source.randrange(2)) for _ in range(size)]
        wanted = some_formula(source, 3)
        found = some_run(wanted, graph, true, [0])
        assert found == any(satisfied(wanted, run, back, true)[0] for run, back in lassos(graph, 7)), (wanted, graph)
        outcomes.append(found)
    assert 80 < sum(outcomes) < 320


def some_formula(source: random.Random, depth: int) -> Formula:
    if depth == 0:
        return Claim(source.randrange(2))
    one, other = some_formula(source, depth - 1), some_formula(source, depth - 1)
    return source.choice((Both(one, other), Either(one, other), Later(one), Always(one), Later(one), Always(one)))


def lassos(graph: Sequence[Sequence[int]], most: int) -> list[tuple[tuple[int, ...], int]]:
    """Runs of at most so many places from the first one, which then go on at one of their own places for ever."""
    return [
        (run, back)
        for length in range(most)
        for run in ((0, *rest) for rest in product(range(len(graph)), repeat=length))
        if all(after in graph[before] for before, after in pairwise(run))
        for back in range(len(run))
        if run[back] in graph[run[-1]]
    ]


def satisfied(formula: Formula, run: Sequence[int], back: int, true: Sequence[frozenset[int]]) -> list[bool]:
    """At which places of the run the formula holds."""
    match formula:
        case Claim(place):
            return [place in true[at] for at in run]
        case Both(left, right) | Either(left, right):
            both = zip(satisfied(left, run, back, true), satisfied(right, run, back, true), strict=True)
            return [(all if isinstance(formula, Both) else any)(each) for each in both]
        case Later(operand):
            inside = satisfied(operand, run, back, true)
            return [any(inside[min(at, back) :]) for at in range(len(run))]
        case Always(operand):
            inside = satisfied(operand, run, back, true)
            return [all(inside[min(at, back) :]) for at in range(len(run))]
        case _:
            raise AssertionError("no such formula is made")
