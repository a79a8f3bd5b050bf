"""Small systems whose liveness goals are false, or about no run at all: nothing may prove them."""

from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest

from fdverify.author_code.author_check import check_author_code
from fdverify.engines.live import live
from fdverify.errors import SourceLocation, UsageError
from fdverify.liveness.argument import Terms
from fdverify.liveness.goals import EventuallyAlways, LeadsTo
from fdverify.liveness.reductions import REDUCTIONS
from fdverify.logic import And, If, Implies, Max, Min, Not, Or, Truth
from fdverify.models.detector import Detector, Stabilisation
from fdverify.models.system import (
    Choices,
    Flag,
    Flags,
    Integers,
    Labels,
    Parameter,
    Phase,
    Property,
    State,
    System,
    Update,
    Variable,
    update,
)
from fdverify.obligations.inductive import Invariant, build_obligations
from fdverify.obligations.vacuity import check_vacuity
from fdverify.verdict import Verdict
from tests.liveness.proofs import unproved

P = Property("p", lambda s: Or(s.x == 0, s.x == 3), "it is at the start or at the end")
Q = Property("q", lambda s: s.x == 3, "it is at the end")


def argued(
    system: System, by: str, goal: Any, terms: dict[str, Callable[[State], Any]], *conjuncts: Callable[[State], Truth]
) -> Invariant:
    reduction = REDUCTIONS[by]
    prepared = reduction.prepare(system)
    invariant = tuple(Property(f"c{at}", holds, "a conjunct") for at, holds in enumerate(conjuncts))
    return Invariant(prepared, reduction.argue(Terms(prepared, terms, SourceLocation(Path(__file__))), goal), invariant)


def fork(fairness: Callable[[State], Truth]) -> System:
    """From 0 to 3, or to 1 and there for ever."""
    return System(
        name="fork",
        options={},
        parameters=(),
        variables=(Variable("x", Integers(), initial=lambda s: 0, range=lambda s: Or(s.x == 0, s.x == 1, s.x == 3)),),
        phases=(Phase("go", lambda s, c: update(x=If(s.x == 0, If(c.good, 3, 1), s.x)), (Flag("good"),)),),
        properties=(P, Q),
        liveness=(Q,),
        fairness=(Property("fair", fairness, "what is fair"),),
    )


def ranking(system: System, helpful: Callable[[State], dict[str, Truth]], rank: Any = lambda s: (0,)) -> Invariant:
    return argued(system, "fair-ranking", LeadsTo(P, Q), {"done": Q.holds, "rank": rank, "helpful": helpful})


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_premise_about_rounds_holds_of_the_first_round_too(k: int) -> None:
    """The only round that breaks it is the first one, which no two states of the invariant come before."""
    system = fork(lambda s: s.x >= 0)
    found = ranking(system, lambda s: {"fair": s.x == 0})
    deeper = Invariant(found.system, found.goal, found.authored, k)
    assert "premise-is-final" in {question.name for question in unproved(deeper)}
    assert live(system, Q).verdict is Verdict.VIOLATED


def test_a_proof_about_no_fair_run_is_vacuous() -> None:
    system = fork(lambda s: s.x == 7)
    invariant = argued(
        system,
        "fair-ranking",
        LeadsTo(Property("any", lambda s: s.x >= 0, "anything"), Q),
        {"done": Q.holds, "rank": lambda s: (0,), "helpful": lambda s: {"fair": True}},
    )
    assert unproved(invariant) == []
    found = {obligation.name: obligation for obligation in check_vacuity(invariant).obligations}
    assert found["goal-premise"].verdict is Verdict.VACUOUS
    assert "no fair run" in found["goal-premise"].detail
    assert live(system, Q).verdict is Verdict.VACUOUS
    assert live(system, Q, unfair=True).verdict is Verdict.VIOLATED


class Pc(IntEnum):
    A = 0
    B = 1
    C = 2


def test_a_fairness_condition_that_compares_objects_is_refused() -> None:
    system = System(
        name="flip",
        options={},
        parameters=(),
        variables=(Variable("pc", Labels(Pc), initial=lambda s: Pc.A),),
        phases=(Phase("go", lambda s, c: update(pc=If(s.pc == Pc.A, Pc.B, Pc.A))),),
        properties=(),
        fairness=(Property("b", lambda s: s.pc is Pc.B, "it comes to B"),),
    )
    start, end = Property("a", lambda s: s.pc != Pc.C, "not C"), Property("c", lambda s: s.pc == Pc.C, "C")
    terms: dict[str, Callable[[State], Any]] = {
        "done": end.holds,
        "rank": lambda s: (0,),
        "helpful": lambda s: {"b": s.pc == s.pc},
    }
    argument = argued(system, "fair-ranking", LeadsTo(start, end), terms)
    with pytest.raises(UsageError, match=r"test_no_false_proofs.py:\d+: "):
        check_author_code(argument.system, ())


def changing(*values: Any) -> Callable[[State], Any]:
    """A term with other values each time."""
    calls = [0]

    def value(s: State) -> Any:
        calls[0] += 1
        return values[calls[0] % len(values)](s)

    return value


def test_terms_that_say_something_else_each_time_are_refused() -> None:
    system = fork(lambda s: s.x >= 0)
    helps = changing(lambda s: {"fair": s.x == 0}, lambda s: {"fair": s.x == 1})
    with pytest.raises(UsageError, match="something-helps says something else each time"):
        build_obligations(ranking(system, helps))
    with pytest.raises(UsageError, match=r"rank has a different length|rank-is-natural says something else"):
        build_obligations(ranking(system, lambda s: {"fair": s.x == 0}, changing(lambda s: (0,), lambda s: (0, 1))))
    odd = changing(lambda s: s.x >= 0, lambda s: s.x >= -1)
    with pytest.raises(UsageError, match="c0 says something else each time"):
        build_obligations(argued(system, "fair-ranking", LeadsTo(P, Q), {}, odd))


N = Parameter("n", 1, None)


def hearing(s: State, c: Choices) -> Update:
    """Whether anything arrives is free, for ever."""
    return update(
        suspected=And(s.suspected, Not(c.heard)),
        timeout=If(And(c.heard, s.suspected), s.timeout + 1, s.timeout),
        waited=If(c.heard, 0, s.waited + 1),
    )


def suspecting(s: State, c: Choices) -> Update:
    return update(suspected=Or(s.suspected, And(s.timeout < 2, s.waited >= s.timeout)))


def detector(**parts: Any) -> Detector:
    usual: dict[str, Any] = {
        "suspects": lambda s: s.suspected,
        "correct": lambda s: True,
        "in_transit": lambda s: False,
        "receive": "receive",
        "hears": lambda c: c.heard,
        "timeout": "timeout",
        "first_timeout": "n",
        "crash_clock": "none",
    }
    return Detector(**{**usual, **parts})


def deaf(
    *phases: Phase, variables: tuple[Variable, ...] = (), parts: dict[str, Any] | None = None, starts: bool = False
) -> System:
    """A detector that may hear nothing for ever, so that it suspects for ever."""
    return System(
        name="deaf",
        options={},
        parameters=(N,),
        variables=(
            Variable("suspected", Flags(), initial=lambda s: starts),
            Variable("timeout", Integers(), initial=lambda s: s.n, range=lambda s: s.timeout >= s.n),
            Variable("waited", Integers(), initial=lambda s: 0, range=lambda s: s.waited >= 0),
            *variables,
        ),
        phases=(*phases, Phase("receive", hearing, (Flag("heard"),)), Phase("compute", suspecting)),
        properties=(ACCURACY,),
        detector=detector(**(parts or {})),
    )


ACCURACY = Property("accuracy", lambda s: Not(s.suspected), "the sender is not suspected")
GUARD_OF_2: dict[str, Callable[[State], Any]] = {"safe_timeout": lambda s: 2, "longest_quiet": lambda s: 1}


def test_a_stabilisation_that_never_gets_past_its_first_round_is_noticed() -> None:
    """There the quiet clock starts again in every round, and bounds nothing."""
    late = (
        Variable("since", Integers(), initial=lambda s: -2, range=lambda s: s.since <= 0),
        Variable("settled", Flags(), initial=lambda s: False, ghost=True),
        Variable("first", Integers(), initial=lambda s: s.n, ghost=True),
    )
    parts = {"first_timeout": "first", "stabilisation": Stabilisation("since", "settled")}
    comes = Phase("stabilise", lambda s, c: update(since=Min(s.since + 1, 0)))
    invariant = argued(
        deaf(comes, variables=late, parts=parts),
        "timeout-guard",
        EventuallyAlways(ACCURACY),
        GUARD_OF_2,
        lambda s: s.hquiet <= 1,
    )
    assert "quiet-clock-runs" in {question.name for question in unproved(invariant)}


def test_no_phase_sets_or_sees_the_quiet_clock() -> None:
    def stops_it(s: State, c: Choices) -> Update:
        return update(hquiet=0)

    def sees_it(s: State, c: Choices) -> Update:
        return update(waited=If(s.hquiet > 3, 0, s.waited))

    for run, says in ((stops_it, "phase odd sets hquiet"), (sees_it, "the state has no hquiet")):
        invariant = argued(deaf(Phase("odd", run)), "timeout-guard", EventuallyAlways(ACCURACY), GUARD_OF_2)
        with pytest.raises(UsageError, match=says):
            build_obligations(invariant)


def test_a_suspicion_that_is_there_from_the_start_has_not_waited() -> None:
    invariant = argued(
        deaf(starts=True),
        "timeout-guard",
        EventuallyAlways(ACCURACY),
        {"safe_timeout": lambda s: 6, "longest_quiet": lambda s: 5},
        lambda s: And(s.hquiet == s.waited, s.timeout <= Max(s.n, 6), Implies(s.suspected, s.timeout <= 5)),
    )
    assert "suspects-after-timeout" in {question.name for question in unproved(invariant)}


WRONG_PARTS = {
    "no such phase": ({"receive": "nope"}, "the detector's receive is 'nope', which is not a phase"),
    "a flag as timeout": (
        {"timeout": "suspected"},
        "the detector's timeout is 'suspected', which is not an integer variable",
    ),
    "a first timeout that changes": (
        {"first_timeout": "timeout"},
        "first_timeout is 'timeout', which is not a parameter",
    ),
    "a name for a function": ({"suspects": "suspected"}, "the detector's suspects is suspected, not a function"),
    "an unknown clock": ({"stabilisation": Stabilisation("since", "settled")}, "which is not"),
}


@pytest.mark.parametrize(("parts", "says"), WRONG_PARTS.values(), ids=WRONG_PARTS)
def test_what_a_detector_declares_is_there(parts: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        deaf(parts=parts)


def test_two_phases_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="deaf has two phases receive"):
        deaf(Phase("receive", hearing))
