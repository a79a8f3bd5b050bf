"""A round compiled to Z3 against the same round interpreted: the same choices allowed, the same states reached."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from fdverify.detectors.chandra_toueg import ReceiverPc, SenderPc, build_chandra_toueg
from fdverify.models.buffer import ENCODINGS, find_buffer_class
from fdverify.models.system import Ages, Labels, State, System, Variable
from fdverify.runs.concrete_interpreter import (
    build_initial_state,
    enumerate_outcomes,
    observe_state,
    run_phase,
)
from fdverify.smt.solver import FreshSolver
from fdverify.symbolic.unrolling import Unrolling
from fdverify.symbolic.values import Value
from fdverify.symbolic.witness import read_state
from tests.sampling import every

Draw = Callable[[st.SearchStrategy[Any]], Any]
Made = dict[str, Any]

encodings = pytest.mark.parametrize("encoding", ENCODINGS)


@dataclass(frozen=True)
class Case:
    """A system with every parameter known, one state of it, and choices that may or may not be allowed there."""

    system: System
    state: State
    made: Made


@st.composite
def cases(draw: Draw, encoding: str) -> Case:
    delta, phi = draw(st.integers(0, 4)), draw(st.integers(1, 4))
    number = st.integers(1, 9).map(str)
    timeout = draw(number | st.sampled_from(["6*phi+delta", "max(phi, delta) + 1", "(phi + delta) // 2 + 1"]))
    variant, crash = draw(st.sampled_from(["tla", "ivy"])), draw(st.booleans())
    system = build_chandra_toueg(delta, phi, variant=variant, crash=crash, timeout=timeout, buffer=encoding)
    state = _state(draw, system, saturates=variant == "tla", crash=crash)
    assert all(claim.holds(state) for claim in system.list_ranges())
    return Case(system, state, _choices(draw, delta, crash))


def _state(draw: Draw, system: System, saturates: bool, crash: bool) -> State:
    parameters = system.compute_fixed_parameters()
    delta, phi = parameters["delta"], parameters["phi"]
    timeout = parameters["initial_timeout"] + draw(st.integers(0, 3))
    crashed = crash and draw(st.booleans())
    ages = draw(st.frozensets(st.integers(0, delta)))
    values = {
        "suspected": draw(st.booleans()),
        # Near the timeout as often as anywhere: that is where the variants differ.
        "waiting_time": draw(st.sampled_from([timeout, timeout - 1]) | st.integers(0, timeout + 3 * (not saturates))),
        "timeout": timeout,
        "sender_pc": SenderPc.Crashed if crashed else SenderPc.Send,
        # Most of the time the receiver is about to receive: there the choices are many.
        "receiver_pc": draw(st.just(ReceiverPc.NoSnd) | st.sampled_from(list(ReceiverPc))),
        "buffer": find_buffer_class(system.options["buffer"]).from_ages(delta, ages),
        "sender_timer": draw(st.integers(0, 3 * phi - 1)),
        "receiver_timer": draw(st.integers(0, phi - 1)),
        "hlfsc": draw(st.integers(0, 5)) if crashed else -1,
    }
    return State({**parameters, **{v.name: values[v.name] for v in system.variables}})


def _choices(draw: Draw, delta: int, crash: bool) -> Made:
    made: Made = {
        "sender_active": draw(st.booleans()),
        "receiver_active": draw(st.booleans()),
        "delivered": draw(st.just(frozenset()) | st.frozensets(st.integers(0, delta))),
    }
    return {**made, "crash": draw(st.booleans())} if crash else made


def same(left: Any, right: Any) -> Any:
    """Equality as a Z3 term, also where one side or both are already known."""
    claim = left == right
    return claim.term if isinstance(claim, Value) else z3.BoolVal(bool(claim))


def state_is(system: System, symbolic: State, concrete: State) -> list[Any]:
    """What pins a compiled state to a concrete one: every stored part, or of a buffer of unknown Δ every age."""
    pins = []
    for variable in system.variables:
        theirs, ours = symbolic[variable.name], concrete[variable.name]
        if not isinstance(variable.sort, Ages):
            pins.append(same(theirs, ours))
        elif hasattr(theirs, "to_columns"):
            pins += [same(*pair) for pair in zip(theirs.to_columns(), ours.to_columns(), strict=True)]
        else:
            pins += [same(theirs.has(age), ours.has(age)) for age in range(concrete.delta + 1)]
    return pins


def choices_are(choices: Mapping[str, Any], made: Made, delta: int) -> list[Any]:
    pins = [same(choices[name], value) for name, value in made.items() if isinstance(value, bool)]
    delivered = choices["delivered"]
    return pins + [same(delivered.has(age), age in made["delivered"]) for age in range(delta + 1)]


def interpreted_round(case: Case) -> State | None:
    """The state at the end of the round, or ``None`` where a phase does not allow its choices."""
    state: State | None = case.state
    for phase in case.system.phases:
        if state is not None:
            state = run_phase(case.system, phase, state, case.made)
    return state


def check_round(case: Case, compiled: System) -> None:
    """``compiled`` may leave parameters open; they are pinned to those of the case."""
    unrolling = Unrolling(compiled, anywhere=True)
    following = unrolling.add_round()
    delta = case.state.delta
    pins = [same(value, case.state[name]) for name, value in unrolling.parameters.items()]
    pins += state_is(compiled, unrolling.states[0], case.state)
    pins += choices_are(unrolling.choices[0], case.made, delta)
    after = interpreted_round(case)
    expected = z3.BoolVal(False) if after is None else z3.And(state_is(compiled, following, after))
    solver = z3.Solver()
    solver.add(*pins, *unrolling.take_new_facts())
    assert solver.check() == (z3.unsat if after is None else z3.sat)
    solver.add(z3.Not(expected))
    assert solver.check() == z3.unsat, "the compiled round leads elsewhere too"


def offered(draw: Draw, case: Case) -> Case:
    """The same case, with choices that the interpreter offers as long as it can: random ones are mostly refused."""
    state, made = case.state, dict(case.made)
    for phase in case.system.phases:
        ways = list(enumerate_outcomes(case.system, phase, state))
        if not ways:
            break
        chosen, state = ways[draw(st.integers(0, len(ways) - 1))]
        made.update(chosen)
    return Case(case.system, case.state, made)


def spoiled(draw: Draw, case: Case) -> Case:
    """The same case with one choice made otherwise, so that it is just allowed, or just not."""
    name = draw(st.sampled_from([*case.made, "delivered", "delivered"]))
    if name != "delivered":
        return Case(case.system, case.state, {**case.made, name: not case.made[name]})
    age = draw(st.integers(0, case.state.delta))
    return Case(case.system, case.state, {**case.made, name: case.made[name] ^ {age}})


@st.composite
def chosen_cases(draw: Draw, encoding: str) -> Case:
    case: Case = draw(cases(encoding))
    if draw(st.integers(0, 3)) == 0:
        return case
    allowed = offered(draw, case)
    return spoiled(draw, allowed) if draw(st.booleans()) else allowed


@encodings
@given(data=st.data())
def test_one_round(encoding: str, data: st.DataObject) -> None:
    case = data.draw(chosen_cases(encoding))
    check_round(case, case.system)


@pytest.mark.slow
@given(data=st.data())
def test_one_round_with_open_parameters(data: st.DataObject) -> None:
    """Δ, Φ and the first timeout each known or not: whatever is open is a constant of Z3, pinned from outside."""
    case = data.draw(chosen_cases("predicate"))
    delta, phi = (data.draw(st.sampled_from([None, case.state[name]]), name) for name in ("delta", "phi"))
    timeout = data.draw(st.sampled_from(["any", case.system.options["timeout"]]), "timeout")
    check_round(case, reopened(case.system, delta, phi, timeout))


def reopened(system: System, delta: int | None, phi: int | None, timeout: str) -> System:
    variant, crash = system.options["variant"], system.options["crash"] == "true"
    return build_chandra_toueg(delta, phi, variant=variant, crash=crash, timeout=timeout, buffer="predicate")


@pytest.mark.parametrize(("name", "least"), [("delta", 0), ("phi", 1), ("initial_timeout", 1)])
def test_open_parameters_have_a_least_value(name: str, least: int) -> None:
    unrolling = Unrolling(build_chandra_toueg(None, None, timeout="any"))
    solver = z3.Solver()
    solver.add(*unrolling.take_new_facts())
    assert solver.check(same(unrolling.parameters[name], least)) == z3.sat
    assert solver.check(same(unrolling.parameters[name], least - 1)) == z3.unsat


Row = tuple[Any, ...]
"""A state as plain data, in the order of the system's variables."""

MOST = 2000
MOST_ENDS = 200
"""More states, and more ends of one step, than any instance here has: a wrong one fails instead of going on."""


def row_of(system: System, state: State) -> Row:
    return tuple(observe_state(system, state).values())


def round_successors(system: System, state: State) -> dict[Row, State]:
    states = [state]
    for phase in system.phases:
        states = [after for before in states for _, after in enumerate_outcomes(system, phase, before)]
    return {row_of(system, after): after for after in states}


def read_value(model: Any, variable: Variable, value: Any) -> Any:
    if isinstance(variable.sort, Ages):
        return frozenset(age for age in range(value.delta + 1) if z3.is_true(_evaluated(model, value.has(age))))
    found = _evaluated(model, value)
    if z3.is_bool(found):
        return z3.is_true(found)
    return variable.sort.names(found.as_long()).name if isinstance(variable.sort, Labels) else found.as_long()


def _evaluated(model: Any, value: Any) -> Any:
    if isinstance(value, Value):
        return model.eval(value.term, model_completion=True)
    return z3.BoolVal(value) if isinstance(value, bool) else z3.IntVal(value)


def row_is(system: System, state: State, row: Row) -> Any:
    pins = []
    for variable, seen in zip(system.variables, row, strict=True):
        value = state[variable.name]
        if isinstance(variable.sort, Ages):
            pins += [same(value.has(age), age in seen) for age in range(value.delta + 1)]
        else:
            pins.append(same(value, variable.sort.names[seen] if isinstance(variable.sort, Labels) else seen))
    return z3.And(pins)


class CompiledRound:
    """One round from anywhere, whose ends are enumerated by blocking each model that was found."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.unrolling = Unrolling(system, anywhere=True)
        self.after = self.unrolling.add_round()
        self.blocks: dict[Row, Any] = {}
        self.solver = z3.Solver()
        self.solver.add(*(_term(claim.holds(self.unrolling.states[0])) for claim in system.list_ranges()))
        self.solver.add(*self.unrolling.take_new_facts())

    def ends(self, starts: Iterable[Row], known: Iterable[Row] = ()) -> Iterator[Row]:
        """Every end of a round from one of these starts, those in ``known`` left out."""
        self.solver.push()
        self.solver.add(z3.Or([row_is(self.system, self.unrolling.states[0], row) for row in starts]))
        self.solver.add(*(self.elsewhere(row) for row in known))
        found_so_far = 0
        while self.solver.check() == z3.sat:
            found_so_far += 1
            assert found_so_far <= MOST_ENDS
            model = self.solver.model()
            found = tuple(read_value(model, v, self.after[v.name]) for v in self.system.variables)
            yield found
            self.solver.add(self.elsewhere(found))
        assert self.solver.check() == z3.unsat
        self.solver.pop()

    def elsewhere(self, row: Row) -> Any:
        if row not in self.blocks:
            self.blocks[row] = z3.Not(row_is(self.system, self.after, row))
        return self.blocks[row]


def _term(claim: Any) -> Any:
    return claim.term if isinstance(claim, Value) else z3.BoolVal(claim)


def interpreted(system: System) -> dict[Row, State]:
    """Every state that the interpreter reaches at the end of a round, and the initial one."""
    initial = build_initial_state(system)
    seen = {row_of(system, initial): initial}
    frontier = [initial]
    while frontier:
        for row, after in round_successors(system, frontier.pop()).items():
            if row not in seen:
                seen[row] = after
                frontier.append(after)
        assert len(seen) <= MOST
    return seen


@encodings
@pytest.mark.parametrize("variant", ["tla", "ivy"])
@pytest.mark.parametrize(
    ("delta", "phi", "crash"), [(0, 1, False), (0, 2, True), (1, 2, False), (2, 2, True), (3, 2, False)]
)
def test_all_ends_of_a_round(encoding: str, delta: int, phi: int, variant: str, crash: bool) -> None:
    """Along a walk, the compiled round leads to every state that the interpreter reaches, and nowhere else."""
    system = build_chandra_toueg(delta, phi, variant=variant, crash=crash, timeout="2", buffer=encoding)
    compiled = CompiledRound(system)
    state = build_initial_state(system)
    for step in range(8):
        following = round_successors(system, state)
        found = list(compiled.ends([row_of(system, state)]))
        assert len(found) == len(following)
        assert set(found) == set(following)
        # The fullest buffers have the most ways on; among those any will do, so long as it is the same one each time.
        ranked = sorted(following, key=lambda row: (-len(row[5]), repr([*row[:5], sorted(row[5]), *row[6:]])))
        state = following[ranked[step % min(len(ranked), 3)]]


@encodings
@pytest.mark.parametrize("phi", [1, 2])
@pytest.mark.parametrize("delta", every(4, [2, 0, 3, 1]))
def test_reachable_states(delta: int, phi: int, encoding: str) -> None:
    """Frontier by frontier through the compiled round alone, starting from the compiled initial state."""
    system = build_chandra_toueg(delta, phi, buffer=encoding)
    first = Unrolling(system)
    solver = z3.Solver()
    solver.add(*first.take_new_facts())
    assert solver.check() == z3.sat
    initial = tuple(read_value(solver.model(), v, first.states[0][v.name]) for v in system.variables)
    compiled = CompiledRound(system)
    seen, frontier = {initial}, [initial]
    while frontier:
        frontier = list(compiled.ends(frontier, known=seen))
        seen |= set(frontier)
        assert len(seen) <= MOST
    assert seen == set(interpreted(system))


@encodings
@given(data=st.data())
def test_a_state_read_back(encoding: str, data: st.DataObject) -> None:
    """What a model says of a state is that state, Δ open or not."""
    case = data.draw(cases(encoding))
    opened = encoding == "predicate" and data.draw(st.booleans(), "open")
    compiled = reopened(case.system, None, None, "any") if opened else case.system
    unrolling = Unrolling(compiled, anywhere=True)
    solver = FreshSolver()
    solver.add(same(value, case.state[name]) for name, value in unrolling.parameters.items())
    solver.add(state_is(compiled, unrolling.states[0], case.state))
    solver.add(unrolling.take_new_facts())
    answer = solver.ask()
    assert answer.status == "sat"
    system, state = read_state(unrolling, answer.get_value)
    assert system.compute_fixed_parameters() == case.system.compute_fixed_parameters()
    assert row_of(system, state) == row_of(case.system, case.state)
