"""Growing loops: under asynchrony a correct sender is suspected for ever, with an ever longer timeout."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from fdverify.detectors.chandra_toueg import ReceiverPc, build_chandra_toueg
from fdverify.engines.growing_loop_proof import decide_loop_obligations
from fdverify.engines.live import live
from fdverify.errors import InternalError, UsageError
from fdverify.logic import And, If, Implies, Not, Or
from fdverify.models.planned_runs import GrowingLoop
from fdverify.models.system import (
    Choices,
    Flag,
    Flags,
    Integers,
    Phase,
    Property,
    State,
    System,
    Update,
    Variable,
    update,
)
from fdverify.runs.concrete_interpreter import observe_state
from fdverify.runs.run import Run, replay_run
from fdverify.smt.solver import FreshSolver, SolverAnswer
from fdverify.verdict import Result, Verdict
from tests.engines.test_broken import broken
from tests.sampling import every

ACCURACY = "eventually-strong-accuracy"


def asynchronous(delta: int | None = 1, phi: int | None = 1, **options: Any) -> System:
    return build_chandra_toueg(delta, phi, computation="asynchrony", **options)


def checked(system: System, unfair: bool = False) -> Result:
    return live(system, system.find_liveness_property(ACCURACY), unfair)


def states_of(system: System, run: Run) -> list[State]:
    trace = replay_run(system, run)
    return [trace.initial, *(traced.after for traced in trace.rounds)]


SIZES = ((0, 1, "1"), (0, 3, "5"), (1, 1, "6*phi+delta"), (2, 2, "2"), (5, 1, "3"))
CASES = list(product(("tla", "ivy"), SIZES, (None, "counter", "predicate"), (False, True)))


@pytest.mark.parametrize(("variant", "size", "buffer", "crash"), every(4, CASES))
def test_a_correct_sender_is_suspected_for_ever(
    variant: str, size: tuple[int, int, str], buffer: str | None, crash: bool
) -> None:
    delta, phi, timeout = size
    system = asynchronous(delta, phi, variant=variant, timeout=timeout, buffer=buffer, crash=crash)
    result = checked(system)
    assert result.verdict is Verdict.VIOLATED
    assert f"{ACCURACY} is violated again and again" in result.detail
    assert "there is a turn for every timeout >= 1" in result.detail
    assert "10 in a row were replayed" in result.detail
    *proofs, last = result.obligations
    assert {(o.kind, o.verdict) for o in proofs} == {("growing-loop", Verdict.PROVED)}
    assert (last.name, last.verdict) == (ACCURACY, Verdict.VIOLATED)
    assert result.run is not None
    assert result.run.loop is None, "no state comes back"
    states = states_of(system, result.run)
    turn = states[-result.statistics["turn"] - 1 :]
    begin, end = observe_state(system, turn[0]), observe_state(system, turn[-1])
    assert (begin["suspected"], begin["waiting_time"], begin["buffer"]) == (False, 0, frozenset())
    assert begin["timeout"] == states[0].timeout + 1
    assert end == {**begin, "timeout": begin["timeout"] + 1}
    assert any(state.suspected for state in turn)
    for each in system.fairness:
        assert any(each.holds(state) for state in turn[1:])
    for made in result.run.rounds:
        assert not (made["sender_active"] and made["receiver_active"])
        assert not made.get("crash", False)


@pytest.mark.parametrize("variant", ["tla", "ivy"])
def test_proved_for_every_delay_speed_and_timeout(variant: str) -> None:
    system = asynchronous(None, None, variant=variant, timeout="any", crash=True)
    obligations = list(decide_loop_obligations(system, system.find_liveness_property(ACCURACY), system.growing[0]))
    assert len(obligations) == 6 + len(system.fairness)
    assert {obligation.verdict for obligation in obligations} == {Verdict.PROVED}


def test_unfair_runs_are_broken_by_the_fair_one() -> None:
    assert checked(asynchronous(), unfair=True).detail == checked(asynchronous()).detail


@pytest.mark.parametrize("computation", ["partial-synchrony", "synchrony"])
def test_where_the_bounds_hold_no_loop_is_declared(computation: str) -> None:
    assert build_chandra_toueg(1, 1, computation=computation).growing == ()


def test_another_phase_is_another_system() -> None:
    """What was declared of the detector is not held against one that is broken: states come back there."""
    system = broken("STUBBORN", 0, 1, computation="asynchrony", timeout="1")
    result = checked(system)
    assert result.verdict is Verdict.VIOLATED
    assert result.run is not None
    assert result.run.loop is not None


def changed(system: System, **changes: Any) -> System:
    """The system with something else declared of its loop."""
    return replace(system, growing=(replace(system.growing[0], **changes),))


def planning(system: System, other: Callable[[State, dict[str, Any]], dict[str, Any]]) -> System:
    """The system with some choices of the plan made otherwise."""
    plan = system.growing[0].plan
    return changed(system, plan=lambda s: {**plan(s), **other(s, dict(plan(s)))})


def refused(system: System, said: str) -> None:
    with pytest.raises(UsageError, match=f"the growing loop of chandra-toueg is wrong: it is not true that {said}"):
        checked(system)


@pytest.mark.parametrize("variant", ["tla", "ivy"])
class TestRefused:
    """Each part of a declaration, where it is wrong."""

    def test_a_plan_with_both_active(self, variant: str) -> None:
        both = planning(asynchronous(variant=variant), lambda s, plan: {"receiver_active": True})
        refused(both, "each of its rounds is allowed")

    def test_a_plan_that_starves_the_sender(self, variant: str) -> None:
        silent = planning(asynchronous(variant=variant), lambda s, plan: {"sender_active": False})
        refused(silent, "a turn comes to an end")

    def test_a_plan_that_starves_the_receiver(self, variant: str) -> None:
        asleep = planning(asynchronous(variant=variant), lambda s, plan: {"receiver_active": False})
        refused(asleep, "a turn that goes on stays within itself")

    def test_a_plan_that_never_delivers(self, variant: str) -> None:
        lossy = planning(asynchronous(variant=variant), lambda s, plan: {"delivered": frozenset()})
        refused(lossy, "a turn that goes on stays within itself")

    def test_a_plan_that_crashes_the_sender(self, variant: str) -> None:
        crashing = planning(asynchronous(variant=variant, crash=True), lambda s, plan: {"crash": s.waiting_time > 5})
        refused(crashing, "a turn that goes on stays within itself")

    def test_a_rank_that_does_not_fall(self, variant: str) -> None:
        refused(changed(asynchronous(variant=variant), left=lambda s: 7), "a turn comes to an end")

    def test_a_rank_that_falls_for_ever(self, variant: str) -> None:
        bottomless = changed(asynchronous(variant=variant), left=lambda s: -s.waiting_time)
        refused(bottomless, "a turn comes to an end")

    def test_states_that_are_left(self, variant: str) -> None:
        short = changed(asynchronous(variant=variant), within=lambda s: s.waiting_time <= 2)
        refused(short, "a turn that goes on stays within itself|each of its rounds is allowed")

    def test_a_start_elsewhere(self, variant: str) -> None:
        early = changed(asynchronous(variant=variant), starts=lambda s: s.receiver_pc == ReceiverPc.Compute)
        refused(early, "a turn begins within itself")

    def test_a_start_that_is_not_come_back_to(self, variant: str) -> None:
        system = asynchronous(variant=variant)
        starts = system.growing[0].starts
        later = changed(system, starts=lambda s: And(starts(s), s.waiting_time == 1))
        refused(later, "a turn ends where the next one begins, with one more timeout")

    def test_an_initial_state_outside(self, variant: str) -> None:
        system = asynchronous(variant=variant)
        within = system.growing[0].within
        later = changed(system, within=lambda s: And(within(s), s.timeout > 7))
        refused(later, "the initial state is within a turn")

    def test_a_least_value_that_is_not_reached(self, variant: str) -> None:
        refused(changed(asynchronous(variant=variant), least=8), "the initial state is within a turn")

    def test_a_plan_for_the_first_turns_only(self, variant: str) -> None:
        """The ten turns that are replayed would be as they should."""
        tired = planning(
            asynchronous(variant=variant),
            lambda s, plan: {"receiver_active": And(plan["receiver_active"], s.timeout < 1000)},
        )
        refused(tired, "a turn that goes on stays within itself")

    def test_a_turn_without_a_violation(self, variant: str) -> None:
        system = asynchronous(variant=variant)
        harmless = Property(ACCURACY, lambda s: s.timeout >= 1, "the timeout is positive")
        with pytest.raises(UsageError, match=f"{ACCURACY} is false right before a turn ends"):
            live(system, harmless)

    def test_a_turn_that_is_not_fair(self, variant: str) -> None:
        """A process that the plan gives no step to, or a message that it leaves lying."""
        system = asynchronous(variant=variant)
        rest = Property("both-rest", lambda s: And(s.sender_timer >= 1, s.receiver_timer >= 1), "both are idle")
        refused(replace(system, fairness=(*system.fairness, rest)), "both-rest holds when a turn ends")

    def test_a_plan_with_a_gap(self, variant: str) -> None:
        gap = changed(asynchronous(variant=variant), plan=lambda s: {"sender_active": False})
        with pytest.raises(UsageError, match="does not say what to choose for receiver_active"):
            checked(gap)


def test_where_it_is_wrong_is_said() -> None:
    with pytest.raises(UsageError, match=r"hint: it is false in suspected \w+, waiting_time \d+, .*, buffer \[.*\], "):
        checked(changed(asynchronous(), left=lambda s: 7))


def climbing(fair: bool, resting: bool) -> System:
    """``height`` goes up by one every other round; in between it rests, if that is planned."""

    def run(s: State, c: Choices) -> Update:
        up = s.half == 1
        return update(half=If(up, 0, 1), height=If(up, s.height + 1, s.height), rests=c.rest)

    loop = GrowingLoop(
        breaks="stays",
        grows="height",
        least=1,
        starts=lambda s: s.half == 0,
        within=lambda s: Or(s.half == 0, And(s.half == 1, Implies(resting, s.rests))),
        left=lambda s: 1 - s.half,
        plan=lambda s: {"rest": And(resting, s.half == 0)},
    )
    return System(
        name="climber",
        options={},
        parameters=(),
        variables=(
            Variable("half", Integers(), initial=lambda s: 0),
            Variable("height", Integers(), initial=lambda s: 1),
            Variable("rests", Flags(), initial=lambda s: False),
        ),
        phases=(Phase("climb", run, (Flag("rest"),)),),
        properties=(),
        liveness=(Property("stays", lambda s: s.half == 0, "it stays"),),
        fairness=(Property("rests", lambda s: s.rests, "it rests"),) if fair else (),
        growing=(loop,),
    )


def test_a_turn_must_contain_all_that_is_fair() -> None:
    for fair, resting in ((False, False), (False, True), (True, True)):
        system = climbing(fair, resting)
        result = live(system, system.liveness[0])
        assert (result.verdict, result.statistics) == (Verdict.VIOLATED, {"turn": 2, "turns": 10})
    system = climbing(True, False)
    with pytest.raises(
        UsageError, match="the growing loop of climber is wrong: it is not true that rests holds when a turn ends"
    ):
        live(system, system.liveness[0])


def test_a_property_without_a_loop_is_explored() -> None:
    system = climbing(True, True)
    bounded = system.with_phase("climb", lambda s, c: update(rests=c.rest))
    other = Property("never-rests", lambda s: Not(s.rests), "it never rests")
    result = live(replace(bounded, growing=system.growing), other)
    assert result.verdict is Verdict.VIOLATED
    assert result.run is not None
    assert result.run.loop is not None


@pytest.mark.parametrize("given_up", range(9))
def test_what_the_solver_gives_up_on_is_unknown(monkeypatch: pytest.MonkeyPatch, given_up: int) -> None:
    asked = 0
    ask = FreshSolver.ask

    def gives_up(self: FreshSolver, *question: Any) -> SolverAnswer:
        nonlocal asked
        asked += 1
        return SolverAnswer("unknown", reason="it is late") if asked == given_up + 1 else ask(self, *question)

    monkeypatch.setattr(FreshSolver, "ask", gives_up)
    result = checked(asynchronous())
    assert result.verdict is Verdict.UNKNOWN
    assert result.run is None
    assert result.detail.startswith("the solver gave up on whether ")
    assert result.detail.endswith(": it is late")
    assert result.obligations[-1].verdict is Verdict.UNKNOWN


def both_active(s: State) -> dict[str, Any]:
    return {"sender_active": True, "receiver_active": True, "delivered": "all", "others_left": False}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"starts": lambda s: False}, "does not come back"),
        ({"left": lambda s: 2}, "does not end"),
        ({"plan": both_active}, "refuses"),
    ],
)
def test_the_replay_does_not_believe_the_solver(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], said: str
) -> None:
    monkeypatch.setattr(FreshSolver, "ask", lambda self, *question: SolverAnswer("unsat"))
    with pytest.raises(InternalError, match=said):
        checked(changed(asynchronous(variant="ivy"), **changes))


def test_the_replay_looks_for_the_violation_and_for_fairness(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FreshSolver, "ask", lambda self, *question: SolverAnswer("unsat"))
    system = climbing(True, False)
    with pytest.raises(InternalError, match="not fair when it is replayed: rests"):
        live(system, system.liveness[0])
    with pytest.raises(InternalError, match="does not violate stays"):
        live(system, Property("stays", lambda s: s.half < 2, "it stays"))
