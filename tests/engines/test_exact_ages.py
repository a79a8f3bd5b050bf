"""A sat that is wrong about an age which was not spelled out is never handed on, and a right one is found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fdverify.engines import exact_ages
from fdverify.engines.bmc import bmc
from fdverify.logic import And, Implies, Not, Truth
from fdverify.models.buffer import Buffer
from fdverify.models.system import (
    Ages,
    Choices,
    Flag,
    Integers,
    Parameter,
    Phase,
    Property,
    State,
    Subset,
    System,
    Update,
    Variable,
    update,
)
from fdverify.runs.run import replay_run
from fdverify.smt.solver import FreshSolver
from fdverify.symbolic.unrolling import Unrolling
from fdverify.symbolic.values import lift_truth
from fdverify.symbolic.witness import read_state
from fdverify.verdict import Verdict


def move(s: State, c: Choices) -> Update:
    return update(buffer=s.buffer.deliver(c.delivered).age().send(c.sends), rounds=s.rounds + 1)


def system(holds: Callable[[State], Truth], delta: int | None = None) -> System:
    """Messages are sent, grow older and are delivered as they please."""
    return System(
        name="mail",
        options={},
        parameters=(Parameter("delta", 0, delta),),
        variables=(
            Variable("buffer", Ages("predicate", "delta"), initial=lambda s: frozenset()),
            Variable("rounds", Integers(), initial=lambda s: 0),
        ),
        phases=(Phase("move", move, (Flag("sends"), Subset("delivered", of="buffer"))),),
        properties=(Property("claim", holds, "whatever the test says"),),
    )


def full(buffer: Buffer) -> Truth:
    return buffer.forall(0, buffer.delta, buffer.has)


def in_every_pair(buffer: Buffer) -> Truth:
    """Of two neighbouring ages exactly one is in transit."""
    return buffer.forall(0, buffer.delta - 1, lambda age: buffer.has(age) == Not(buffer.has(age + 1)))


CONTRADICTIONS: dict[str, Callable[[State], Truth]] = {
    "empty but for one": lambda s: And(s.buffer.empty(), s.buffer.has(2)),
    "nothing up to 5 but for 3": lambda s: And(Not(s.buffer.any(0, 5)), s.buffer.has(3), s.delta > 5),
    "full but for one": lambda s: And(full(s.buffer), Not(s.buffer.has(4)), s.delta > 4),
    "only even ages, and 5": lambda s: And(in_every_pair(s.buffer), s.buffer.has(0), s.buffer.has(5)),
}


def candidate(claim: Callable[[State], Truth]) -> tuple[Unrolling, FreshSolver, Any]:
    unrolling = Unrolling(system(claim), anywhere=True)
    question = lift_truth(claim(unrolling.states[0]))
    return unrolling, FreshSolver(), question


@pytest.mark.parametrize("claim", CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_a_wrong_candidate_is_not_handed_on(claim: Callable[[State], Truth]) -> None:
    unrolling, solver, question = candidate(claim)
    solver.add(unrolling.take_new_facts())
    assert solver.ask(question).status == "sat", "spelled out at some ages only, it looks as if it could hold"
    answer = exact_ages.ask_exactly(unrolling, solver, question)
    assert answer.status == "unknown"
    assert "age above" in answer.reason


@pytest.mark.parametrize("least", [0, 1, 2, 6, 20, 40])
def test_a_right_one_is_found_with_the_ages_it_needs(least: int) -> None:
    def claim(s: State) -> Truth:
        return And(in_every_pair(s.buffer), s.delta >= least, s.buffer.has(0))

    unrolling, solver, question = candidate(claim)
    answer = exact_ages.ask_exactly(unrolling, solver, question)
    assert answer.status == "sat"
    found, state = read_state(unrolling, answer.get_value)
    assert state.delta >= least
    assert claim(state) is True
    assert state.buffer.ages() == frozenset(range(0, found.compute_fixed_parameters()["delta"] + 1, 2))


def test_what_needs_more_ages_than_are_tried_is_unknown() -> None:
    """It can hold, but nobody has looked that far: it is no proof of the contrary."""
    unrolling, solver, question = candidate(lambda s: And(full(s.buffer), s.delta >= 1000))
    assert exact_ages.ask_exactly(unrolling, solver, question).status == "unknown"


def test_unsat_at_once_where_the_ages_spelled_out_suffice() -> None:
    unrolling, solver, question = candidate(lambda s: And(full(s.buffer), Not(s.buffer.has(s.delta))))
    assert exact_ages.ask_exactly(unrolling, solver, question).status == "unsat"


def test_no_claim_no_search() -> None:
    """Without a claim about all ages the first answer is exact, however large Δ is."""
    unrolling, solver, question = candidate(lambda s: And(s.buffer.has(500), Not(s.buffer.has(400))))
    answer = exact_ages.ask_exactly(unrolling, solver, question)
    assert answer.status == "sat"
    _, state = read_state(unrolling, answer.get_value)
    assert state.buffer.has(500)
    assert not state.buffer.has(400)


def no_neighbours(s: State) -> Truth:
    return s.buffer.forall(0, s.delta - 1, lambda age: Not(And(s.buffer.has(age), s.buffer.has(age + 1))))


def never_full(s: State) -> Truth:
    return Implies(s.delta >= 3, Not(full(s.buffer)))


def none_of_middle_age(s: State) -> Truth:
    return Implies(s.delta >= 4, Not(s.buffer.any(2, s.delta - 1)))


VIOLATED = [(no_neighbours, 2), (never_full, 4), (none_of_middle_age, 3), (lambda s: s.buffer.empty(), 1)]


@pytest.mark.parametrize(("claim", "length"), VIOLATED)
def test_a_run_against_a_claim_about_all_ages_replays(claim: Callable[[State], Truth], length: int) -> None:
    """For a symbolic Δ, it is as short as with Δ fixed to what it has there, and the replay breaks the claim."""
    model = system(claim)
    result = bmc(model, model.properties[0], depth=6)
    assert result.verdict is Verdict.VIOLATED
    assert result.run is not None
    assert len(result.run.rounds) == length
    trace = replay_run(model, result.run)
    assert claim(trace.last) is False
    assert all(claim(state) is True for state in (trace.initial, *(each.after for each in trace.rounds[:-1])))
    fixed = system(claim, delta=result.run.parameters["delta"])
    again = bmc(fixed, fixed.properties[0], depth=6)
    assert again.run is not None
    assert len(again.run.rounds) == length


def test_a_claim_about_all_ages_that_holds() -> None:
    def no_older_than_the_run(s: State) -> Truth:
        return s.buffer.forall(0, s.delta, lambda age: Implies(s.buffer.has(age), age < s.rounds))

    model = system(no_older_than_the_run)
    assert bmc(model, model.properties[0], depth=4).verdict is Verdict.BOUNDED
