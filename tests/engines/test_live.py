"""Liveness: the search for lassos against a fixpoint over the interpreter's states, and on broken detectors."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fdverify.detectors.chandra_toueg import build_chandra_toueg
from fdverify.engines.live import live
from fdverify.errors import UsageError
from fdverify.logic import If, Or
from fdverify.models.system import (
    Choices,
    Flag,
    Integers,
    Phase,
    Property,
    State,
    System,
    Update,
    Variable,
    update,
)
from fdverify.runs.concrete_interpreter import build_initial_state, enumerate_outcomes, observe_state
from fdverify.runs.run import replay_run
from fdverify.verdict import Result, Verdict
from tests.engines.test_broken import broken
from tests.sampling import every

ACCURACY, COMPLETENESS = "eventually-strong-accuracy", "strong-completeness"


def key(system: System, state: State) -> tuple[Any, ...]:
    """A state without its clock, and with waiting_time no further than it matters."""
    seen = observe_state(system, state)
    seen.pop("hlfsc", None)
    if "waiting_time" in seen:
        seen["waiting_time"] = min(seen["waiting_time"], seen["timeout"])
    return tuple(seen.items())


def graph(system: System) -> dict[tuple[Any, ...], tuple[State, set[tuple[Any, ...]]]]:
    """Every reachable state and its successors, one at a time."""
    start = build_initial_state(system)
    found: dict[tuple[Any, ...], tuple[State, set[tuple[Any, ...]]]] = {}
    waiting = [start]
    while waiting:
        state = waiting.pop()
        if key(system, state) in found:
            continue
        after = [state]
        for phase in system.phases:
            after = [end for each in after for _, end in enumerate_outcomes(system, phase, each)]
        found[key(system, state)] = (state, {key(system, end) for end in after})
        waiting += after
    return found


def holds_in_the_end(system: System, claim: Property, fairness: tuple[Property, ...]) -> bool:
    """Emerson and Lei: no state is on a path on which the negation and all that is fair are met again and again."""
    states = graph(system)
    again = [{name for name, (state, _) in states.items() if not claim.holds(state)}]
    again += [{name for name, (state, _) in states.items() if each.holds(state)} for each in fairness]
    inside = set(states)
    while True:
        before = set(inside)
        for met in again:
            reaches = met & inside
            while more := {n for n in inside - reaches if states[n][1] & reaches}:
                reaches |= more
            inside = {name for name in inside if states[name][1] & reaches}
        if inside == before:
            return not inside


def checked(system: System, name: str, unfair: bool = False) -> Result:
    """What the engine says, once the loop has been looked at here."""
    claim = system.find_liveness_property(name)
    result = live(system, claim, unfair)
    if result.run is not None:
        assert result.run.loop is not None
        trace = replay_run(system, result.run)
        states = [trace.initial, *(traced.after for traced in trace.rounds)][result.run.loop :]
        assert key(system, states[0]) == key(system, states[-1])
        assert not all(claim.holds(state) for state in states[1:])
        for each in () if unfair else system.fairness:
            assert any(each.holds(state) for state in states[1:])
    return result


MODELS = ("STUBBORN", "TRUSTING", "LAZY_RECEIVER", "SLEEPY_RECEIVER", "HASTY_RECEIVER")
SIZES = ((0, 1, "1"), (0, 2, "2"), (1, 1, "1"), (1, 2, "3"))
CASES = list(product(MODELS, ("tla", "ivy"), SIZES, (ACCURACY, COMPLETENESS)))


@pytest.mark.parametrize(("model", "variant", "size", "name"), every(17, CASES))
def test_as_the_fixpoint_says(model: str, variant: str, size: tuple[int, int, str], name: str) -> None:
    delta, phi, timeout = size
    system = broken(model, delta, phi, variant=variant, crash=name == COMPLETENESS, timeout=timeout)
    for unfair in (False, True):
        expected = holds_in_the_end(system, system.find_liveness_property(name), () if unfair else system.fairness)
        assert checked(system, name, unfair).verdict is (Verdict.PROVED if expected else Verdict.VIOLATED)


STATES = 6
Table = tuple[tuple[int, int], ...]


def walks(table: Table, bad: set[int], fair: list[set[int]]) -> System:
    """A number that goes one of two ways from each of its values."""

    def looked_up(s: State, way: int) -> Any:
        value: Any = 0
        for number, ways in enumerate(table):
            value = If(s.x == number, ways[way], value)
        return value

    def run(s: State, c: Choices) -> Update:
        return update(x=If(c.go, looked_up(s, 1), looked_up(s, 0)))

    def one_of(numbers: set[int]) -> Any:
        return lambda s: Or(False, *(s.x == number for number in sorted(numbers)))

    good = set(range(STATES)) - bad
    return System(
        name="walk",
        options={},
        parameters=(),
        variables=(Variable("x", Integers(), initial=lambda s: 0),),
        phases=(Phase("go", run, (Flag("go"),)),),
        properties=(),
        liveness=(Property("good", one_of(good), "it is good"),),
        fairness=tuple(Property(f"fair-{k}", one_of(each), "it is fair") for k, each in enumerate(fair)),
    )


numbers = st.integers(0, STATES - 1)


@given(
    st.tuples(*[st.tuples(numbers, numbers)] * STATES),
    st.sets(numbers),
    st.lists(st.sets(numbers, min_size=1), max_size=3),
)
def test_any_walk(table: Table, bad: set[int], fair: list[set[int]]) -> None:
    system = walks(table, bad, fair)
    expected = Verdict.PROVED if holds_in_the_end(system, system.liveness[0], system.fairness) else Verdict.VIOLATED
    if holds_in_the_end(system, Property("never", lambda s: False, "nothing"), system.fairness):
        expected = Verdict.VACUOUS  # even what never holds does so in every fair run: there is none
    assert checked(system, "good").verdict is expected


@pytest.mark.parametrize(
    ("variant", "size"),
    every(5, product(("tla", "ivy"), ((0, 1, "1"), (1, 2, "1"), (2, 1, "3"), (2, 2, "2")))),
)
def test_the_detector_is_live(variant: str, size: tuple[int, int, str]) -> None:
    delta, phi, timeout = size
    for crash, name in ((False, ACCURACY), (True, COMPLETENESS), (True, ACCURACY)):
        system = build_chandra_toueg(delta, phi, variant=variant, crash=crash, timeout=timeout)
        assert checked(system, name).verdict is Verdict.PROVED
        assert checked(system, name, unfair=True).verdict is Verdict.PROVED, "the bounds alone make it fair"


@pytest.mark.parametrize("variant", ["tla", "ivy"])
def test_a_suspicion_that_teaches_nothing_comes_again(variant: str) -> None:
    result = checked(broken("STUBBORN", 1, 2, variant=variant, timeout="1"), ACCURACY)
    assert result.verdict is Verdict.VIOLATED
    assert result.run is not None
    assert result.statistics["loop"] == len(result.run.rounds) - (result.run.loop or 0)


@pytest.mark.parametrize("variant", ["tla", "ivy"])
def test_a_receiver_that_never_suspects_is_not_complete(variant: str) -> None:
    system = broken("TRUSTING", 1, 2, variant=variant, crash=True)
    assert checked(system, COMPLETENESS).verdict is Verdict.VIOLATED
    assert checked(system, ACCURACY).verdict is Verdict.PROVED


def test_a_loop_that_starves_the_receiver_is_not_fair() -> None:
    system = broken("LAZY_RECEIVER", 1, 2, crash=True, timeout="2")
    assert checked(system, COMPLETENESS).verdict is Verdict.PROVED
    starved = checked(system, COMPLETENESS, unfair=True)
    assert starved.verdict is Verdict.VIOLATED
    assert starved.run is not None
    assert not any(made["receiver_active"] for made in starved.run.rounds[starved.run.loop :])


def test_a_dead_end_is_vacuous() -> None:
    """A run that stops would be live, since nothing happens in it again and again."""
    walk = walks(((1, 1),) * STATES, {0}, [])

    def stops(s: State, c: Choices) -> Update:
        return update(assume=s.x < 1, x=s.x + 1)

    result = live(walk.with_phase("go", stops), walk.liveness[0])
    assert result.verdict is Verdict.VACUOUS


def test_a_claim_about_a_clock_is_refused() -> None:
    system = build_chandra_toueg(1, 1, crash=True)
    with pytest.raises(UsageError, match=r"late depends on hlfsc"):
        live(system, Property("late", lambda s: s.hlfsc < 5, "it is not late"))
