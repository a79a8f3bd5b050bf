"""The checker that engines are compared with: known answers, and runs judged by the meaning of <> and []."""

from pathlib import Path

import pytest

from tests.threshold.oracle import holds, starts
from tests.threshold.oracle.expressions import truth
from tests.threshold.oracle.formulas import (
    Always,
    Both,
    Compared,
    Either,
    Formula,
    Later,
    Negated,
    Sum,
    Truth,
)
from tests.threshold.oracle.graph import graph_of
from tests.threshold.oracle.reader import Reader
from tests.threshold.oracle.starts import TooLargeError

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
      shared x; parameters N;
      locations { a: []; b: [ ]; c: []; }
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
    monkeypatch.setattr(starts, "MOST_CONFIGURATIONS", 20)
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
