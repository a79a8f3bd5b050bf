"""The detector that doubles its timeout: its proofs, its formulas against every run, and what is wrong with others."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import jsonschema
import networkx as nx
import pytest

from fdverify.bounds.detection_times import measure_detection_times
from fdverify.bounds.formula_fitting import fit_formula, list_moduli
from fdverify.bounds.suspicion_counts import describe_counts, find_largest_counts
from fdverify.detectors.chandra_toueg import build_chandra_toueg
from fdverify.detectors.model_catalogue import find_model
from fdverify.engines.explore import explore
from fdverify.engines.instances import list_small_instances
from fdverify.engines.live import live
from fdverify.errors import UsageError
from fdverify.invariant_search.clause_templates import build_candidates
from fdverify.invariant_search.search_methods import InferredProof, search_templates
from fdverify.invariant_search.state_samples import sample_states
from fdverify.logic import And, If, Implies, Not, Or
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.detector import Raise
from fdverify.models.model import OptionValue
from fdverify.models.system import Choices, Property, State, System, Update
from fdverify.obligations.counterexample import explain_failure
from fdverify.obligations.inductive import Invariant
from fdverify.obligations.obligation import CounterexampleToInduction, ObligationKind
from fdverify.obligations.planned_violation import decide_worst_run_obligations, interpret_worst_run
from fdverify.obligations.weakening import weaken_invariant
from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.proof_files import load_proof
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.runs.concrete_interpreter import observe_state
from fdverify.runs.run import holds_at_end, replay_run
from fdverify.schemas import find_schema
from fdverify.verdict import Verdict
from tests.cli.script import found
from tests.engines.test_live import graph
from tests.liveness.proofs import argument, unproved
from tests.oracle import heartbeats
from tests.sampling import every

FOLDER = Path(__file__).parents[2] / "examples" / "doubling"
TRUST, SUSPICION = "eventual_accuracy_doubling", "completeness_doubling"
PROOFS = ("accuracy_doubling", TRUST, SUSPICION, "detection_doubling", "suspicions_doubling")
ANYTHING = Property("anything", lambda s: True, "nothing is claimed")


def detector(delta: int | None, phi: int | None, timeout: str | int, crash: bool = False, **options: Any) -> System:
    chosen = {"crash": crash, "timeout": str(timeout), "buffer": None, **options}
    return find_model(f"{FOLDER}/_doubling.py:DOUBLING").instantiate({"delta": delta, "phi": phi}, chosen)


def safe(delta: int, phi: int) -> int:
    return phi + delta + 1


@pytest.mark.parametrize("stem", every(2, PROOFS))
def test_it_is_proved(stem: str) -> None:
    (result,) = check_proofs([FOLDER / f"{stem}.py"], ProofSettings(cache=False))
    assert result.verdict is Verdict.PROVED


def test_bounds_are_said() -> None:
    bounds = {bound.of: bound.formula for stem in (TRUST, SUSPICION) for bound in argument(at(stem)).bounds}
    assert bounds == {
        "wrong suspicions": "at most the least n with 2^n*initial_timeout >= phi + delta + 1",
        "each lasts": "at most 3*phi + delta - timeout - 1 rounds",
        "the timeout": "at most max(initial_timeout, 2*phi + 2*delta)",
        "the last one": "no bound",
        "detection": "at most delta + 3*phi + max(initial_timeout, 2*phi + 2*delta)*phi - 2 rounds after the crash",
    }


@pytest.mark.parametrize(
    ("timeout", "said"),
    [("phi+delta+1", "0"), ("phi+delta", "the least n with 2^n*(phi + delta) >= phi + delta + 1")],
)
def test_the_number_of_wrong_suspicions_with_a_timeout_that_depends_on_the_parameters(timeout: str, said: str) -> None:
    assert argument(at(TRUST, timeout=timeout)).bounds[0].formula == f"at most {said}"


@pytest.mark.parametrize(("first", "number"), [(1, 4), (2, 3), (4, 2), (8, 1), (9, 0)])
def test_the_number_of_wrong_suspicions_at_numbers(first: int, number: int) -> None:
    fixed = load_proof(FOLDER / f"{TRUST}.py").build_invariant({"delta": 4, "phi": 4}, {"timeout": str(first)})
    assert argument(fixed).bounds[0].formula == f"at most {number}"


# ── the formulas, against every run


POINTS = list(product(range(6), range(1, 5)))


@pytest.mark.parametrize(("delta", "phi"), every(5, POINTS))
def test_the_least_safe_timeout(delta: int, phi: int) -> None:
    for timeout, verdict in ((safe(delta, phi), Verdict.PROVED), (safe(delta, phi) - 1, Verdict.VIOLATED)):
        system = detector(delta, phi, timeout)
        assert explore(system, system.find_property("strong-accuracy")).verdict is verdict


def test_one_less_is_too_little_whatever_the_parameters() -> None:
    system = detector(None, None, "phi+delta")
    (worst,) = system.worst
    claim = system.find_property("strong-accuracy")
    assert {obligation.verdict for obligation in decide_worst_run_obligations(system, claim, worst)} == {Verdict.PROVED}
    for delta, phi in every(5, POINTS):
        fixed = detector(delta, phi, "phi+delta")
        assert not claim.holds(replay_run(fixed, interpret_worst_run(fixed, claim, fixed.worst[0])).last)
    enough = detector(None, None, "phi+delta+1")
    with pytest.raises(UsageError, match="it is not true that"):
        decide_worst_run_obligations(enough, claim, enough.worst[0])


INSTANCES = list(product(range(4), range(1, 4), range(1, 8)))


@cache
def rounds_of(delta: int, phi: int, timeout: int) -> Any:
    """The oracle's states and rounds, without a crash."""
    found = heartbeats.Detector(delta, phi, timeout, may_crash=False).reachable()
    return nx.DiGraph((before, after) for before, following in found.items() for after in following)


def most_begun(rounds: Any) -> int:
    """On how many rounds of a path, at most, a suspicion begins."""
    parts = nx.condensation(rounds)
    part = parts.graph["mapping"]
    for before, after in rounds.edges:
        if after.suspected and not before.suspected:
            assert part[before] != part[after], "there may be any number of them"
            parts.edges[part[before], part[after]]["begins"] = 1
    most: int = nx.dag_longest_path_length(parts, weight="begins", default_weight=0)
    return most


def most_suspicions(delta: int, phi: int, first: int) -> int:
    """What follows from suspicions_doubling.py: one if it is not safe, and one for each n > 0 with 2ⁿ·first < Φ+Δ."""
    return 0 if first >= safe(delta, phi) else max(1, Raise(times=2).count_until(first, phi + delta))


@pytest.mark.parametrize(("delta", "phi", "first"), every(7, INSTANCES))
def test_no_run_exceeds_a_bound(delta: int, phi: int, first: int) -> None:
    rounds = rounds_of(delta, phi, first)
    found, bound = most_begun(rounds), Raise(times=2).count_until(first, safe(delta, phi))
    assert found <= bound
    assert found == most_suspicions(delta, phi, first)
    assert max(s.timeout for s in rounds) <= max(first, 2 * (phi + delta))
    wrong = rounds.subgraph([s for s in rounds if s.suspected])
    longest = len(nx.dag_longest_path(wrong))
    assert longest <= max(0, 3 * phi + delta - 1 - first)
    assert find_largest_counts(detector(delta, phi, first)) == {"hbegun": found, "hlasted": longest}


def test_the_number_of_wrong_suspicions_is_attained() -> None:
    """It is logarithmic, and so are the runs."""
    for first, number in ((1, 3), (2, 2), (3, 1), (5, 1), (6, 0)):
        assert most_begun(rounds_of(3, 2, first)) == Raise(times=2).count_until(first, safe(3, 2)) == number


@pytest.mark.parametrize(("delta", "phi", "first"), every(13, INSTANCES))
def test_a_crash_is_noticed_in_time_and_no_sooner(delta: int, phi: int, first: int) -> None:
    bound = load_proof(FOLDER / "detection_doubling.py").bounded_by
    assert bound is not None
    times = measure_detection_times(detector(delta, phi, first, crash=True))
    for timeout, time in times.items():
        assert time <= bound(State({"delta": delta, "phi": phi, "timeout": timeout}))
    assert times[first] == bound(State({"delta": delta, "phi": phi, "timeout": first}))


@pytest.mark.parametrize(("delta", "phi", "first"), every(19, INSTANCES))
def test_both_properties_hold_in_the_end(delta: int, phi: int, first: int) -> None:
    system = detector(delta, phi, first, crash=True)
    assert {live(system, each).verdict for each in system.liveness} == {Verdict.PROVED}


# ── the model, against its words


def as_oracle_sees(system: System, state: State) -> heartbeats.State:
    seen: dict[str, Any] = observe_state(system, state)
    return heartbeats.State(
        seen["crashed"],
        seen["suspected"],
        seen["timeout"],
        seen["left"],
        seen["sender_idle"],
        seen["step"],
        seen["monitor_idle"],
        tuple(sorted(seen["transit"])),
    )


def forgetting(state: heartbeats.State, delta: int) -> heartbeats.State:
    """All heartbeats of age Δ or more are the same."""
    return state._replace(heartbeats=tuple(sorted({min(age, delta) for age in state.heartbeats})))


SMALL = list(product(range(4), (1, 2, 3), (1, 2, 3, 5), (False, True)))


@pytest.mark.parametrize(("delta", "phi", "timeout", "crash"), every(9, SMALL))
def test_the_model_does_what_its_words_say(delta: int, phi: int, timeout: int, crash: bool) -> None:
    found = heartbeats.Detector(delta, phi, timeout, crash).reachable()
    expected: dict[heartbeats.State, set[heartbeats.State]] = {}
    for before, following in found.items():
        after = {forgetting(each, delta) for each in following}
        assert expected.setdefault(forgetting(before, delta), after) == after, "what is forgotten does matter"
    system = detector(delta, phi, timeout, crash)
    assert explore(system, ANYTHING).statistics["states"] == len(expected)
    if len(expected) < 400 and not crash:
        ours = graph(system)
        rounds = {
            as_oracle_sees(system, s): {as_oracle_sees(system, ours[e][0]) for e in ends} for s, ends in ours.values()
        }
        assert rounds == expected


# ── models with one thing wrong


Change = Callable[[System], System]


def changed(phase: str, change: Callable[[State, Choices, dict[str, Any]], dict[str, Any]]) -> Change:
    """The same but for some of what a phase sets."""

    def apply(system: System) -> System:
        original = system.phase(phase)

        def run(s: State, c: Choices) -> Update:
            made = original.run(s, c)
            return replace(made, changes={**made.changes, **change(s, c, dict(made.changes))})

        return system.with_phase(phase, run)

    return apply


def assuming(phase: str, assume: Callable[[State, Choices], Any]) -> Change:
    def apply(system: System) -> System:
        original = system.phase(phase)
        return system.with_phase(phase, lambda s, c: replace(original.run(s, c), assume=assume(s, c)))

    return apply


def learning(**raised: int) -> Change:
    """A detector that says something else of its timeout than it does."""

    def apply(system: System) -> System:
        assert system.detector is not None
        return replace(system, detector=replace(system.detector, learns=Raise(**raised)))

    return apply


def retracts(s: State, c: Choices) -> Any:
    return And(s.suspected, Not(c.heard.empty()))


def heard(s: State, c: Choices) -> Any:
    return Not(c.heard.empty())


def to(timeout: Callable[[State, Choices], Any]) -> Change:
    """Listen sets the timeout to something else, and what is left with it."""

    def change(s: State, c: Choices, made: dict[str, Any]) -> dict[str, Any]:
        return {"timeout": timeout(s, c), "left": If(heard(s, c), timeout(s, c), made["left"])}

    return changed("listen", change)


TIMELY = {"guard-trusts", "timeout-bounded", "delivered-in-time"}
UNBOUNDED, LATE = {"timeout-bounded", "detection-bounded"}, {"suspects-in-time", "nothing-in-transit"}
MODELS: dict[str, Change] = {
    "not doubled": to(lambda s, c: s.timeout),
    "halved": to(lambda s, c: If(retracts(s, c), If(s.timeout >= 2, s.timeout // 2, 1), s.timeout)),
    "one more": to(lambda s, c: If(retracts(s, c), s.timeout + 1, s.timeout)),
    "doubled by each heartbeat": to(lambda s, c: If(heard(s, c), 2 * s.timeout, s.timeout)),
    "doubled when it suspects": changed(
        "judge", lambda s, c, made: {"timeout": If(And(made["suspected"], Not(s.suspected)), 2 * s.timeout, s.timeout)}
    ),
    "heard later": assuming("listen", lambda s, c: True),
    "sent later": assuming("sender_turn", lambda s, c: Implies(Not(c.sender_active), s.sender_idle < s.phi)),
    "judged later": assuming("monitor_turn", lambda s, c: Or(c.monitor_active, s.monitor_idle < s.phi)),
    "said to be tripled": learning(times=3),
    "said to be one more": learning(plus=1),
    "said to be doubled and one more": learning(times=2, plus=1),
    "from nothing": lambda system: replace(
        system, parameters=tuple(replace(p, least=0) if p.name == "initial_timeout" else p for p in system.parameters)
    ),
}
FALLEN: dict[tuple[str, str], set[str]] = {
    (TRUST, "not doubled"): {"ends-by-delivery"},
    (TRUST, "halved"): {"ends-by-delivery", "timeout-from-the-first", "timeout-never-falls"},
    (TRUST, "one more"): {"ends-by-delivery"},
    (TRUST, "doubled by each heartbeat"): {"timeout-bounded", "timeout-changes-only-so"},
    (TRUST, "doubled when it suspects"): {
        "guard-trusts",
        "timeout-bounded",
        "suspects-after-timeout",
        "timeout-changes-only-so",
    },
    (TRUST, "heard later"): TIMELY,
    (TRUST, "sent later"): TIMELY,
    (TRUST, "judged later"): TIMELY,
    (TRUST, "said to be tripled"): {"ends-by-delivery"},
    (TRUST, "said to be one more"): {"ends-by-delivery", "timeout-bounded"},
    (TRUST, "said to be doubled and one more"): {"ends-by-delivery"},
    (TRUST, "from nothing"): {"raise-is-more"},
    (SUSPICION, "doubled by each heartbeat"): UNBOUNDED,
    (SUSPICION, "doubled when it suspects"): UNBOUNDED,
    (SUSPICION, "heard later"): {*UNBOUNDED, *LATE},
    (SUSPICION, "sent later"): UNBOUNDED,
    (SUSPICION, "judged later"): {*UNBOUNDED, *LATE},
    (SUSPICION, "said to be one more"): UNBOUNDED,
    # What is learned does not matter to completeness, as long as the timeout has a bound.
    (SUSPICION, "halved"): set(),
    (SUSPICION, "not doubled"): set(),
    (SUSPICION, "one more"): set(),
    (SUSPICION, "said to be tripled"): set(),
    (SUSPICION, "said to be doubled and one more"): set(),
}


def at(stem: str, change: Change = lambda system: system, **options: Any) -> Invariant:
    """A proof, about another model."""
    proof = load_proof(FOLDER / f"{stem}.py")
    original = proof.model
    proof.model = replace(original, build=lambda **chosen: change(original.build(**chosen)))
    try:
        return proof.build_invariant({}, options)
    finally:
        proof.model = original


def fallen(stem: str, name: str) -> set[str]:
    """The premises that fail, each with a replayed step."""
    invariant = at(stem, MODELS[name])
    failed = unproved(invariant)
    steps = {}
    for each in failed:
        if each.kind is ObligationKind.PREMISE:
            found = explain_failure(invariant, each.kind, each.about, each.rounds, in_full=False)
            assert isinstance(found, CounterexampleToInduction)
            steps[each.name] = found.step
    conjuncts = frozenset(each.about for each in failed if each.kind is not ObligationKind.PREMISE)
    if conjuncts:
        weak = weaken_invariant(invariant, conjuncts, in_full=0).fallen
        steps |= {each: why.step for each, why in weak.items() if isinstance(why, CounterexampleToInduction)}
    claims = {each.name: each for each in invariant.conclusions}
    assert all(not holds_at_end(replay_run(invariant.system, step), claims[each]) for each, step in steps.items())
    return set(steps)


@pytest.mark.parametrize(("stem", "name"), every(12, FALLEN))
def test_only_the_premises_that_rest_on_what_is_wrong_fall(stem: str, name: str) -> None:
    assert fallen(stem, name) == FALLEN[stem, name]


@pytest.mark.parametrize("name", ["heard later", "sent later"])
def test_what_is_late_breaks_accuracy(name: str) -> None:
    system = MODELS[name](detector(2, 2, safe(2, 2)))
    claim = system.find_property("strong-accuracy")
    result = explore(system, claim)
    assert result.verdict is Verdict.VIOLATED
    assert result.run is not None
    assert not claim.holds(replay_run(system, result.run).last)


@pytest.mark.parametrize("name", ["not doubled", "halved"])
def test_who_does_not_learn_is_wrong_again_and_again(name: str) -> None:
    system = MODELS[name](detector(1, 2, 1))
    assert live(system, system.find_liveness_property("eventually-strong-accuracy")).verdict is Verdict.VIOLATED
    assert find_largest_counts(system)["hbegun"] == 64


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({}, "must make the timeout longer"),
        ({"times": 1, "plus": 0}, "must make the timeout longer"),
        ({"times": 0, "plus": 5}, "Raise: times must be an integer of at least 1, got 0"),
        ({"times": 2, "plus": -1}, "Raise: plus must be an integer of at least 0, got -1"),
        ({"times": 1.5}, "Raise: times must be an integer of at least 1, got 1.5"),
        ({"plus": True}, "Raise: plus must be an integer of at least 0, got True"),
    ],
)
def test_what_does_not_raise_is_refused(wrong: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        Raise(**wrong)


def test_what_is_learned_is_a_raise() -> None:
    original = detector(1, 1, 1).detector
    assert original is not None
    with pytest.raises(UsageError, match="the detector's learns is 2, not a Raise"):
        replace(original, learns=2)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("raised", "words", "formula"),
    [
        (Raise(plus=1), "raises the timeout by 1", "t + 1*n"),
        (Raise(plus=3), "raises the timeout by 3", "t + 3*n"),
        (Raise(times=2), "multiplies the timeout by 2", "2^n*t"),
        (Raise(times=3, plus=4), "multiplies the timeout by 3 and adds 4", "3^n*t + 4*(3^n - 1)/2"),
    ],
)
def test_a_raise_in_words(raised: Raise, words: str, formula: str) -> None:
    assert (raised.describe(), raised.format_repeated("t")) == (words, formula)
    timeout = 5
    for n in range(6):
        assert eval(formula.replace("^", "**"), {"t": 5, "n": n}) == timeout
        assert (raised.count_until(5, timeout), raised.count_until(5, timeout + 1)) == (n, n + 1)
        timeout = raised.apply(timeout)


def test_raises_by_little_are_counted_at_once() -> None:
    assert [Raise(plus=3).count_until(first, 8) for first in (1, 2, 3, 5, 7, 8, 9)] == [3, 2, 2, 1, 1, 0, 0]
    assert Raise(plus=2).count_until(1, 10**18) == 5 * 10**17


# ── finding the formulas


def test_what_no_formula_fits_is_told_in_one_line() -> None:
    names, least = ["delta", "phi", "first"], {"delta": 0, "phi": 1, "first": 1}
    points = list(product(range(4), range(1, 4), range(1, 7)))
    number: dict[tuple[int, ...], int] = {at: Raise(times=2).count_until(at[2], safe(at[0], at[1])) for at in points}
    assert (
        describe_counts("number", number, names, least, (2,)) == "number: 1 to 3 in 42 of 72 instances; no formula fits"
    )
    sums: dict[tuple[int, ...], int] = {at: max(0, at[0] + 7 - at[2]) for at in points}
    assert describe_counts("sum", sums, names, least, (2,)) == (
        "sum: 1 to 9 in 72 of 72 instances; delta-first+7 where there are any; not proved"
    )
    assert describe_counts("any", dict.fromkeys(number, 64), names, least, (2,)) == (
        "any: 64 or more in some of 72 instances; no bound was found"
    )
    assert (
        describe_counts("none", dict.fromkeys(number, 0), names, least, (2,)) == "none: none in 72 instances explored"
    )


def test_a_formula_depends_on_the_steps_that_are_taken_in_turn() -> None:
    assert list_moduli(detector(None, None, "any")) == (2,)
    assert list_moduli(build_chandra_toueg(None, None)) == (3, 2)
    bound = load_proof(FOLDER / "detection_doubling.py").bounded_by
    assert bound is not None
    names = ("delta", "phi", "timeout")
    points = list(product(range(5), range(1, 4), range(1, 8)))
    measured: dict[tuple[int, ...], int] = {at: int(bound(State(dict(zip(names, at, strict=True))))) for at in points}
    shape = [(), ("delta",), ("phi",), ("timeout", "phi")]
    found = fit_formula(names, {"delta": 0, "phi": 1, "timeout": 1}, measured, shape, (2,))
    assert str(found) == "(timeout-timeout%2)*phi+delta+3*phi-2 if timeout >= 2; 2*phi-1 if timeout = 1"
    assert fit_formula(names, {"delta": 0, "phi": 1, "timeout": 1}, measured, shape, (3,)) is None


@pytest.mark.slow
def test_what_counts_down_is_bounded_in_a_sum() -> None:
    system = detector(None, None, "phi+delta+1")
    samples = [sample_states(each, system.find_property("strong-accuracy")) for each in list_small_instances(system)]
    silent_sender = "Implies(s.transit.empty(), s.delta + s.phi <= s.left + s.sender_idle - 1)"
    plain, with_sums = (
        {clause.to_source() for clause in build_candidates(system, samples, 1, sums)} for sums in (False, True)
    )
    assert silent_sender in with_sums - plain
    assert plain <= with_sums


@pytest.mark.slow
def test_its_invariant_is_found() -> None:
    options: dict[str, OptionValue] = {"crash": False, "timeout": "phi+delta+1", "buffer": None}
    job = CheckRequest(
        "infer", f"{FOLDER}/_doubling.py:DOUBLING", {"delta": None, "phi": None}, options, "strong-accuracy"
    )
    found = search_templates(job, seed=0)
    assert isinstance(found, InferredProof)
    assert found.conjuncts <= 6


# ── the command line


NUMBERS = ("--delta", "1", "--phi", "2")
MODEL = f"{FOLDER}/_doubling.py:DOUBLING"


@pytest.mark.parametrize(
    ("arguments", "code", "schema"),
    every(
        2,
        [
            (("explore", MODEL, *NUMBERS), 0, "check"),
            (("bmc", MODEL, "--timeout", "phi+delta"), 1, "check"),
            (("live", MODEL, *NUMBERS, "--timeout", "1", "--crash"), 0, "check"),
            (("bounds", "--model", MODEL, *NUMBERS), 0, "configuration"),
        ],
    ),
)
def test_documents_are_as_their_schemas_say(arguments: tuple[str, ...], code: int, schema: str) -> None:
    exit_code, document = found(*arguments)
    jsonschema.validate(document, json.loads(find_schema(schema)))
    assert exit_code == code
    assert document["model"] == "doubling"
