"""No mutant of the model or of a proof gets away: each is refuted by a step that replays, or is seen to be harmless.

The explorer, which knows nothing of proofs, has a say on every verdict at Δ ≤ 3 and Φ ≤ 3.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import pytest

from fdverify.detectors.chandra_toueg import VARIANTS, build_chandra_toueg
from fdverify.engines.batch import build_truth_column
from fdverify.engines.explore import Exploration, explore_with_caps
from fdverify.logic import Truth
from fdverify.models.system import Property, State, System, is_always_true
from fdverify.obligations.counterexample import explain_failure
from fdverify.obligations.inductive import Invariant, build_obligations
from fdverify.obligations.obligation import (
    CounterexampleToInduction,
    InvariantObligation,
    NoCounterexample,
    ObligationKind,
)
from fdverify.proofs.tasks import prove_by_step
from fdverify.runs.run import Run, replay_run
from fdverify.smt.decide import decide_script
from fdverify.verdict import Verdict, ignore_progress
from tests.proofs.mutants import (
    ACCURACY,
    ANY,
    BIG,
    EVENTUALLY,
    HARMLESS,
    NOT_INDUCTIVE,
    PROOFS,
    VIOLATED,
    Change,
    Conjuncts,
    ModelMutant,
    ProofMutant,
    proof,
)
from tests.proofs.mutants_of_models import MODEL_MUTANTS, RAISED_ON_EVERY_DELIVERY, TRUSTS_BEYOND_A_TIMEOUT
from tests.proofs.mutants_of_proofs import PROOF_MUTANTS
from tests.sampling import every

LARGEST = 3
SIZES = tuple(product(range(LARGEST + 1), range(1, LARGEST + 1)))
ROUNDS_WITHOUT_CRASH = 150
ROUNDS_BEFORE_CRASH = 12


def refutation(invariant: Invariant, failure: InvariantObligation, in_full: bool) -> CounterexampleToInduction | None:
    """The step against an obligation, once it has been replayed here; none if it holds after all."""
    broken = explain_failure(invariant, failure.kind, failure.about, failure.rounds, in_full)
    if isinstance(broken, NoCounterexample):
        return None
    assert isinstance(broken, CounterexampleToInduction), broken
    trace = replay_run(invariant.system, broken.step)
    states = [trace.initial, *(traced.after for traced in trace.rounds)]
    inside = {ObligationKind.INITIATION: [], ObligationKind.CONSECUTION: states[:-1], ObligationKind.GOAL: states}[
        failure.kind
    ]
    assert (broken.step.start is None) == (failure.kind is ObligationKind.INITIATION)
    assert len(broken.step.rounds) == failure.rounds
    assert all(conjunct.holds(state) is True for state in inside for conjunct in invariant.conjuncts)
    assert claim(invariant, failure).holds(states[-1]) is False
    return broken


def refuted(invariant: Invariant, in_full: bool) -> tuple[InvariantObligation, CounterexampleToInduction] | None:
    """The first obligation that fails for arbitrary parameters and the step against it; none if all are proved."""
    for question in build_obligations(invariant):
        if decide_script(question.script).status != "unsat":
            broken = refutation(invariant, question, in_full)
            if broken is not None:
                return question, broken
    return None


def goal(invariant: Invariant) -> Property:
    assert isinstance(invariant.goal, Property), "these proofs are about states"
    return invariant.goal


def claim(invariant: Invariant, failure: InvariantObligation) -> Property:
    if failure.kind is ObligationKind.GOAL:
        return goal(invariant)
    (found,) = (conjunct for conjunct in invariant.conjuncts if conjunct.name == failure.about)
    return found


def verdict(broken: CounterexampleToInduction) -> Verdict:
    return VIOLATED if broken.breaks_goal else NOT_INDUCTIVE


def small_step(invariant: Invariant, failure: InvariantObligation) -> Run:
    """A step against the same obligation at Δ ≤ 3 and Φ ≤ 3, the largest first: there is most to see."""
    for delta, phi in reversed(SIZES):
        fixed = replace(invariant, system=invariant.system.fix_parameters({"delta": delta, "phi": phi}))
        broken = refutation(fixed, failure, in_full=False)
        if broken is not None:
            return broken.step
    raise AssertionError(f"{failure.name} fails for larger parameters only")


def explorer_confirms(system: System, broken: Property, run: Run) -> None:
    """From where the run starts, the explorer comes to a state in which the claim is false as soon as the run does."""
    assert run.parameters["delta"] <= LARGEST
    assert run.parameters["phi"] <= LARGEST
    fixed = system.fix_parameters(run.parameters)
    if run.start is not None:
        started = tuple(replace(v, initial=_constant(run.start[v.name])) for v in system.variables)
        fixed = replace(fixed, variables=started)
    exploration = explore_with_caps(fixed, broken, {}, False, len(run.rounds), ignore_progress)
    assert exploration.violation is not None
    assert exploration.violation.level == len(run.rounds)


def _constant(value: Any) -> Callable[[object], Any]:
    return lambda state: value


def small(invariant: Invariant) -> Iterator[System]:
    """The system at every Δ ≤ 3 and Φ ≤ 3: with a safe timeout and, if the proof allows for it, one that must grow."""
    for delta, phi in SIZES:
        fixed = invariant.system.fix_parameters({"delta": delta, "phi": phi})
        if not fixed.list_arbitrary():
            yield fixed
            continue
        safe = 6 * phi + delta
        for timeout in (safe,) if invariant.system.assumptions else (safe, 1):
            yield fixed.fix_parameters({"initial_timeout": timeout})


def states(system: System) -> Exploration:
    """Every reachable state; if the sender may crash, in so many rounds that it must have been suspected for long."""
    values = system.compute_fixed_parameters()
    crash = system.options["crash"] == "true"
    suspected_by = 6 * values["phi"] + values["delta"] + values["phi"] * values["initial_timeout"]
    depth = suspected_by + ROUNDS_BEFORE_CRASH if crash else ROUNDS_WITHOUT_CRASH
    exploration = explore_with_caps(system, Property("anything", is_always_true, ""), {}, False, depth, ignore_progress)
    assert exploration.complete != crash
    return exploration


@cache
def unmutated(variant: str, crash: bool, delta: int, phi: int, timeout: int) -> Exploration:
    return states(
        build_chandra_toueg(delta, phi, variant=variant, crash=crash, timeout=str(timeout), buffer="predicate")
    )


def original(system: System) -> Exploration:
    """The reachable states of the detector as it should be, at the same parameters."""
    return unmutated(system.options["variant"], system.options["crash"] == "true", **_numbers(system))


def _numbers(system: System) -> dict[str, int]:
    values = system.compute_fixed_parameters()
    return {"delta": values["delta"], "phi": values["phi"], "timeout": values["initial_timeout"]}


def holds_in_all(exploration: Exploration, invariant: Invariant) -> bool:
    """Whether the goal and every conjunct hold in every state that was reached."""
    together = exploration.get_all_states()
    state = exploration.batches.restore_state(together)
    claims = (goal(invariant), *invariant.conjuncts)
    return all(build_truth_column(wanted.holds(state), len(together[0])).all() for wanted in claims)


def rows(exploration: Exploration) -> list[set[tuple[Any, ...]]]:
    """The states first reached after each round."""
    levels = map(exploration.get_level, range(len(exploration.level_sizes)))
    return [set(zip(*(column.tolist() for column in level), strict=True)) for level in levels]


@pytest.mark.parametrize("mutant", every(19, MODEL_MUTANTS), ids=str)
def test_a_mutant_of_the_model_is_refuted_or_harmless(mutant: ModelMutant) -> None:
    invariant = mutant.invariant()
    found = refuted(invariant, in_full=True)
    if found is None:
        assert mutant.expected is HARMLESS
        for system in small(invariant):
            assert rows(states(system)) == rows(original(system))
            assert holds_in_all(original(system), invariant)
        return
    failure, broken = found
    assert mutant.expected is verdict(broken)
    if broken.breaks_goal:
        assert broken.reached is not None
        run = broken.reached.run
        assert run is not None
        assert run.start is None
        assert goal(invariant).holds(replay_run(invariant.system, run).last) is False
        explorer_confirms(invariant.system, goal(invariant), run)
    else:
        explorer_confirms(invariant.system, claim(invariant, failure), broken.step)


@pytest.mark.parametrize("mutant", every(19, PROOF_MUTANTS), ids=str)
def test_a_mutant_of_a_proof_is_refuted_or_harmless(mutant: ProofMutant) -> None:
    invariant = mutant.invariant()
    found = refuted(invariant, in_full=False)
    if found is None:
        assert mutant.expected is HARMLESS
        assert all(holds_in_all(original(system), invariant) for system in small(invariant))
        return
    failure, _ = found
    assert mutant.expected is NOT_INDUCTIVE
    explorer_confirms(invariant.system, claim(invariant, failure), small_step(invariant, failure))


@pytest.mark.parametrize("mutant", every(19, (*MODEL_MUTANTS, *PROOF_MUTANTS)), ids=str)
def test_what_is_wrong_in_a_mutant_is_not_proved_together(mutant: ModelMutant | ProofMutant) -> None:
    questions = build_obligations(mutant.invariant())
    proved = prove_by_step(questions, None)
    alone = {question.name: decide_script(question.script).status for question in questions}
    assert all(alone[name] == "unsat" for name in proved)
    assert mutant.expected is HARMLESS or len(proved) < len(questions)


def is_five(state: State) -> Truth:
    return state.waiting_time == 5


BROKEN = Property("broken", is_five, "It is neither so at first, nor does it stay so.")


@pytest.mark.parametrize(
    ("kind", "stem", "conjuncts"),
    [
        (ObligationKind.INITIATION, ACCURACY, (BROKEN,)),
        (ObligationKind.CONSECUTION, ACCURACY, (BROKEN,)),
        (ObligationKind.GOAL, ACCURACY, ()),
        (ObligationKind.PREMISE, "eventual_trust", ()),
    ],
    ids=["initiation", "consecution", "goal", "premise"],
)
def test_every_kind_of_obligation_is_refused_together(kind: ObligationKind, stem: str, conjuncts: Conjuncts) -> None:
    """Those that do not hold are among many that do, and all of them are asked of one solver."""
    original = proof(stem).build_invariant({}, {})
    authored = (*original.authored, *conjuncts) if conjuncts else ()
    questions = build_obligations(replace(original, authored=authored))
    wrong = {each.name for each in questions if each.kind is kind and decide_script(each.script).status != "unsat"}
    assert wrong
    assert not conjuncts or any(name.startswith("broken") for name in wrong)
    assert wrong.isdisjoint(prove_by_step(questions, None))


def test_the_mutants_cover_every_phase_variant_and_proof_and_few_are_harmless() -> None:
    phases = {phase.name for phase in build_chandra_toueg(None, None, crash=True).phases}
    assert {(m.phase, m.variant) for m in MODEL_MUTANTS} == set(product(phases, VARIANTS))
    assert {m.proof for m in PROOF_MUTANTS} == set(PROOFS)
    for mutants in (MODEL_MUTANTS, PROOF_MUTANTS):
        assert len({str(mutant) for mutant in mutants}) == len(mutants) >= 40
        expected = Counter(mutant.expected for mutant in mutants)
        assert expected[HARMLESS] <= len(mutants) // 4
        assert expected.total() == expected[HARMLESS] + expected[VIOLATED] + expected[NOT_INDUCTIVE]


def rejected(stem: str, variant: str, change: Change) -> Verdict:
    """The verdict on a detector that a proof must not prove."""
    unchanged = proof(stem).build_invariant({}, {"variant": variant})
    found = refuted(replace(unchanged, system=change(unchanged.system)), in_full=True)
    assert found is not None
    return verdict(found[1])


@pytest.mark.parametrize("variant", every(2, VARIANTS))
@pytest.mark.parametrize("stem", [BIG, ANY])
def test_a_detector_that_never_suspects_beyond_some_timeout_is_rejected(stem: str, variant: str) -> None:
    assert rejected(stem, variant, TRUSTS_BEYOND_A_TIMEOUT) is VIOLATED


@pytest.mark.parametrize("variant", every(2, VARIANTS))
def test_a_detector_that_raises_its_timeout_on_every_delivery_is_rejected(variant: str) -> None:
    assert rejected(EVENTUALLY, variant, RAISED_ON_EVERY_DELIVERY) is NOT_INDUCTIVE
