"""The checker that engines are compared with: known answers, and runs judged by the meaning of <> and []."""

import random
from collections.abc import Sequence
from itertools import pairwise, product
from pathlib import Path

import pytest

from tests.threshold import explicit
from tests.threshold.explicit import (
    Always,
    Both,
    Claim,
    Compared,
    Either,
    Formula,
    Later,
    Negated,
    Reader,
    Sum,
    TooLargeError,
    Truth,
    graph_of,
    holds,
    pushed,
    some_run,
    true_at,
    truth,
)
from tests.threshold.mutate import BASES, LARGEST, SPECIFICATIONS, mutants

TEXT = (Path(__file__).parents[2] / "examples" / "threshold" / "strb.ta").read_text()
NAMES = ("unforgeability", "correctness", "relay")


def parameters(n: int, t: int, f: int) -> dict[str, int]:
    return {"N": n, "T": t, "F": f}


def formula(text: str) -> Formula:
    return truth(Reader(text).implication())


def replaced(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


@pytest.mark.parametrize("values", [(4, 1, 1), (4, 1, 0), (5, 1, 1), (7, 2, 2)])
@pytest.mark.parametrize("name", NAMES)
def test_reliable_broadcast(name: str, values: tuple[int, int, int]) -> None:
    assert holds(TEXT, name, parameters(*values)) is True


def test_a_third_of_the_processes_is_too_many() -> None:
    assert holds(TEXT, "relay", parameters(3, 1, 1)) is None
    weaker = replaced(TEXT, "N > 3 * T", "N >= 3 * T")
    assert holds(weaker, "relay", parameters(3, 1, 1)) is False
    assert holds(weaker, "unforgeability", parameters(3, 1, 1)) is True


def test_more_are_faulty_than_expected() -> None:
    weaker = replaced(TEXT, "T >= F", "F <= T + 1")
    assert holds(weaker, "unforgeability", parameters(4, 1, 2)) is False
    assert holds(weaker, "unforgeability", parameters(4, 1, 1)) is True


def test_what_can_be_reached_is_counted() -> None:
    """Three processes that start anywhere; each that leaves is counted, and the guard lets in two."""
    text = """thresholdAutomaton A {
      local pc; shared x; parameters N;
      locations { a: [0]; b: []; c: [1; 2]; }
      inits { a + b == N; c == 0; x == 0; }
      rules {
        0: a -> c when (x < 2) do { x' == 1 + x; };
        1: b -> b when (true) do { unchanged(x); };
      }
      specifications { few: [](c <= 2); leave: <>(x > 0); none: [](c == 0 && x == 0); same: [](x == c); }
    }"""
    graph = graph_of(text, (("N", 3),))
    assert graph.initial == 4
    expected = {(a - x, 3 - a, x, x) for a in range(4) for x in range(min(a, 2) + 1)}
    assert set(graph.configurations) == expected
    assert [holds(text, name, {"N": 3}) for name in ("few", "leave", "none", "same")] == [True, False, False, True]
    assert [holds(text, name, {"N": 0}) for name in ("few", "leave", "none", "same")] == [True, False, True, True]


def test_starts_that_cannot_be_or_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    assert holds(replaced(TEXT, "SE == 0;", "SE == 0; V0 + 1 == 0;"), "relay", parameters(4, 1, 1)) is None
    assert holds(replaced(TEXT, "SE == 0;", "SE == 0; V0 > V1 + N;"), "relay", parameters(4, 1, 1)) is None
    assert holds(replaced(TEXT, "SE == 0;", "SE == 0; N < 4;"), "relay", parameters(4, 1, 1)) is None
    with pytest.raises(ValueError, match="nothing bounds x at first"):
        holds(replaced(TEXT, "    x == 0;", "    x >= 0;"), "relay", parameters(4, 1, 1))
    bounded = replaced(TEXT, "    x == 0;", "    x <= 2 * V1 && (x == 0 || x != 1);")
    assert {each[-1] for each in graph_of(bounded, (("F", 1), ("N", 4), ("T", 1))).configurations} >= {0, 2, 6}
    monkeypatch.setattr(explicit, "MOST_CONFIGURATIONS", 20)
    with pytest.raises(TooLargeError):
        holds(TEXT, "relay", parameters(7, 1, 1))


def test_a_variable_that_grows_for_ever_is_refused() -> None:
    text = replaced(TEXT, "AC -> AC when (true) do { unchanged(x); }", "AC -> AC when (true) do { x' == x + 1; }")
    with pytest.raises(TooLargeError):
        holds(text, "unforgeability", parameters(4, 1, 1))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("x >= SOME_CORRECT", "x >= SOME", "there is no SOME"),
        ("x' == x + 1", "x' == x - 1", "x does not grow by a number"),
        ("N > 3 * T", "N > N * T", "a product of names is not linear"),
        ("N > 3 * T", "N", "a number stands for a truth value"),
        ("V1 -> SE", "V1 SE", "'->' was expected instead of 'SE'"),
    ],
)
def test_what_is_no_automaton_is_refused(old: str, new: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        holds(replaced(TEXT, old, new), "relay", parameters(4, 1, 1))


x_is_1 = Compared(Sum((("x", 1),), -1), "==")
y_is_0 = Compared(Sum((("y", 1),), 0), "==")
z_grows = Compared(Sum((("T", 2), ("z", -3)), 2), "<=")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<>x == 1", Later(x_is_1)),
        ("!x == 1 && y == 0", Both(Negated(x_is_1), y_is_0)),
        ("[]<>(x == 1) || y == 0", Either(Always(Later(x_is_1)), y_is_0)),
        ("x == 1 -> y == 0 -> true", Either(Negated(Either(Negated(x_is_1), y_is_0)), Truth(True))),
        ("x == 1 || y == 0 && false", Either(x_is_1, Both(y_is_0, Truth(False)))),
        ("2 * (T - z) <= z - /* two */ 2", z_grows),
        ("(-(T + 1)) * 2 >= - z * 3", Compared(Sum((("T", -2), ("z", 3)), -2), ">=")),
    ],
)
def test_precedence(text: str, expected: Formula) -> None:
    assert formula(text) == expected


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
    wanted = pushed(formula(text), True, claims)
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


def test_mutants_are_small_differ_and_break_some_of_each_shape() -> None:
    assert all(automaton.is_well_made() for automaton in BASES)
    found = mutants(1, 120)
    assert found == mutants(1, 120)
    assert found != mutants(2, 120)
    assert len({text for text, _ in found}) == 120
    for text, values in found:
        automaton = Reader(text).automaton()
        assert len(automaton.locations) <= 5
        assert len(automaton.rules) <= 8
        assert all(values[name] <= most for name, most in LARGEST.items())
    answers = [[holds(text, name, values) for name in SPECIFICATIONS] for text, values in found]
    for shape in zip(*answers, strict=True):
        assert min(shape.count(True), shape.count(False)) >= 8
        assert shape.count(None) < 20
