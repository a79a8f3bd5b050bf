"""Properties of N processes: which shapes have a cutoff."""

from dataclasses import replace
from typing import Any

import pytest

from fdverify.cutoff.chandra_toueg_template import CLAIMS, chandra_toueg
from fdverify.cutoff.indexed_formula import parse_formula, parse_property
from fdverify.cutoff.template import Claim, Temporal
from fdverify.errors import UsageError

TEMPLATE = chandra_toueg()


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_the_properties_of_the_detector_have_a_cutoff(claim: Claim) -> None:
    shape = parse_property(TEMPLATE, claim.formula)
    assert shape.indexes == ("p", "q")
    assert shape.cutoffs == (1, 2)
    assert shape.temporal is not None


def test_one_index_needs_one_process() -> None:
    assert parse_property(TEMPLATE, "F !correct(p) | G !suspected(p, p)").cutoffs == (1,)


def test_operators_bind_as_usual() -> None:
    assert parse_formula("G a(p) & b(q) | !c(p) -> d(q)") == parse_formula("(((G (a(p))) & b(q)) | (!c(p))) -> d(q)")
    assert parse_formula("a(p) U b(q) & c(p)") == parse_formula("(a(p) U b(q)) & c(p)")
    assert parse_formula("a(p) -> b(p) -> c(p)") == parse_formula("a(p) -> (b(p) -> c(p))")


def test_a_state_formula_is_evaluated() -> None:
    shape = parse_property(TEMPLATE, "G (correct(p) & !correct(q) -> suspected(p, q) | suspected(q, p))")
    assert shape.temporal is Temporal.ALWAYS
    assert shape.holds(lambda name, indexes: name == "correct" and indexes == ("q",))
    assert not shape.holds(lambda name, indexes: name == "correct" and indexes == ("p",))


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("G (suspected(p, q) & suspected(q, r) -> suspected(p, r))", "3 indexes, p, q, r"),
        ("G (correct(p) -> X correct(p))", "uses the operator X"),
        ("G correct(p, q)", "has 1 indexes, not 2"),
        ("G suspects(p, q)", "no predicate suspects"),
        ("G (correct(p)", "cannot be read at its end"),
        ("G correct(p) )", "cannot be read at )"),
        ("G correct(p q)", "cannot be read"),
        ("G correct", "cannot be read"),
        ("G", "cannot be read at its end"),
        ("", "cannot be read at its end"),
        ("G correct(p) % 2", "cannot be read at %"),
        ("G correct(&)", "cannot be read at correct"),
        ("G suspected((, p)", "cannot be read at suspected"),
        ("!" * 3000 + "correct(p)", "nested too deeply"),
    ],
)
def test_what_has_no_cutoff_is_refused(formula: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason.replace("(", r"\(").replace(")", r"\)")):
        parse_property(TEMPLATE, formula)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"predicates": {"suspected": "yes"}}, "the predicate suspected is yes, not a function"),
        ({"claims": "G correct(p)"}, "its claims are G correct.p., not a tuple of Claim"),
    ],
)
def test_a_template_that_says_nothing_is_refused(wrong: dict[str, Any], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        replace(TEMPLATE, **wrong)
