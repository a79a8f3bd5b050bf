"""Reading automata: what is written reads back the same, and whatever else is refused with a line and a column."""

import random
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fdverify.errors import UsageError
from fdverify.threshold.automaton import Automaton, Location, Rule, Specification
from fdverify.threshold.diagram import mermaid
from fdverify.threshold.formula import (
    And,
    Comparison,
    Constant,
    Eventually,
    Formula,
    Globally,
    Implies,
    Linear,
    Not,
    Or,
    holds,
)
from fdverify.threshold.read import read, read_file
from fdverify.threshold.write import formula_text, written
from tests.sampling import FULL

STRB = Path(__file__).parents[2] / "examples" / "threshold" / "strb.ta"
TEXT = STRB.read_text()
PLACE = re.compile(r"[^:]+:[1-9]\d*:[1-9]\d*: .+")


def test_reliable_broadcast() -> None:
    automaton = read_file(STRB)
    assert automaton.name == "STRB"
    assert [location.name for location in automaton.locations] == ["V0", "V1", "SE", "AC"]
    assert [(rule.number, rule.source, rule.target, rule.added()) for rule in automaton.rules[:5]] == [
        (1, "V1", "SE", {"x": 1}),
        (2, "V0", "SE", {"x": 1}),
        (3, "V0", "AC", {"x": 1}),
        (4, "V1", "AC", {"x": 1}),
        (5, "SE", "AC", {}),
    ]
    assert automaton.rules[1].guard == Comparison(Linear.of({"x": 1}), ">=", Linear.of({"T": 1, "F": -1}, 1))
    assert [specification.name for specification in automaton.specifications] == [
        "unforgeability",
        "correctness",
        "relay",
    ]
    assert holds(And(automaton.assumptions[0], automaton.assumptions[1]), {"N": 4, "T": 1, "F": 1})
    assert not holds(automaton.assumptions[0], {"N": 3, "T": 1, "F": 1})


def test_an_implication_associates_to_the_left() -> None:
    automaton = read(
        TEXT.replace("unforgeability: V1 == 0 -> [](AC == 0);", "odd: V0 == 0 -> V1 == 0 -> SE == 0;"), "t"
    )
    formula = automaton.specifications[0].formula
    assert isinstance(formula, Implies)
    assert isinstance(formula.left, Implies)
    assert isinstance(formula.right, Comparison)


@pytest.mark.parametrize("keyword", ["skel", "thresholdAutomaton", "threshAuto"])
def test_each_keyword_and_without_sizes(keyword: str) -> None:
    text = re.sub(r" \(\d+\) \{", " {", TEXT.replace("skel", keyword))
    assert read(text, "t") == read(TEXT, "t")


names = st.sampled_from(["V0", "V1", "x", "N", "T"])
linear = st.builds(Linear.of, st.dictionaries(names, st.integers(-9, 9), max_size=3), st.integers(-99, 99))
comparisons = st.builds(Comparison, linear, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), linear)
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
    guard = Or(Comparison(Linear.of({"x": 1}), ">=", Linear.of({"T": 2}, -1)), Constant(False))
    automaton = Automaton(
        name="A",
        local=("pc",),
        shared=("x", "y"),
        parameters=("N", "T"),
        unknowns=("a",),
        assumptions=(Comparison(Linear.of({"N": 1}), ">", Linear.of({"T": 3})),),
        locations=(Location("V0", (0, 1)), Location("V1", ())),
        initial=(Comparison(Linear.of({"V0": 1}), "==", Linear.of({"N": 1})),),
        rules=(Rule(7, "V0", "V1", guard, (("x", growth),) if growth else ()),),
        specifications=tuple(Specification(f"s{at}", each) for at, each in enumerate(specifications)),
    )
    assert read(written(automaton), "t") == automaton
    assert mermaid(automaton).count("-->") == 1


@given(formulas)
def test_a_formula_without_parentheses_is_read_by_precedence(formula: Formula) -> None:
    text = TEXT.replace("unforgeability: V1 == 0 -> [](AC == 0);", f"s: {formula_text(formula)};")
    assert read(text, "t").specifications[0].formula == formula


BAD = {
    "an unknown name": ("x >= SOME_CORRECT", "x >= SOME_CORECT", "strb.ta:33:28: there is no SOME_CORECT"),
    "a number for a truth value": ("when (true) do { x' == x + 1; };", "when (x + 1) do { };", "a number, and a truth"),
    "a truth value for a number": ("SE == 0;", "(SE == 0) + 1 == 2;", "a truth value, and a number"),
    "a product of names": ("N > 3 * T", "N > N * T", "a product of two names is not linear"),
    "a variable that shrinks": ("x' == x + 1", "x' == x - 1", "shared variables only grow"),
    "a variable that is set": ("x' == x + 1", "x' == 1", "shared variables only grow"),
    "two updates": ("x' == x + 1;", "x' == x + 1; unchanged(x);", "x is updated twice"),
    "an unknown location": ("1: V1 -> SE", "1: V1 -> SF", "SF is no location"),
    "the same name twice": ("shared x;", "shared x, x;", "x is declared twice"),
    "two rules of a number": ("2: V0", "1: V0", "there are two rules 1"),
    "two specifications of a name": ("relay:", "correctness:", "there are two specifications correctness"),
    "a location in a guard": ("x >= SOME_CORRECT)", "V0 >= 1)", "V0 is a location, which is not spoken of here"),
    "a variable in an assumption": ("T >= F;", "T >= x;", "x is a shared variable, which is not spoken of here"),
    "a temporal guard": ("when (x >= SOME_CORRECT)", "when (<>(x >= 1))", "<> and [] belong to specifications"),
    "an odd character": ("shared x;", "shared x?;", "'?' was not expected here"),
    "an odd word": ("shared x;", "shared x y;", "'y' was not expected here"),
    "an early end": (TEXT[-40:], "", "the text ends too early"),
    "a long number": ("T >= 1;", f"T >= {'9' * 5000};", "at most 15 digits"),
    "deep nesting": ("T >= 1;", f"{'!' * 9000}(T >= 1);", "nested more than 100 deep"),
    "deep parentheses": ("T >= 1;", f"{'(' * 9000}T >= 1{')' * 9000};", ""),
}


@pytest.mark.parametrize(("old", "new", "says"), BAD.values(), ids=BAD)
def test_what_is_wrong_is_told_with_line_and_column(old: str, new: str, says: str) -> None:
    assert old in TEXT
    changed = TEXT.replace(old, new, 1)
    if not says:
        assert read(changed, "t") == read(TEXT, "t")
        return
    with pytest.raises(UsageError) as raised:
        read(changed, "strb.ta")
    assert PLACE.fullmatch(raised.value.message)
    assert says in raised.value.message


def test_a_file_that_is_no_text_or_not_there(tmp_path: Path) -> None:
    odd = tmp_path / "odd.ta"
    odd.write_bytes(b"skel A {\n  \xff")
    with pytest.raises(UsageError, match=r"odd\.ta:2:3: this is no text in UTF-8"):
        read_file(odd)
    with pytest.raises(UsageError, match="cannot read"):
        read_file(tmp_path / "none.ta")


def mutated(text: str, source: random.Random) -> str:
    """The text with some of it deleted, doubled, swapped or overwritten."""
    for _ in range(source.randint(1, 6)):
        start = source.randrange(len(text) + 1)
        end = min(len(text), start + source.randint(0, 12))
        other = source.choice(["", text[start:end] * 2, source.choice(TOKENS), chr(source.randint(1, 0x2FFF))])
        text = text[:start] + other + text[end:]
    return text


TOKENS = ["(", ")", "{", "}", "[]", "<>", "!", "->", "||", "&&", "==", "'", ";", ":", "/*", "*/", "0", "x", "N", "-"]


def test_no_input_is_met_with_a_traceback() -> None:
    """Ten thousand in a full run."""
    source = random.Random(7)
    outcomes: Counter[str] = Counter()
    for _ in range(10_000 if FULL else 500):
        outcomes[outcome(mutated(TEXT, source))] += 1
    assert set(outcomes) == {"read", "refused"}
    assert min(outcomes.values()) > 10


def outcome(text: str) -> str:
    try:
        automaton = read(text, "strb.ta")
    except UsageError as error:
        return "refused" if PLACE.fullmatch(error.message) else error.message
    return "read" if read(written(automaton), "t") == automaton else "read otherwise"
