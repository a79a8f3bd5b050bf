"""A choice of an integer in a range that depends on the state: every engine tries all of it, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fdverify.engines.bmc import bmc
from fdverify.engines.explore import explore
from fdverify.engines.kinduction import k_induction
from fdverify.engines.live import live
from fdverify.engines.simulate import simulate
from fdverify.errors import UsageError
from fdverify.logic import And, If, Max, Min
from fdverify.models.planned_runs import WorstRun
from fdverify.models.system import (
    Ages,
    Amount,
    Integers,
    Parameter,
    Phase,
    Property,
    State,
    System,
    Variable,
    update,
)
from fdverify.obligations.planned_violation import decide_worst_run_obligations, interpret_worst_run
from fdverify.verdict import Verdict

INSIDE = Property("inside", lambda s: s.x <= s.wall, "it stays before the wall")
NOT_THERE = Property("not-there", lambda s: s.x < s.wall, "it does not come to the wall")
STAYS_AWAY = Property("stays-away", lambda s: s.x > 0, "it stays away from the start from some time on")


def least(s: State) -> Any:
    return Max(-s.reach, -s.x)


def greatest(s: State) -> Any:
    return Min(s.reach, s.wall - s.x)


def prove(system: System) -> Verdict:
    return k_induction(system, INSIDE, 1).verdict


def build(
    reach: int | None,
    wall: int | None,
    low: Callable[[State], Any] = least,
    high: Callable[[State], Any] = greatest,
    least_reach: int = 0,
) -> System:
    return System(
        name="jump",
        options={},
        parameters=(
            Parameter("reach", least_reach, reach, "how far a jump goes"),
            Parameter("wall", 1, wall, "the wall"),
        ),
        variables=(Variable("x", Integers(), lambda s: 0, range=lambda s: And(s.x >= 0, s.x <= s.wall)),),
        phases=(Phase("jump", lambda s, c: update(x=s.x + c.by), (Amount("by", low, high),)),),
        properties=(INSIDE, NOT_THERE),
        liveness=(STAYS_AWAY,),
    )


@pytest.mark.parametrize(("reach", "wall"), [(1, 4), (2, 5), (3, 3), (9, 4)])
def test_every_number_of_the_range_is_tried(reach: int, wall: int) -> None:
    system = build(reach, wall)
    result = explore(system, INSIDE)
    assert (result.verdict, result.statistics["states"]) == (Verdict.PROVED, wall + 1)
    jumps = -(-wall // reach)
    for found in (explore(system, NOT_THERE), bmc(system, NOT_THERE, jumps), bmc(build(reach, None), NOT_THERE, 1)):
        assert found.verdict is Verdict.VIOLATED
    assert bmc(system, NOT_THERE, jumps - 1).verdict is Verdict.BOUNDED
    assert prove(system) is Verdict.PROVED


def test_with_arbitrary_parameters() -> None:
    system = build(None, None)
    assert prove(system) is Verdict.PROVED
    assert bmc(system, INSIDE, 4).verdict is Verdict.BOUNDED
    found = bmc(build(None, 7), NOT_THERE, 3)
    assert found.run is not None
    assert found.run.parameters["reach"] == 7
    assert found.run.rounds == ({"by": 7},)


def test_it_may_jump_back_for_ever() -> None:
    result = live(build(2, 3), STAYS_AWAY)
    assert result.verdict is Verdict.VIOLATED
    assert result.run is not None


def test_a_random_run_keeps_to_the_range() -> None:
    result = simulate(build(2, 3), INSIDE, 200, seed=1)
    assert result.verdict is Verdict.BOUNDED
    assert result.run is not None
    assert {chosen["by"] for chosen in result.run.rounds} == {-2, -1, 0, 1, 2}


def test_where_the_range_is_empty_there_is_no_way_on() -> None:
    system = build(1, 3, low=lambda s: If(s.x == 2, 1, least(s)), high=lambda s: If(s.x == 2, 0, greatest(s)))
    assert explore(system, INSIDE).verdict is Verdict.VACUOUS
    assert prove(system) is not Verdict.PROVED
    stuck = build(1, 3, low=lambda s: 1, high=lambda s: 0)
    assert bmc(stuck, INSIDE, 2).verdict is Verdict.VACUOUS


@pytest.mark.parametrize(
    "pick", ["greatest", lambda s: Min(s.reach, s.wall - s.x), lambda s: (s.x < s.wall, "greatest")]
)
def test_a_plan_chooses_a_number(pick: Any) -> None:
    plan = WorstRun(
        "not-there",
        within=lambda s: And(s.x >= 0, s.x <= s.wall),
        left=lambda s: s.wall - s.x,
        plan=lambda s: {"by": pick(s) if callable(pick) else pick},
    )
    system = build(None, None, least_reach=1)
    assert {each.verdict for each in decide_worst_run_obligations(system, NOT_THERE, plan)} == {Verdict.PROVED}
    run = interpret_worst_run(build(2, 5), NOT_THERE, plan)
    assert [chosen["by"] for chosen in run.rounds] == [2, 2, 1]
    with pytest.raises(UsageError, match="chooses 'most' for by"):
        interpret_worst_run(build(2, 5), NOT_THERE, replace(plan, plan=lambda s: {"by": "most"}))
    with pytest.raises(UsageError, match="a condition and a value"):
        interpret_worst_run(build(2, 5), NOT_THERE, replace(plan, plan=lambda s: {"by": (True, 1, 2)}))
    too_far = replace(plan, plan=lambda s: {"by": s.reach})
    with pytest.raises(UsageError, match="it is not true that each round is allowed"):
        decide_worst_run_obligations(system, NOT_THERE, too_far)


@pytest.mark.parametrize(
    "bad", [lambda s: True, lambda s: s.x > 0, lambda s: s.letters, lambda s: "much", lambda s: None]
)
def test_an_end_of_the_range_that_is_no_number_is_refused(bad: Callable[[State], Any]) -> None:
    system = System(
        name="bad",
        options={},
        parameters=(Parameter("delta", 0, 1),),
        variables=(
            Variable("x", Integers(), lambda s: 0),
            Variable("letters", Ages("bitvector", bound="delta"), lambda s: frozenset()),
        ),
        phases=(Phase("jump", lambda s, c: update(x=c.by), (Amount("by", lambda s: 0, bad),)),),
        properties=(Property("small", lambda s: s.x < 9, "it is small"),),
    )
    for decide in (explore, lambda s, c: bmc(s, c, 2), lambda s, c: simulate(s, c, 2, seed=0)):
        with pytest.raises(UsageError, match=r"the greatest value of by is .*, not a number"):
            decide(system, system.properties[0])


@pytest.mark.parametrize(
    "compute",
    [
        lambda s, c: If(c.by > 0, 2, 1) + 2**62 + 2**62,
        lambda s, c: If(s.x <= 0, 2, 1) - (-(2**63)),
        lambda s, c: Max(c.by, 1) * 2**62 * 2,
        lambda s, c: c.by * 2**40 * 2**40,
    ],
)
def test_constants_of_a_case_split_do_not_wrap_around(compute: Callable[[State, Any], Any]) -> None:
    """Where values exceed a machine word, a case split between small constants is no array of machine words."""
    system = System(
        name="large",
        options={},
        parameters=(Parameter("one", 0, 1),),
        variables=(Variable("x", Integers(), lambda s: 0),),
        phases=(Phase("jump", lambda s, c: update(x=compute(s, c)), (Amount("by", lambda s: 0, lambda s: 1),)),),
        properties=(
            Property("not-negative", lambda s: s.x >= 0, "it is not negative"),
            Property("small", lambda s: s.x < 2**63, "it is small"),
        ),
    )
    not_negative, small = system.properties
    assert explore(system, not_negative, depth=2).verdict is not Verdict.VIOLATED
    for found in (explore(system, small, depth=2), bmc(system, small, 2)):
        assert found.verdict is Verdict.VIOLATED
