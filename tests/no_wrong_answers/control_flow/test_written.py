"""The text of an automaton reads back the same, whatever it is built of."""

from hypothesis import given, settings
from hypothesis import strategies as st

from fdverify.errors import UsageError
from fdverify.threshold.automaton import Automaton, Location, Rule, Specification
from fdverify.threshold.automaton_names import KEYWORDS
from fdverify.threshold.flow import build_threshold_automaton, write_threshold_text
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
)
from fdverify.threshold.text.read import parse_automaton
from fdverify.threshold.text.write import write_automaton
from tests.no_wrong_answers.control_flow import cases
from tests.no_wrong_answers.control_flow.generator import draw
from tests.sampling import choose, every

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True).filter(lambda name: name not in KEYWORDS)
NUMBERS = st.integers(-9, 9) | st.integers(-(10**14), 10**14)


def formulas(names: list[str], temporal: bool) -> st.SearchStrategy[Formula]:
    factors = st.dictionaries(st.sampled_from(names), NUMBERS, max_size=3) if names else st.just({})
    linear = st.builds(LinearExpression.from_factors, factors, NUMBERS)
    compared = st.builds(LinearComparison, linear, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), linear)

    def larger(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
        prefixed = [Not, Eventually, Globally] if temporal else [Not]
        pairs = [st.builds(kind, inner, inner) for kind in (And, Or, Implies)]
        return st.one_of(*pairs, *(st.builds(kind, inner) for kind in prefixed))

    return st.recursive(compared | st.builds(Constant, st.booleans()), larger, max_leaves=6)


@st.composite
def automata(draw: st.DrawFn) -> Automaton:
    names = draw(st.lists(NAMES, min_size=8, max_size=8, unique=True))
    local, shared = tuple(names[: draw(st.integers(0, 1))]), tuple(names[1:3])
    parameters, unknowns, places = names[3:5], names[5 : 5 + draw(st.integers(0, 1))], names[6:]
    numbers = st.integers(0, 99)
    growth = st.dictionaries(st.sampled_from(shared), st.integers(1, 9)).map(lambda adds: tuple(sorted(adds.items())))
    guards = formulas([*shared, *parameters, *unknowns], temporal=False)
    everything = [*shared, *parameters, *unknowns, *places]
    rules = st.builds(Rule, numbers, st.sampled_from(places), st.sampled_from(places), guards, growth)
    specifications = st.builds(Specification, NAMES, formulas(everything, temporal=True))
    return Automaton(
        name=draw(NAMES),
        local=local,
        shared=shared,
        parameters=tuple(parameters),
        unknowns=tuple(unknowns),
        assumptions=tuple(draw(st.lists(formulas([*parameters, *unknowns], temporal=False), max_size=2))),
        locations=tuple(Location(place, tuple(draw(numbers) for _ in local)) for place in places),
        initial=tuple(draw(st.lists(formulas(everything, temporal=False), max_size=2))),
        rules=tuple(draw(st.lists(rules, max_size=3))),
        specifications=tuple(draw(st.lists(specifications, max_size=3, unique_by=lambda each: each.name))),
    )


@given(automata())
@settings(max_examples=choose(full=300, sample=20), deadline=None)
def test_what_is_written_reads_back_the_same(automaton: Automaton) -> None:
    assert parse_automaton(write_automaton(automaton), "t") == automaton


def test_what_a_control_flow_automaton_is_written_as_reads_back_the_same() -> None:
    flows = [*cases.HOLDS.values(), *cases.BROKEN.values(), *(draw(seed).flow for seed in every(40, range(200)))]
    number = 0
    for flow in flows:
        try:
            automaton = build_threshold_automaton(flow)
        except UsageError:
            continue
        if all(each.under_approximation is None for each in automaton.specifications):
            assert parse_automaton(write_threshold_text(flow), "t") == automaton
            number += 1
    assert number >= 5
