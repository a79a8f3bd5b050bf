"""Claims about all ages of a buffer whose Δ is symbolic, against the same formulas with every age written out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any, TypeAlias
from unittest.mock import patch

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from fdverify.engines import exact_ages
from fdverify.logic import And, If, Iff, Implies, Not, Number, Or, Truth
from fdverify.models.buffer import enumerate_subsets
from fdverify.models.system import (
    Ages,
    Choices,
    Flag,
    Integers,
    Parameter,
    Phase,
    State,
    Subset,
    System,
    Update,
    Variable,
    update,
)
from fdverify.runs.run import replay_run
from fdverify.smt.solver import FreshSolver, SolverAnswer
from fdverify.symbolic.age_claims import AgeClaim, AgeFact
from fdverify.symbolic.unrolling import Unrolling
from fdverify.symbolic.values import Bool, Int, lift_truth
from fdverify.symbolic.witness import read_run, read_state
from tests.sampling import every

Draw = Callable[[st.SearchStrategy[Any]], Any]
Formula: TypeAlias = tuple[Any, ...]
"""What is said, as plain data: (connective, part, …), (quantifier, low, high, body), (kind of atom, term, …)."""
Term: TypeAlias = tuple[str | int, int]
"""A number: ``delta``, ``x``, ``zero`` or the age of the quantifier so many levels in, and what is added to it."""

LARGEST_DELTA = 4
DELTAS = range(LARGEST_DELTA + 1)
MOST_SPELLED = 1000
"""More facts than any formula here needs: a closure that does not end fails instead of going on."""

CONNECTIVES: dict[str, tuple[Callable[..., Truth], int]] = {
    "And": (And, 2),
    "Or": (Or, 2),
    "Not": (Not, 1),
    "Implies": (Implies, 2),
    "Iff": (Iff, 2),
    "If": (If, 3),
}


def move(s: State, c: Choices) -> Update:
    return update(buffer=s.buffer.deliver(c.delivered).age().send(c.sends), x=If(c.sends, s.x + 1, s.x))


SYSTEM = System(
    name="one-buffer",
    options={},
    parameters=(Parameter("delta", 0, None),),
    variables=(
        Variable("x", Integers(), initial=lambda s: 0),
        Variable("buffer", Ages("predicate", "delta"), initial=lambda s: frozenset()),
    ),
    phases=(Phase("move", move, (Flag("sends"), Subset("delivered", of="buffer"))),),
    properties=(),
)


def one_in(part: int) -> settings:
    """Fewer examples than usual: each of them asks a solver many times."""
    assert settings.default is not None
    return settings(max_examples=settings.default.max_examples // part)


rounds_unrolled = pytest.mark.parametrize("rounds", [0, 1])


def number(term: Term, s: State, ages: tuple[Number, ...]) -> Number:
    base, offset = term
    if isinstance(base, int):
        return ages[base] + offset
    return offset if base == "zero" else s[base] + offset


def meaning(formula: Formula, s: State, ages: tuple[Number, ...] = ()) -> Truth:
    """The formula in a state, whatever kind of values the state has."""
    match formula:
        case ("has", at):
            return s.buffer.has(number(at, s, ages))
        case ("any", low, high):
            return s.buffer.any(number(low, s, ages), number(high, s, ages))
        case ("empty" | "single" as question,):
            return getattr(s.buffer, question)()
        case ("at most", left, right):
            return number(left, s, ages) <= number(right, s, ages)
        case ("equal", left, right):
            return number(left, s, ages) == number(right, s, ages)
        case ("forall" | "exists" as quantifier, low, high, body):
            ask = getattr(s.buffer, quantifier)
            return ask(number(low, s, ages), number(high, s, ages), lambda age: meaning(body, s, (*ages, age)))
        case (connective, *parts):
            return CONNECTIVES[connective][0](*(meaning(part, s, ages) for part in parts))
    raise AssertionError(formula)


quantifiers = st.sampled_from(["forall", "exists"])


def terms(ages: int) -> st.SearchStrategy[Term]:
    fixed: list[Term] = [("zero", 0), ("zero", 1), ("zero", 2), ("delta", 0), ("delta", -1), ("x", 0), ("x", 1)]
    bound: list[Term] = [(level, offset) for level in range(ages) for offset in (0, 0, 1, -1)]
    return st.sampled_from(fixed) if not bound else st.sampled_from(bound) | st.sampled_from(fixed)


@st.composite
def formulas(draw: Draw, nesting: int, ages: int = 0, size: int = 3) -> Formula:
    """A formula whose quantifiers are at most ``nesting`` deep, in the scope of those that bind ``ages``."""
    kinds = ["atom"] * (1 if size > 1 else 3)
    if nesting > 0:
        kinds += ["quantifier"] * (3 if size > 1 else 1)
    if size > 0:
        kinds += ["connective"] * 2
    match draw(st.sampled_from(kinds)):
        case "connective":
            name = draw(st.sampled_from(sorted(CONNECTIVES)))
            parts = [draw(formulas(nesting, ages, size - 1)) for _ in range(CONNECTIVES[name][1])]
            return (name, *parts)
        case "quantifier":
            low, high = draw(terms(ages)), draw(terms(ages))
            return (draw(quantifiers), low, high, draw(formulas(nesting - 1, ages + 1, size - 1)))
    match draw(st.sampled_from(["has", "has", "any", "empty", "single", "at most", "equal"])):
        case "empty" | "single" as question:
            return (question,)
        case "has":
            return ("has", draw(terms(ages)))
        case "any":
            # An any about the age of a quantifier around it is one more level of nesting.
            scope = ages if nesting > 0 else 0
            return ("any", draw(terms(scope)), draw(terms(scope)))
        case comparison:
            return (comparison, draw(terms(ages)), draw(terms(ages)))


@st.composite
def conjunctions(draw: Draw) -> Formula:
    """Several formulas at once: they contradict each other often enough."""
    parts = [draw(formulas(1)) for _ in range(draw(st.integers(1, 3)))]
    return parts[0] if len(parts) == 1 else ("And", *parts)


@st.composite
def nested(draw: Draw) -> Formula:
    """A quantifier inside of another one, and something that may contradict it."""
    inner = (draw(quantifiers), draw(terms(1)), draw(terms(1)), draw(formulas(0, 2, 1)))
    body = draw(
        st.sampled_from([inner, ("Not", inner), ("Implies", ("has", (0, 0)), inner), ("Iff", ("empty",), inner)])
    )
    claim = (draw(quantifiers), draw(terms(0)), draw(terms(0)), body)
    return claim if draw(st.booleans()) else ("And", claim, draw(formulas(1, size=1)))


def unrolled(system: System, rounds: int) -> Unrolling:
    unrolling = Unrolling(system, anywhere=True)
    spell, spelled = unrolling.book.instantiate_claim, 0

    def counted(claim: AgeClaim, key: int, age: Int) -> AgeFact:
        nonlocal spelled
        spelled += 1
        assert spelled <= MOST_SPELLED, "claims bring claims for ever"
        return spell(claim, key, age)

    unrolling.book.instantiate_claim = counted  # type: ignore[method-assign]
    for _ in range(rounds):
        unrolling.add_round()
    return unrolling


def expanded(formula: Formula, rounds: int, delta: int) -> Any:
    """Whether the formula can hold, by writing out every age."""
    unrolling = unrolled(SYSTEM.fix_parameters({"delta": delta}), rounds)
    solver = z3.Solver()
    solver.add(lift_truth(meaning(formula, unrolling.states[-1])), *unrolling.take_new_facts())
    return solver.check()


def claimed(formula: Formula, rounds: int) -> Iterator[Any]:
    """Whether the formula can hold, by claims about a symbolic Δ that is pinned to each number afterwards."""
    unrolling = unrolled(SYSTEM, rounds)
    solver = z3.Solver()
    solver.add(lift_truth(meaning(formula, unrolling.states[-1])), *unrolling.take_new_facts())
    for delta in DELTAS:
        yield solver.check(unrolling.parameters["delta"].term == delta)


def check_unsat(formula: Formula, rounds: int) -> None:
    for delta, answer in zip(DELTAS, claimed(formula, rounds), strict=True):
        if answer == z3.unsat:
            assert expanded(formula, rounds, delta) == z3.unsat, f"refuted wrongly for delta = {delta}"


def asked_exactly(formula: Formula, rounds: int, delta: int) -> tuple[Unrolling, SolverAnswer]:
    unrolling = unrolled(SYSTEM, rounds)
    solver = FreshSolver()
    question = lift_truth(meaning(formula, unrolling.states[-1]))
    solver.add([unrolling.parameters["delta"].term == delta])
    with patch.object(exact_ages, "_BOUNDS", (0, 1, 3, 7)):  # Δ is known to be at most 4
        return unrolling, exact_ages.ask_exactly(unrolling, solver, question)


def check_exact(formula: Formula, rounds: int, delta: int) -> None:
    """The answer is that of the expansion, and a state that is read back satisfies the formula."""
    unrolling, answer = asked_exactly(formula, rounds, delta)
    if expanded(formula, rounds, delta) == z3.unsat:
        assert answer.status != "sat"
        return
    assert answer.status == "sat"
    if rounds == 0:
        system, state = read_state(unrolling, answer.get_value)
        assert system.compute_fixed_parameters() == {"delta": delta}
    else:
        state = replay_run(SYSTEM, read_run(unrolling, answer.get_value)).last
    assert meaning(formula, state) is True


@rounds_unrolled
@one_in(2)
@given(data=st.data())
def test_unsat_is_right(rounds: int, data: st.DataObject) -> None:
    check_unsat(data.draw(conjunctions()), rounds)


@rounds_unrolled
@one_in(2)
@given(data=st.data(), delta=st.integers(0, LARGEST_DELTA))
def test_exact_answers(rounds: int, data: st.DataObject, delta: int) -> None:
    check_exact(data.draw(conjunctions()), rounds, delta)


@one_in(4)
@given(formula=nested())
def test_unsat_is_right_of_nested_quantifiers(formula: Formula) -> None:
    check_unsat(formula, 0)


@one_in(4)
@given(formula=nested(), delta=st.integers(0, LARGEST_DELTA))
def test_exact_answers_of_nested_quantifiers(formula: Formula, delta: int) -> None:
    check_exact(formula, 0, delta)


ANY_MESSAGE: Formula = ("any", ("zero", 1), ("delta", 0))
SINGLE: Formula = ("single",)
FULL: Formula = ("forall", ("zero", 0), ("delta", 0), ("has", (0, 0)))
TWINS: Formula = ("exists", ("zero", 0), ("delta", -1), ("And", ("has", (0, 0)), ("has", (0, 1))))


@pytest.mark.parametrize("positive", every(2, [True, False]))
@pytest.mark.parametrize("first", [ANY_MESSAGE, SINGLE])
@pytest.mark.parametrize("name", CONNECTIVES)
def test_every_connective_in_every_state(name: str, first: Formula, positive: bool) -> None:
    """Of a known buffer and a known Δ, the formula can hold exactly if it does."""
    plain: Formula = (name, *(first, FULL, TWINS)[: CONNECTIVES[name][1]])
    formula = plain if positive else ("Not", plain)
    for delta in range(3):
        small = SYSTEM.fix_parameters({"delta": delta})
        for ages in enumerate_subsets(range(delta + 1)):
            unrolling = unrolled(SYSTEM, 0)
            state = unrolling.states[0]
            question = lift_truth(meaning(formula, state))
            solver = FreshSolver()
            solver.add([unrolling.parameters["delta"].term == delta])
            solver.add(lift_truth(state.buffer.has(age) == (age in ages)) for age in range(delta + 1))
            _, concrete = read_state(unrolled(small, 0), partial(_pinned, ages))
            assert (exact_ages.ask_exactly(unrolling, solver, question).status == "sat") is meaning(formula, concrete)


def _pinned(ages: frozenset[int], term: Any) -> int | bool:
    """The value of a part of the state of a fixed Δ: an age's truth value is named after it."""
    if z3.is_int(term):
        return 0
    name = term.decl().name()
    return (0 if name == "buffer@0" else int(name.rpartition("_")[2])) in ages


def name_of(formula: Formula, s: State) -> str:
    claim = meaning(formula, s)
    assert isinstance(claim, Bool)
    return str(claim.term)


def equivalent(left: Formula, right: Formula) -> bool:
    return all(expanded(("Not", ("Iff", left, right)), 0, delta) == z3.unsat for delta in DELTAS)


@st.composite
def similar_claims(draw: Draw) -> tuple[Formula, Formula]:
    """Two claims about all pairs of ages, that differ in the numbers they mention if in anything."""
    quantifier = draw(quantifiers)
    body = draw(formulas(0, 2, 1))
    other = _exchanged(body) if draw(st.booleans()) else draw(formulas(0, 2, 1))
    low, high = draw(terms(1)), draw(terms(1))
    return for_every_age((quantifier, low, high, body)), for_every_age((quantifier, low, high, other))


def _exchanged(part: Any) -> Any:
    """The same formula about two ages with each in the place of the other."""
    if isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], int):
        return (1 - part[0], part[1])
    return tuple(_exchanged(inner) for inner in part) if isinstance(part, tuple) else part


def for_every_age(body: Formula) -> Formula:
    return ("forall", ("zero", 0), ("delta", 0), body)


@given(pair=similar_claims())
def test_different_claims_have_different_names(pair: tuple[Formula, Formula]) -> None:
    first, second = pair
    state = unrolled(SYSTEM, 0).states[0]
    if name_of(first, state) == name_of(second, state):
        assert equivalent(first, second)


OLDER: Formula = ("exists", ("zero", 0), ("delta", 0), ("And", ("at most", (0, 0), (1, 0)), ("has", (1, 0))))
YOUNGER: Formula = ("exists", ("zero", 0), ("delta", 0), ("And", ("at most", (1, 0), (0, 0)), ("has", (1, 0))))


def test_the_ages_of_nested_claims_are_told_apart() -> None:
    """At each age there is an older message, or there is a younger one: age Δ is in transit, or age 0."""
    state = unrolled(SYSTEM, 0).states[0]
    assert name_of(for_every_age(OLDER), state) != name_of(for_every_age(YOUNGER), state)


@pytest.mark.parametrize(
    ("assumed", "concluded"), list(product([for_every_age(OLDER), for_every_age(YOUNGER)], repeat=2))
)
def test_nested_claims_prove_each_other_only_if_they_are_the_same(assumed: Formula, concluded: Formula) -> None:
    formula = ("And", assumed, ("Not", concluded))
    check_unsat(formula, 0)
    assert (asked_exactly(formula, 0, 2)[1].status == "sat") is (assumed != concluded)


@rounds_unrolled
@given(data=st.data())
def test_the_same_claim_has_the_same_name(rounds: int, data: st.DataObject) -> None:
    """Whatever else was claimed before, within one unrolling and in another."""
    claim = ("forall", data.draw(terms(0)), data.draw(terms(0)), data.draw(formulas(1, 1, 2)))
    state = unrolled(SYSTEM, rounds).states[-1]
    first = name_of(claim, state)
    other = unrolled(SYSTEM, rounds).states[-1]
    meaning(data.draw(formulas(2)), other)
    assert name_of(claim, other) == name_of(claim, state) == first


def test_a_claim_about_another_state_is_another_claim() -> None:
    before, after = unrolled(SYSTEM, 1).states
    assert name_of(FULL, before) != name_of(FULL, after)


@pytest.mark.parametrize("name", ["age", "age0", "probe", "all", "x1"])
def test_a_parameter_is_not_taken_for_the_age_of_a_claim(name: str) -> None:
    """However it is called: no message of that age is in transit, or no message at all."""
    named = System(SYSTEM.name, {}, (*SYSTEM.parameters, Parameter(name, 0, None)), SYSTEM.variables, SYSTEM.phases, ())
    unrolling = unrolled(named, 0)
    s = unrolling.states[0]
    none_of_that_age = s.buffer.forall(0, s.delta, lambda age: Not(And(age == s[name], s.buffer.has(age))))
    none = s.buffer.forall(0, s.delta, lambda age: Not(And(age == age, s.buffer.has(age))))
    solver = FreshSolver()
    assert exact_ages.ask_exactly(unrolling, solver, lift_truth(And(none_of_that_age, Not(none)))).status == "sat"


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_an_old_message_is_still_there_after_rounds_without_delivery(rounds: int) -> None:
    """What needs neighbouring ages in each round before: proved of every Δ, and refuted without the premise."""
    unrolling = unrolled(SYSTEM, rounds)
    first, last = unrolling.states[0], unrolling.states[-1]
    undelivered = And(*(choices["delivered"].empty() for choices in unrolling.choices))
    some, none = first.buffer.any(0, first.delta), last.buffer.empty()
    solver = z3.Solver()
    solver.add(lift_truth(some), lift_truth(none), *unrolling.take_new_facts())
    assert solver.check(lift_truth(undelivered)) == z3.unsat
    assert solver.check() == z3.sat
