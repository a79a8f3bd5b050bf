"""What each engine answers, and above all what none of them may call a success."""

from collections.abc import Callable

import pytest

from fdverify.detectors.chandra_toueg import ReceiverPc, build_chandra_toueg, sender_correct
from fdverify.engines.bmc import bmc
from fdverify.engines.dead_ends import check_no_dead_end
from fdverify.engines.explore import explore
from fdverify.engines.kinduction import k_induction
from fdverify.engines.simulate import simulate
from fdverify.errors import InternalError, UsageError
from fdverify.logic import And, If, Implies, Not, Truth
from fdverify.models.system import Choices, Integers, State, System, Update, Variable, update
from fdverify.runs.concrete_interpreter import run_phase
from fdverify.runs.run import Run, replay_run
from fdverify.smt.solver import BitvectorSolver, FreshSolver, OrderSolver, SolverAnswer
from fdverify.symbolic import witness
from fdverify.verdict import Progress, Result, Verdict
from tests.engines.small import counter, defined, until_stuck, up_to_limit

Engine = Callable[[System], Result]


def explored(system: System) -> Result:
    return explore(system, system.properties[0])


def searched(system: System) -> Result:
    return bmc(system, system.properties[0], depth=12)


def inducted(system: System) -> Result:
    return k_induction(system, system.properties[0], max_k=12)


ENGINES: list[Engine] = [explored, searched, inducted]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_violation_is_found_at_its_shortest(engine: Engine) -> None:
    system = counter(up_to_limit, lambda s: s.x < 3)
    result = engine(system)
    assert result.verdict is Verdict.VIOLATED
    assert result.run is not None
    assert [made["go"] for made in result.run.rounds] == [True, True, True]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_violation_in_the_initial_state_needs_no_round(engine: Engine) -> None:
    result = engine(counter(up_to_limit, lambda s: s.x > 0))
    assert result.verdict is Verdict.VIOLATED
    assert result.run is not None
    assert result.run.rounds == ()


def test_what_holds_is_proved_or_bounded() -> None:
    system = counter(up_to_limit, lambda s: s.x <= 3)
    assert explored(system).verdict is Verdict.PROVED
    assert searched(system).verdict is Verdict.BOUNDED
    assert inducted(system).verdict is Verdict.PROVED


@pytest.mark.parametrize("engine", ENGINES)
def test_a_dead_end_is_vacuous_and_says_where(engine: Engine) -> None:
    result = engine(counter(until_stuck, lambda s: s.x <= 3))
    assert result.verdict is Verdict.VACUOUS
    if engine is not searched:
        assert "dead end" in result.detail
        assert result.run is not None
        assert replay_run(counter(until_stuck, lambda s: s.x <= 3), result.run).last.x == 3


@pytest.mark.parametrize("engine", ENGINES)
def test_a_violation_before_the_dead_end_is_a_violation(engine: Engine) -> None:
    assert engine(counter(until_stuck, lambda s: s.x < 3)).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("engine", [explored, inducted])
def test_a_dead_end_beside_endless_runs_is_still_told(engine: Engine) -> None:
    def one_way_ends(s: State, c: Choices) -> Update:
        return update(assume=s.x < 2, x=If(And(c.go, s.x == 1), 2, If(c.go, 1, s.x)))

    result = engine(counter(one_way_ends, lambda s: s.x <= 2))
    assert result.verdict is Verdict.VACUOUS


def test_a_dead_end_out_of_reach_is_not_called_one() -> None:
    """The claim allows x = 7, which has no next round, but no run comes there."""

    def stuck_at_seven(s: State, c: Choices) -> Update:
        return update(assume=s.x != 7, x=If(c.go, 1 - s.x, s.x))

    result = inducted(counter(stuck_at_seven, lambda s: True))
    assert result.verdict is Verdict.UNKNOWN
    assert "no next round" in result.detail


def test_time_goes_on_where_the_solver_picks_a_delta_beyond_all_buffers() -> None:
    """The claim says nothing of messages, so any delta will do to it."""
    system = build_chandra_toueg(None, None)

    def claim(s: State) -> Truth:
        waits = Implies(s.receiver_pc == ReceiverPc.Receive, s.waiting_time < s.timeout)
        return And(*(each.holds(s) for each in system.list_ranges()), Not(s.suspected), sender_correct(s), waits)

    assert check_no_dead_end(system, claim, 3) == (Verdict.PROVED, "", None)


def test_a_wrong_range_is_not_inductive_and_shown_with_its_run() -> None:
    wrong = Variable("x", Integers(), initial=lambda s: 0, range=lambda s: s.x <= 1)
    result = inducted(counter(up_to_limit, lambda s: s.x <= 3, wrong))
    assert result.verdict is Verdict.NOT_INDUCTIVE
    assert "range(x) is false in a reachable state" in result.detail
    assert result.run is not None
    assert len(result.run.rounds) == 2


def test_a_claim_that_is_not_inductive_for_any_k_is_unknown() -> None:
    def loops_out_of_reach(s: State, c: Choices) -> Update:
        return update(x=If(s.x == 5, 6, If(s.x == 6, If(c.go, 10, 5), s.x)))

    result = inducted(counter(loops_out_of_reach, lambda s: s.x != 10))
    assert result.verdict is Verdict.UNKNOWN
    assert "not k-inductive" in result.detail


@pytest.mark.parametrize("engine", [searched, inducted])
@pytest.mark.parametrize("limit", [3, None])
def test_a_solver_that_gives_up_is_never_a_success(
    engine: Engine, limit: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for solver in (FreshSolver, BitvectorSolver, OrderSolver):
        monkeypatch.setattr(solver, "ask", lambda self, *question: SolverAnswer("unknown", reason="tired"))
    result = engine(counter(up_to_limit, lambda s: s.x <= s.limit, limit=limit))
    assert result.verdict is Verdict.UNKNOWN
    assert "tired" in result.detail


def test_a_solver_that_gives_up_on_the_last_question_is_never_a_success(monkeypatch: pytest.MonkeyPatch) -> None:
    """The witness of a bounded search, and the dead-end check of an induction, count like any other question."""
    system = counter(up_to_limit, lambda s: s.x <= s.limit, limit=None)
    asked = 0
    original = FreshSolver.ask

    def ask(self: FreshSolver, *question: object) -> SolverAnswer:
        nonlocal asked
        asked += 1
        return SolverAnswer("unknown", reason="tired") if 0 < last <= asked else original(self, *question)

    monkeypatch.setattr(FreshSolver, "ask", ask)
    for engine in (searched, inducted):
        asked, last = 0, 0
        engine(system)
        last, asked = asked, 0
        assert engine(system).verdict is Verdict.UNKNOWN


def test_a_run_that_the_replay_does_not_confirm_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    system = counter(up_to_limit, lambda s: s.x < 3)
    monkeypatch.setattr("fdverify.engines.bmc.read_run", lambda *_: Run({"limit": 3}, ({"go": True},)))
    with pytest.raises(InternalError, match="does not violate"):
        searched(system)


def test_a_state_on_which_compiler_and_interpreter_differ_is_an_internal_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original = run_phase

    def off_by_one(system: System, phase: object, state: State, made: object) -> State | None:
        after = original(system, phase, state, made)  # type: ignore[arg-type]
        return None if after is None else after.changed({"x": after.x + 1})

    monkeypatch.setattr(witness, "run_phase", off_by_one)
    with pytest.raises(InternalError, match="disagree on x"):
        searched(counter(up_to_limit, lambda s: s.x < 3))


@pytest.mark.parametrize("engine", [searched, inducted])
def test_arbitrary_parameters_come_back_as_small_as_they_can_be(engine: Engine) -> None:
    result = engine(counter(up_to_limit, lambda s: s.x < 3, limit=None))
    assert result.verdict is Verdict.VIOLATED
    assert result.run is not None
    assert result.run.parameters == {"limit": 3}


@pytest.mark.parametrize("engine", [explored, lambda s: simulate(s, s.properties[0], 5, 0)])
def test_an_arbitrary_parameter_is_refused_where_numbers_are_needed(engine: Engine) -> None:
    with pytest.raises(UsageError, match="limit must be fixed"):
        engine(counter(up_to_limit, lambda s: s.x < 3, limit=None))


@pytest.mark.parametrize("engine", [searched, inducted])
@pytest.mark.parametrize(("text", "limit"), [("limit", None), ("limit-limit", None), ("limit-3", 3), ("limit*0", None)])
def test_a_parameter_that_can_be_too_small_is_refused(engine: Engine, text: str, limit: int | None) -> None:
    with pytest.raises(UsageError, match="must be at least 1, got 0"):
        engine(defined(text, limit))


@pytest.mark.parametrize(("text", "limit"), [("limit+1", None), ("2*limit-limit+1", None), ("max(limit, 1)", None)])
def test_a_parameter_that_is_always_large_enough_is_accepted(text: str, limit: int | None) -> None:
    assert searched(defined(text, limit)).verdict is Verdict.BOUNDED


def test_progress_names_every_completed_depth() -> None:
    seen: list[Progress] = []
    system = build_chandra_toueg(1, 1)
    bmc(system, system.properties[0], depth=4, report=seen.append)
    assert [progress.depth for progress in seen] == [0, 1, 2, 3, 4]


def test_simulation_repeats_itself_and_stops_at_a_violation() -> None:
    system = build_chandra_toueg(1, 2, timeout="1")
    first, again = (simulate(system, system.properties[0], rounds=50, seed=3) for _ in range(2))
    assert first == again
    assert first.verdict is Verdict.VIOLATED
    assert first.run is not None
    assert not system.properties[0].holds(replay_run(system, first.run).last)


def test_simulation_of_one_run_says_that_it_is_one_run() -> None:
    system = build_chandra_toueg(1, 2)
    result = simulate(system, system.properties[0], rounds=20, seed=1)
    assert result.verdict is Verdict.BOUNDED
    assert "one run" in result.detail
    assert result.run is not None
    assert len(replay_run(system, result.run).rounds) == 20


def test_simulation_tells_a_dead_end() -> None:
    system = counter(until_stuck, lambda s: s.x <= 3)
    assert simulate(system, system.properties[0], rounds=20, seed=1).verdict is Verdict.VACUOUS


def test_negation_of_a_property_is_what_is_searched_for() -> None:
    """A property and its negation cannot both be bounded when some run decides it."""
    system = counter(up_to_limit, lambda s: Not(s.x == 2))
    assert searched(system).verdict is Verdict.VIOLATED
