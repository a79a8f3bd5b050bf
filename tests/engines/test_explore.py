"""The explorer: exact sets, caps that are proved exact, and answers that stay honest when they are not."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from fdverify.detectors.chandra_toueg import CHANDRA_TOUEG, build_chandra_toueg
from fdverify.engines.explore import explore
from fdverify.errors import UsageError
from fdverify.logic import And, If, Implies, Not
from fdverify.models.system import Choices, Integers, Property, State, System, Update, Variable, update
from fdverify.runs.concrete_interpreter import build_initial_state, enumerate_outcomes, observe_state
from fdverify.runs.run import replay_run
from fdverify.verdict import Verdict
from tests.engines.small import counter, until_stuck, up_to_limit
from tests.sampling import every


def states_by_interpreter(system: System, ignored: tuple[str, ...] = ()) -> int:
    """How many states one-at-a-time interpretation reaches, at rounds, with waiting_time capped at the timeout."""

    def key(state: State) -> tuple[object, ...]:
        seen = observe_state(system, state)
        seen["waiting_time"] = min(state.waiting_time, state.timeout)
        return tuple(value for name, value in seen.items() if name not in ignored)

    frontier = [build_initial_state(system)]
    seen = {key(frontier[0])}
    while frontier:
        ends = frontier
        for phase in system.phases:
            ends = [after for state in ends for _, after in enumerate_outcomes(system, phase, state)]
        frontier = []
        for state in ends:
            if key(state) not in seen:
                seen.add(key(state))
                frontier.append(state)
    return len(seen)


@pytest.mark.parametrize("variant", every(2, ["tla", "ivy"]))
@pytest.mark.parametrize("crash", [False, True])
@pytest.mark.parametrize("buffer", ["predicate", "counter", "bitvector"])
@pytest.mark.parametrize(("delta", "timeout"), [(0, "3"), (1, "6*phi+delta"), (2, "2")])
def test_batches_reach_what_single_steps_reach(
    variant: str, crash: bool, buffer: str, delta: int, timeout: str
) -> None:
    system = build_chandra_toueg(delta, 1, variant=variant, crash=crash, buffer=buffer, timeout=timeout)
    result = explore(system, Property("nothing", lambda s: True, ""))
    assert result.verdict is Verdict.PROVED
    assert result.statistics["states"] == states_by_interpreter(system, ignored=("hlfsc",))


def test_a_wide_buffer_is_explored_exactly() -> None:
    """Beyond 62 bits the states are packed into Python integers; nothing else may change."""
    narrow, wide = build_chandra_toueg(20, 1, timeout="4"), build_chandra_toueg(80, 1, timeout="4")
    found = [explore(s, s.find_property("strong-accuracy")) for s in (narrow, wide)]
    assert [r.verdict for r in found] == [Verdict.VIOLATED] * 2
    assert found[0].statistics == found[1].statistics


def test_a_depth_makes_the_verdict_bounded_unless_all_is_seen() -> None:
    system = build_chandra_toueg(1, 1)
    claim = system.find_property("strong-accuracy")
    assert explore(system, claim, depth=3).verdict is Verdict.BOUNDED
    assert explore(system, claim, depth=3).statistics["depth"] == 4
    assert explore(system, claim, depth=500).verdict is Verdict.PROVED


def test_the_candidate_invariant_of_appendix_b_holds_in_every_reachable_state() -> None:
    """Constraints 1 to 3 of the TLA+ module; its second one off by one must be noticed."""

    def constraints(s: State, slack: int) -> object:
        waited, old = s.waiting_time, 3 * s.phi + s.delta
        empty = Not(s.buffer.any(0, s.delta))
        return And(
            Implies(And(empty, waited < 3 * s.phi), s.sender_timer >= waited),
            Implies(
                And(waited >= 3 * s.phi, waited < old),
                s.buffer.exists(0, s.delta, lambda k: And(waited <= 3 * s.phi + k - slack, s.buffer.has(k))),
            ),
            Implies(waited >= old, s.buffer.has(s.delta)),
        )

    system = build_chandra_toueg(3, 3)
    right = Property("constraints", lambda s: constraints(s, 0), "")
    wrong = Property("constraints", lambda s: constraints(s, 2), "")
    assert explore(system, right).verdict is Verdict.PROVED
    assert explore(system, wrong).verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    ("variant", "timeout", "subrounds"),
    every(5, product(("tla", "ivy"), ("1", "4", "6*phi+delta"), (False, True))),
)
def test_completeness_is_proved_with_its_clock_and_its_guard_one_round_too_early_is_not(
    variant: str, timeout: str, subrounds: bool
) -> None:
    """The clock counts rounds for ever; it is stored as far as the property can tell."""
    system = build_chandra_toueg(1, 2, variant=variant, crash=True, timeout=timeout)
    result = explore(system, system.find_property("strong-completeness"), subrounds=subrounds)
    assert result.verdict is Verdict.PROVED
    early = Property("early", lambda s: Implies(s.hlfsc >= s.phi * s.timeout, s.suspected), "")
    refuted = explore(system, early, subrounds=subrounds)
    assert refuted.verdict is Verdict.VIOLATED
    assert refuted.run is not None
    assert not early.holds(replay_run(system, refuted.run).last)


def test_ghosts_are_not_counted_as_states() -> None:
    system = build_chandra_toueg(1, 1, crash=True)
    with_clock = explore(system, system.find_property("strong-completeness"))
    without = explore(system, system.find_property("strong-accuracy"))
    assert with_clock.statistics == without.statistics


def test_a_property_past_the_cap_is_refused_and_with_a_depth_decided() -> None:
    """In the ivy variant waiting_time grows for ever and is stored up to the timeout only."""
    system = build_chandra_toueg(0, 1, variant="ivy", timeout="2", crash=True)
    past = Property("past", lambda s: s.waiting_time <= s.timeout + 3, "")
    with pytest.raises(UsageError, match="waiting_time"):
        explore(system, past)
    assert explore(system, past, depth=5).verdict is Verdict.BOUNDED
    assert explore(system, past, depth=30).verdict is Verdict.VIOLATED


def test_a_clock_without_a_bound_in_the_property_is_refused() -> None:
    system = build_chandra_toueg(0, 1, crash=True)
    endless = Property("endless", lambda s: Implies(And(s.hlfsc >= 0, s.hlfsc % 2 == 1), s.sender_timer == 0), "")
    with pytest.raises(UsageError, match="hlfsc without a bound"):
        explore(system, endless)
    assert explore(system, endless, depth=20).verdict is Verdict.BOUNDED


def test_a_cap_that_behaviour_can_see_is_refused() -> None:
    """x is capped at 2 but its parity decides y: stored so, the run to y = 1 at x = 5 would be lost."""

    def parity(s: State, c: Choices) -> Update:
        return update(x=s.x + 1, y=If(s.x == 5, 1, s.y))

    capped = Variable("x", Integers(), initial=lambda s: 0, cap=lambda s: 2)
    base = counter(parity, lambda s: s.y == 0, capped)
    system = replace(base, variables=(*base.variables, Variable("y", Integers(), initial=lambda s: 0)))
    with pytest.raises(UsageError, match="above its cap"):
        explore(system, system.properties[0])


def test_a_cap_is_refused_although_another_phase_of_that_name_ignores_it() -> None:
    """What Z3 has said of one system is not taken for its answer about another."""

    def step(seen: int) -> System:
        capped = Variable("x", Integers(), initial=lambda s: 0, cap=lambda s: 2)
        base = counter(lambda s, c: update(x=s.x + 1, y=If(s.x == seen, 1, s.y)), lambda s: s.y <= 1, capped)
        return replace(base, variables=(*base.variables, Variable("y", Integers(), initial=lambda s: 0)))

    for _ in range(2):
        assert explore(step(1), step(1).properties[0]).verdict is Verdict.PROVED
        with pytest.raises(UsageError, match="above its cap"):
            explore(step(3), step(3).properties[0])


def test_a_phase_that_asks_for_one_truth_value_of_many_states_is_told_so() -> None:
    def asks(s: State, c: Choices) -> Update:
        return update(x=s.x + 1 if c.go else s.x)

    with pytest.raises(UsageError, match="no truth value in `return update"):
        explore(counter(asks, lambda s: s.x < 9), Property("p", lambda s: s.x < 9, ""))


def test_negative_values_are_kept_apart() -> None:
    def down(s: State, c: Choices) -> Update:
        return update(x=If(And(c.go, s.x > -20), s.x - 3, s.x))

    result = explore(counter(down, lambda s: s.x >= -21), Property("p", lambda s: s.x >= -21, ""))
    assert result.verdict is Verdict.PROVED
    assert result.statistics["states"] == 8


def test_the_shipped_model_can_be_explored_by_name_of_its_property() -> None:
    system = CHANDRA_TOUEG.instantiate({"delta": 1, "phi": 1}, {"variant": "ivy"})
    assert explore(system, system.find_property(CHANDRA_TOUEG.default_property)).verdict is Verdict.PROVED


@pytest.mark.parametrize("memory_limit", every(2, [0, 2_000, 100_000]))
@pytest.mark.parametrize(("crash", "timeout"), [(False, "6*phi+delta"), (True, "6*phi+delta"), (False, "delta+2")])
@pytest.mark.parametrize("subrounds", [False, True])
def test_a_memory_limit_changes_no_answer(memory_limit: int, crash: bool, timeout: str, subrounds: bool) -> None:
    system = build_chandra_toueg(2, 2, crash=crash, timeout=timeout)
    claim = system.find_property("strong-accuracy")
    limited = explore(system, claim, subrounds, memory_limit=memory_limit)
    unlimited = explore(system, claim, subrounds)
    assert replace(limited, obligations=()) == replace(unlimited, obligations=())


def test_a_memory_limit_does_not_hide_a_late_violation_or_a_dead_end() -> None:
    late = counter(up_to_limit, lambda s: s.x < s.limit, limit=400)
    result = explore(late, late.properties[0], memory_limit=0)
    assert result.verdict is Verdict.VIOLATED
    assert result.run is not None
    assert len(result.run.rounds) == 400
    stuck = counter(until_stuck, lambda s: s.x <= s.limit, limit=300)
    assert explore(stuck, stuck.properties[0], memory_limit=0).verdict is Verdict.VACUOUS


def test_files_beyond_a_memory_limit_have_no_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So nothing is left behind, even by a process that is killed."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    listed: list[list[Path]] = []
    system = build_chandra_toueg(2, 2)
    report = lambda progress: listed.append(list(tmp_path.iterdir()))  # noqa: E731
    explore(system, system.find_property("strong-accuracy"), report=report, memory_limit=1000)
    assert listed
    assert not any(listed)


def test_a_level_of_many_batches_is_the_same_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """The states, their order and the run that is shown do not depend on how a level is split."""
    system = build_chandra_toueg(3, 3, timeout="delta+2")
    claim = system.find_property("strong-accuracy")
    whole = explore(system, claim)
    for batch in (1, 7, 100):
        monkeypatch.setattr("fdverify.engines.explore._BATCH", batch)
        assert replace(explore(system, claim), obligations=()) == replace(whole, obligations=())


def test_up_to_limit_is_what_it_says() -> None:
    system = counter(up_to_limit, lambda s: s.x <= s.limit, limit=7)
    assert explore(system, system.properties[0]).statistics == {"states": 8, "depth": 8}
