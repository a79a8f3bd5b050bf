"""Reading automata: what is written reads back the same, and whatever else is refused with a line and a column."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fdverify.errors import UsageError
from fdverify.threshold.automaton import Automaton, Location, Rule, Specification
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
)
from fdverify.threshold.text.diagram import format_mermaid
from fdverify.threshold.text.read import parse_automaton, read_automaton
from fdverify.threshold.text.write import write_automaton

STRB = Path(__file__).parents[2] / "examples" / "threshold" / "strb.ta"
TEXT = STRB.read_text()
PLACE = re.compile(r"[^:]+:[1-9]\d*:[1-9]\d*: .+")


def test_reliable_broadcast() -> None:
    automaton = read_automaton(STRB)
    assert automaton.name == "STRB"
    assert [location.name for location in automaton.locations] == ["V0", "V1", "SE", "AC"]
    assert [(rule.number, rule.source, rule.target, rule.get_increments()) for rule in automaton.rules[:5]] == [
        (1, "V1", "SE", {"x": 1}),
        (2, "V0", "SE", {"x": 1}),
        (3, "V0", "AC", {"x": 1}),
        (4, "V1", "AC", {"x": 1}),
        (5, "SE", "AC", {}),
    ]
    assert automaton.rules[1].guard == LinearComparison(
        LinearExpression.from_factors({"x": 1}), ">=", LinearExpression.from_factors({"T": 1, "F": -1}, 1)
    )
    assert [specification.name for specification in automaton.specifications] == [
        "unforgeability",
        "correctness",
        "relay",
    ]
    assert evaluate_formula(And(automaton.assumptions[0], automaton.assumptions[1]), {"N": 4, "T": 1, "F": 1})
    assert not evaluate_formula(automaton.assumptions[0], {"N": 3, "T": 1, "F": 1})


def specification(text: str) -> Formula:
    """A formula, read as that of a specification."""
    old = "unforgeability: V1 == 0 -> [](AC == 0);"
    assert old in TEXT
    return parse_automaton(TEXT.replace(old, f"it: {text};"), "t").specifications[0].formula


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("V0 == 0 || V1 == 0 -> SE == 0 && AC == 0", "((V0 == 0) || (V1 == 0)) -> ((SE == 0) && (AC == 0))"),
        ("V0 == 0 || V1 == 0 && SE == 0 || AC == 0", "((V0 == 0) || ((V1 == 0) && (SE == 0))) || (AC == 0)"),
        ("!V0 == 0 && V1 == 0", "(!(V0 == 0)) && (V1 == 0)"),
        ("[]<>!V0 == 0 || <>V1 == 0 && true", "([](<>(!(V0 == 0)))) || ((<>(V1 == 0)) && true)"),
        ("V0 - V1 - 2 * -SE + 1 < N - (T - F)", "1 + V0 - V1 + 2 * SE < N - T + F"),
        ("[] V0<-1", "[](V0 < (0 - 1))"),
        ("2 * (V0 + 1) * 3 >= (x)", "6 * V0 + 6 >= x"),
    ],
)
def test_precedence(text: str, meant: str) -> None:
    assert specification(text) == specification(meant)


def test_an_implication_associates_to_the_left() -> None:
    formula = specification("V0 == 0 -> V1 == 0 -> SE == 0")
    assert isinstance(formula, Implies)
    assert isinstance(formula.left, Implies)
    assert isinstance(formula.right, LinearComparison)


@pytest.mark.parametrize("keyword", ["skel", "thresholdAutomaton", "threshAuto"])
def test_each_keyword_and_without_sizes(keyword: str) -> None:
    text = re.sub(r" \(\d+\) \{", " {", TEXT.replace("skel", keyword))
    assert parse_automaton(text, "t") == parse_automaton(TEXT, "t")


names = st.sampled_from(["V0", "V1", "x", "N", "T"])
linear = st.builds(
    LinearExpression.from_factors, st.dictionaries(names, st.integers(-9, 9), max_size=3), st.integers(-99, 99)
)
comparisons = st.builds(LinearComparison, linear, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), linear)
formulas: st.SearchStrategy[Formula] = st.recursive(
    comparisons | st.builds(Constant, st.booleans()),
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(Eventually, inner),
        st.builds(Globally, inner),
        st.builds(And, inner, inner),
        st.builds(Or, inner, inner),
        st.builds(Implies, inner, inner),
    ),
    max_leaves=8,
)


@given(st.lists(formulas, max_size=3), st.integers(0, 3))
def test_what_is_written_reads_back_the_same(specifications: list[Formula], growth: int) -> None:
    guard = Or(
        LinearComparison(LinearExpression.from_factors({"x": 1}), ">=", LinearExpression.from_factors({"T": 2}, -1)),
        Constant(False),
    )
    automaton = Automaton(
        name="A",
        local=("pc", "round"),
        shared=("x", "y"),
        parameters=("N", "T"),
        unknowns=("a",),
        assumptions=(
            LinearComparison(LinearExpression.from_factors({"N": 1}), ">", LinearExpression.from_factors({"T": 3})),
        ),
        locations=(Location("V0", (0, 1)), Location("V1", (2, 0))),
        initial=(
            LinearComparison(LinearExpression.from_factors({"V0": 1}), "==", LinearExpression.from_factors({"N": 1})),
        ),
        rules=(Rule(7, "V0", "V1", guard, (("x", growth),) if growth else ()),),
        specifications=tuple(Specification(f"s{at}", each) for at, each in enumerate(specifications)),
    )
    assert parse_automaton(write_automaton(automaton), "t") == automaton
    assert format_mermaid(automaton).count("-->") == 1


def test_macros_are_written_out_and_lists_may_be_split() -> None:
    text = TEXT.replace("SOME_CORRECT)", "(T + 1 - F))").replace("ALMOST_ALL)", "N - T - F)")
    text = re.sub("  define .*\n", "", text).replace("parameters N, T, F;", "parameters N; parameters T, F;")
    assert "SOME_CORRECT" not in text
    assert parse_automaton(text, "t") == parse_automaton(TEXT, "t")


def test_guards_need_no_parentheses() -> None:
    text = re.sub(r"when \((.*)\) do", r"when \1 do", TEXT)
    assert text != TEXT
    assert parse_automaton(text, "t") == parse_automaton(TEXT, "t")


BAD = {
    "an unknown name": ("x >= SOME_CORRECT", "x >= SOME_CORECT", "strb.ta:33:28: there is no SOME_CORECT"),
    "a number for a truth value": ("when (true) do { x' == x + 1; };", "when (x + 1) do { };", "a number, but a truth"),
    "a truth value for a number": ("SE == 0;", "(SE == 0) + 1 == 2;", "a truth value, but a number"),
    "a product of names": ("N > 3 * T", "N > N * T", "a product of two names is not linear"),
    "a variable that shrinks": ("x' == x + 1", "x' == x - 1", "a shared variable can only grow"),
    "a variable that is set": ("x' == x + 1", "x' == 1", "a shared variable can only grow"),
    "two updates": ("x' == x + 1;", "x' == x + 1; unchanged(x);", "x is updated twice"),
    "an unknown location": ("1: V1 -> SE", "1: V1 -> SF", "SF is not a location"),
    "the same name twice": ("shared x;", "shared x, x;", "x is declared twice"),
    "the same name for another thing": ("V0: [0]", "T: [0]", "strb.ta:18:5: T is declared twice"),
    "a section twice": ("  rules (8)", "  rules { }\n  rules (8)", "strb.ta:32:3: there are two sections rules"),
    "too many values": ("V0: [0]", "V0: [0; 1]", "a value for each local variable (1), but V0 has 2"),
    "too few values": ("V0: [0]", "V0: []", "a value for each local variable (1), but V0 has 0"),
    "a keyword as a variable": ("shared x;", "shared when;", "6:10: 'when' was not expected here: it is a keyword"),
    "a keyword as a location": ("V0: [0];", "true: [0];", "'true' was not expected here: it is a keyword"),
    "a keyword as a specification": ("relay:", "rules:", "'rules' was not expected here: it is a keyword"),
    "a keyword as an automaton": ("skel STRB", "skel skel", "4:6: 'skel' was not expected here: it is a keyword"),
    "a keyword in a formula": ("x >= SOME_CORRECT", "x >= do", "'do' was not expected here: it is a keyword"),
    "a keyword that is out of place": ("shared x;", "shared x when;", "6:12: 'when' was not expected here"),
    "a macro that is too early": ("define SOME_", "define A == ALMOST_ALL; define SOME_", "there is no ALMOST_ALL"),
    "a local variable in a formula": ("SE == 0;", "pc == 0;", "pc is a local variable, which cannot be used here"),
    "a comment that does not end": ("  specifications", "  /* specifications", "44:3: this comment does not end"),
    "two specifications of a name": ("relay:", "correctness:", "there are two specifications correctness"),
    "a location in a guard": ("x >= SOME_CORRECT)", "V0 >= 1)", "V0 is a location, which cannot be used here"),
    "a variable in an assumption": ("T >= F;", "T >= x;", "x is a shared variable, which cannot be used here"),
    "a temporal guard": ("when (x >= SOME_CORRECT)", "when (<>(x >= 1))", "<> and [] belong to specifications"),
    "an odd character": ("shared x;", "shared x?;", "'?' was not expected here"),
    "an odd word": ("shared x;", "shared x y;", "'y' was not expected here"),
    "an early end": (TEXT[-40:], "", "strb.ta:51:26: the text ends too early"),
    "a long number": ("T >= 1;", f"T >= {'9' * 5000};", "at most 15 digits"),
    "deep nesting": ("T >= 1;", f"{'!' * 9000}(T >= 1);", "nested more than 200 levels deep"),
}


@pytest.mark.parametrize(("old", "new", "says"), BAD.values(), ids=BAD)
def test_what_is_wrong_is_told_with_line_and_column(old: str, new: str, says: str) -> None:
    assert old in TEXT
    changed = TEXT.replace(old, new, 1)
    with pytest.raises(UsageError) as raised:
        parse_automaton(changed, "strb.ta")
    assert PLACE.fullmatch(str(raised.value))
    assert says in str(raised.value)


def test_a_file_that_is_no_text_or_not_there(tmp_path: Path) -> None:
    odd = tmp_path / "odd.ta"
    odd.write_bytes(b"skel A {\n  \xff")
    with pytest.raises(UsageError, match=r"odd\.ta:2:3: this is not UTF-8"):
        read_automaton(odd)
    with pytest.raises(UsageError, match="cannot read"):
        read_automaton(tmp_path / "none.ta")
