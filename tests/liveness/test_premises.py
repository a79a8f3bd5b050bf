"""Each premise of an argument rests on something in the model: take that away, and it fails, with a replayed step."""

from itertools import product
from typing import Any

import pytest

from fdverify.engines.dead_ends import check_no_dead_end
from fdverify.logic import And, Not, Truth
from fdverify.models.system import State, StepProperty
from fdverify.obligations.counterexample import explain_failure
from fdverify.obligations.inductive import Invariant, build_obligations
from fdverify.obligations.obligation import CounterexampleToInduction, InvariantObligation, ObligationKind
from fdverify.obligations.weakening import weaken_invariant
from fdverify.proofs import EventuallyAlways, Proof
from fdverify.proofs.proof_files import load_proof
from fdverify.runs.run import Run, holds_at_end, replay_run
from fdverify.smt.decide import decide_script
from fdverify.verdict import Verdict
from tests.liveness.proofs import (
    ASYNCHRONOUS,
    ROOT,
    SUSPICION,
    TRUST,
    about,
    shipped,
    unproved,
    unproved_premises,
    with_term,
    without,
)
from tests.sampling import every

TIMELY_DELIVERY = {"guard-trusts", "timeout-bounded", "delivered-in-time"}
DETECTION = {"suspects-in-time", "nothing-in-transit"}

BROKEN = {
    # Messages may be lost, or the receiver may stop: nothing bounds how long it is quiet, so nothing bounds the rest.
    (TRUST, "LOSSY"): TIMELY_DELIVERY,
    (TRUST, "LAZY_RECEIVER"): TIMELY_DELIVERY,
    (SUSPICION, "LOSSY"): {*DETECTION, "timeout-bounded", "detection-bounded"},
    (SUSPICION, "LAZY_RECEIVER"): {*DETECTION, "timeout-bounded", "detection-bounded"},
    # A suspicion is taken back and nothing is learned from it.
    (TRUST, "STUBBORN"): {"ends-by-delivery"},
    (SUSPICION, "STUBBORN"): set[str](),
    # The timeout falls: it changes otherwise, and no bound that mentions it is reached for sure.
    (TRUST, "FORGETFUL"): {"timeout-from-the-first", "timeout-changes-only-so", "timeout-never-falls"},
    (SUSPICION, "FORGETFUL"): DETECTION,
    # The receiver never suspects.
    (TRUST, "TRUSTING"): set[str](),
    (SUSPICION, "TRUSTING"): {"suspects-in-time"},
    (ASYNCHRONOUS, "TRUSTING"): {"rank-never-grows"},
    (ASYNCHRONOUS, "STUBBORN"): set[str](),
}


def broken_step(invariant: Invariant, question: InvariantObligation) -> Run:
    found = explain_failure(invariant, question.kind, question.about, question.rounds, in_full=False)
    assert isinstance(found, CounterexampleToInduction)
    return found.step


def breaks(invariant: Invariant, premise: str, step: Run) -> bool:
    (claim,) = (each for each in invariant.conclusions if each.name == premise)
    assert len(step.rounds) == (1 if isinstance(claim, StepProperty) else 0)
    return not holds_at_end(replay_run(invariant.system, step), claim)


@pytest.mark.parametrize(("stem", "model"), every(6, BROKEN))
def test_only_the_premises_that_rest_on_what_is_gone_fail(stem: str, model: str) -> None:
    invariant = about(stem, model)
    failed = unproved(invariant)
    steps = {each.name: broken_step(invariant, each) for each in failed if each.kind is ObligationKind.PREMISE}
    conjuncts = frozenset(each.about for each in failed if each.kind is not ObligationKind.PREMISE)
    if conjuncts:
        fallen = weaken_invariant(invariant, conjuncts, in_full=0).fallen
        steps.update({name: why.step for name, why in fallen.items() if isinstance(why, CounterexampleToInduction)})
    assert set(steps) == BROKEN[stem, model]
    assert all(breaks(invariant, name, step) for name, step in steps.items())


@pytest.mark.slow
@pytest.mark.parametrize("stem", [TRUST, SUSPICION])
def test_a_model_that_stops_time_has_a_dead_end_and_nothing_else_fails(stem: str) -> None:
    invariant = about(stem, "STOPPING")
    assert unproved(invariant) == []

    def inside(s: State) -> Truth:
        return And(*(conjunct.holds(s) for conjunct in invariant.conjuncts))

    verdict, _, run = check_no_dead_end(invariant.system, inside, depth=20)
    assert verdict is Verdict.VACUOUS
    assert run is not None
    assert replay_run(invariant.system, run).last.suspected


CONJUNCTS = {
    (TRUST, "suspected_after_timeout"): {"guard-trusts", "suspects-after-timeout"},
    (TRUST, "waits_in_quiet"): {"guard-trusts", "suspects-after-timeout"},
    (TRUST, "grows_until_safe"): {"timeout-bounded"},
    (TRUST, "range(timeout)"): {"timeout-from-the-first"},
    (TRUST, "delivery_overdue"): {"guard-trusts", "delivered-in-time"},
    (SUSPICION, "grows_until_safe"): {"timeout-bounded", "detection-bounded"},
    (SUSPICION, "range(hlfsc)"): {"crash-starts-clock"},
    (ASYNCHRONOUS, "only_old_messages"): {"fairness-lowers-rank"},
}


@pytest.mark.parametrize(("stem", "conjunct"), every(2, CONJUNCTS))
def test_a_premise_needs_the_conjuncts_that_it_follows_from(stem: str, conjunct: str) -> None:
    assert unproved_premises(without(shipped(stem), conjunct)) == CONJUNCTS[stem, conjunct]


def lower(value: Any, s: State) -> Any:
    return value - 1


def constant(value: Any, s: State) -> Any:
    return 0


TERMS: dict[str, tuple[str, str, Any, set[str]]] = {
    "guard of 3Φ+Δ": (TRUST, "safe_timeout", lambda value, s: 3 * s.phi + s.delta, {"guard-trusts", "timeout-bounded"}),
    "quiet one round less": (TRUST, "longest_quiet", lower, {"delivered-in-time"}),
    "detection one round less": (SUSPICION, "detection", lower, {"suspects-in-time"}),
    "detection at once": (SUSPICION, "detection", constant, {"suspects-in-time", "nothing-in-transit"}),
    "detection sooner with a longer timeout": (
        SUSPICION,
        "detection",
        lambda value, s: value + 100 * s.phi - 2 * s.phi * s.timeout,
        {"suspects-in-time", "nothing-in-transit", "detection-bounded"},
    ),
    "done when suspected": (
        ASYNCHRONOUS,
        "done",
        lambda value, s: s.suspected,
        {"done-for-good"},
    ),
    "done when nothing is in transit": (ASYNCHRONOUS, "done", lambda value, s: s.buffer.empty(), {"done-is-enough"}),
    "a rank that never falls": (ASYNCHRONOUS, "rank", lambda value, s: (0,), {"fairness-lowers-rank"}),
    "a rank that grows": (
        ASYNCHRONOUS,
        "rank",
        lambda value, s: (s.hlfsc, *value),
        {"rank-never-grows"},
    ),
    "a rank below zero": (ASYNCHRONOUS, "rank", lambda value, s: (*value[:3], value[3] - 4), {"rank-is-natural"}),
    "nothing helps in the end": (
        ASYNCHRONOUS,
        "helpful",
        lambda value, s: {"no-overdue-message": value["no-overdue-message"]},
        {"something-helps"},
    ),
    "the sender helps": (
        ASYNCHRONOUS,
        "helpful",
        lambda value, s: {"sender-steps": True},
        {"fairness-lowers-rank"},
    ),
}


@pytest.mark.parametrize("case", every(8, TERMS))
def test_a_wrong_term_makes_the_premises_fail_that_are_about_it(case: str) -> None:
    stem, name, change, fails = TERMS[case]
    invariant = with_term(stem, name, change)
    assert unproved_premises(invariant) == fails
    for question in unproved(invariant):
        assert breaks(invariant, question.name, broken_step(invariant, question))


@pytest.mark.parametrize(("stem", "variant"), every(2, product([TRUST, SUSPICION, ASYNCHRONOUS], ["tla", "ivy"])))
def test_the_shipped_proofs_hold_of_both_variants(stem: str, variant: str) -> None:
    assert unproved(shipped(stem, variant=variant)) == []


def test_premises_about_rounds_are_asked_of_every_round_of_a_longer_induction() -> None:
    invariant = shipped(TRUST)
    longer = type(invariant)(invariant.system, invariant.goal, invariant.authored, k=2)
    asked = {each.name: each for each in build_obligations(longer) if each.kind is ObligationKind.PREMISE}
    assert {each.rounds for each in asked.values()} == {0, 1}
    assert all(decide_script(each.script, core=False).status == "unsat" for each in asked.values())


def trusted(s: State) -> Truth:
    """The sender is not suspected, crashed or not."""
    return Not(s.suspected)


def test_a_goal_that_forbids_more_than_wrong_suspicions_is_noticed() -> None:
    original = load_proof(ROOT / "invariants" / f"{TRUST}.py")
    proof = Proof(
        "chandra-toueg",
        goal=EventuallyAlways(trusted),
        by="timeout-guard",
        variant="ivy",
        crash=True,
        timeout="any",
    )
    proof.terms.update(original.terms)
    proof.invariants(*original.predicates())
    assert "wrong-suspicion" in unproved_premises(proof.build_invariant({}, {}))
