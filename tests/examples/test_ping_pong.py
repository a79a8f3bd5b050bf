"""The ping-pong detector: its proofs, what small instances say of its bounds, and what notices a broken one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from fdverify.bounds.detection_times import measure_detection_times
from fdverify.engines.bmc import bmc
from fdverify.engines.explore import explore
from fdverify.engines.live import live
from fdverify.logic import And, If, Not, Or
from fdverify.models.buffer import ENCODINGS
from fdverify.models.loading import load_module
from fdverify.models.system import (
    Choices,
    Flag,
    Flags,
    Phase,
    Property,
    State,
    System,
    Update,
    Variable,
    update,
)
from fdverify.obligations.inductive import Invariant, build_obligations
from fdverify.obligations.planned_violation import decide_worst_run_obligations, interpret_worst_run
from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.proof_files import load_proof
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.runs.concrete_interpreter import build_initial_state, enumerate_outcomes, observe_state
from fdverify.runs.run import replay_run
from fdverify.smt.decide import decide_script
from fdverify.verdict import Verdict
from tests.oracle import ping_pong as oracle
from tests.sampling import choose, every

FOLDER = Path(__file__).parents[2] / "examples" / "ping_pong"
PROOFS = ("accuracy", "completeness", "eventual_accuracy", "tight_completeness")
SMALL = list(product(range(5), range(1, 4)))


@cache
def written(name: str) -> ModuleType:
    return load_module(FOLDER / f"{name}.py")


def system(delta: int | None, phi: int | None, **options: Any) -> System:
    built: System = written("_ping_pong").ping_pong(delta, phi, **options)
    return built


# The proofs hold


@pytest.mark.parametrize("name", every(2, PROOFS))
def test_it_is_proved_for_all_parameters(name: str) -> None:
    (result,) = check_proofs([FOLDER / f"{name}.py"], ProofSettings(cache=False))
    assert result.verdict is Verdict.PROVED


def fails(invariant: Invariant) -> list[str]:
    return [
        question.name for question in build_obligations(invariant) if decide_script(question.script).status != "unsat"
    ]


@pytest.mark.slow
def test_a_shorter_timeout_or_an_earlier_round_is_not_proved() -> None:
    accuracy = load_proof(FOLDER / "accuracy.py").build_invariant({}, {})
    least = written("accuracy").least_timeout
    less = Property("less", lambda s: s.initial_timeout >= least(s) - 1, "one less")
    assert fails(replace(accuracy, system=replace(accuracy.system, assumptions=(less,)))) == ["trusted-step"]
    tight = load_proof(FOLDER / "tight_completeness.py").build_invariant({}, {})
    earlier = Property("earlier", suspected_by(1), "suspected one round earlier")
    assert fails(replace(tight, goal=earlier)) == ["goal"]


@pytest.mark.parametrize(
    "name", every(3, ["something_under_way", "ping_grows_old", "ping_left", "answers_next", "waits_in_threes"])
)
def test_no_conjunct_of_accuracy_can_be_left_out(name: str) -> None:
    accuracy = load_proof(FOLDER / "accuracy.py").build_invariant({}, {})
    rest = tuple(conjunct for conjunct in accuracy.authored if conjunct.name != name)
    assert len(rest) == len(accuracy.authored) - 1
    assert fails(replace(accuracy, authored=rest)) != []


def test_a_wrong_conjunct_is_refused_with_a_run() -> None:
    """That the target is always asked in the round of the Ask is false where a ping takes a round."""
    accuracy = load_proof(FOLDER / "accuracy.py").build_invariant({}, {})
    wrong = Property("no_ping", lambda s: s.pings.empty(), "no ping is ever in transit")
    assert fails(replace(accuracy, authored=(*accuracy.authored, wrong))) == ["no_ping-step"]
    small = system(1, 1)
    found = explore(small, wrong)
    assert found.verdict is Verdict.VIOLATED
    assert found.run is not None
    assert not wrong.holds(replay_run(small, found.run).last)


# Small instances agree with the formulas


def least_timeout(delta: int, phi: int) -> int:
    return int(written("accuracy").least_timeout(SimpleNamespace(delta=delta, phi=phi)))


@pytest.mark.parametrize(("delta", "phi"), every(7, product(range(8), range(1, 4))))
def test_the_least_timeout_of_an_instance(delta: int, phi: int) -> None:
    least = least_timeout(delta, phi)

    def verdict(timeout: int) -> Verdict:
        small = system(delta, phi, timeout=str(timeout))
        return explore(small, small.find_property("strong-accuracy")).verdict

    assert verdict(least) is verdict(least + 1) is Verdict.PROVED
    assert verdict(least - 1) is Verdict.VIOLATED


@pytest.mark.slow
def test_one_less_is_too_short_for_all_parameters() -> None:
    least = written("accuracy").least_timeout
    one_less = Property("one_less", lambda s: s.initial_timeout == least(s) - 1, "one less")
    whole = replace(system(None, None, timeout="any"), assumptions=(one_less,))
    (plan,) = whole.worst
    obligations = decide_worst_run_obligations(whole, whole.find_property("strong-accuracy"), plan)
    assert [obligation.verdict for obligation in obligations] == [Verdict.PROVED] * 3


@pytest.mark.parametrize(("delta", "phi"), every(4, product((*range(7), 40), (1, 2, 3, 7))))
def test_the_worst_run_is_one(delta: int, phi: int) -> None:
    small = system(delta, phi, timeout=str(least_timeout(delta, phi) - 1))
    claim = small.find_property("strong-accuracy")
    run = interpret_worst_run(small, claim, small.worst[0])
    assert not claim.holds(replay_run(small, run).last)


def suspected_by(earlier: int = 0) -> Callable[[State], Any]:
    bound = written("tight_completeness").suspected_by
    return lambda s: Not(And(s.since_crash >= bound(s) - earlier, Not(s.suspected)))


@pytest.mark.parametrize(("delta", "phi", "timeout"), every(19, [(*at, t) for at in SMALL for t in range(2, 9)]))
def test_the_least_detection_time_of_an_instance(delta: int, phi: int, timeout: int) -> None:
    """The timeout is the one that the monitor has then: it may have had one less first."""
    times = [
        measure_detection_times(system(delta, phi, crash=True, timeout=str(first))) for first in (timeout - 1, timeout)
    ]
    at = SimpleNamespace(delta=delta, phi=phi, timeout=timeout)
    assert max(each.get(timeout, 0) for each in times) == written("tight_completeness").suspected_by(at)


@pytest.mark.parametrize("phi", [1, 2, 3])
def test_a_timeout_of_one_has_a_least_time_of_its_own(phi: int) -> None:
    at = SimpleNamespace(delta=2, phi=phi, timeout=1)
    expected = written("tight_completeness").suspected_by(at)
    assert measure_detection_times(system(2, phi, crash=True, timeout="1"))[1] == expected == 5 * phi - 2


@pytest.mark.parametrize(("delta", "phi"), every(9, SMALL))
def test_live_agrees(delta: int, phi: int) -> None:
    small = system(min(delta, 2), phi, crash=True, timeout="1")
    for claim in small.liveness:
        assert live(small, claim).verdict is Verdict.PROVED


# The words of the docstring, read a second time


def observed(small: System, state: State) -> oracle.State:
    seen: dict[str, Any] = observe_state(small, state)
    return oracle.State(
        suspected=seen["suspected"],
        waiting=seen["waiting"],
        waiting_time=min(seen["waiting_time"], seen["timeout"]),
        timeout=seen["timeout"],
        asked=seen["asked"],
        monitor=seen["monitor_pc"],
        target=seen["target_pc"],
        pings=tuple(sorted(seen["pings"])),
        pongs=tuple(sorted(seen["pongs"])),
        monitor_timer=seen["monitor_timer"],
        target_timer=seen["target_timer"],
    )


def after_a_round(small: System, state: State) -> Iterator[State]:
    reached = [state]
    for phase in small.phases:
        reached = [after for before in reached for _, after in enumerate_outcomes(small, phase, before)]
    yield from reached


def interpreted_levels(small: System) -> list[set[oracle.State]]:
    initial = build_initial_state(small)
    levels = [{observed(small, initial): initial}]
    seen = set(levels[0])
    while levels[-1]:
        reached = {observed(small, after): after for s in levels[-1].values() for after in after_a_round(small, s)}
        levels.append({key: state for key, state in reached.items() if key not in seen})
        seen |= set(levels[-1])
    return [set(level) for level in levels[:-1]]


PHI = choose(full=range(1, 4), sample=range(1, 3))
INSTANCES = [
    (*at, timeout, crash, encoding)
    for at, timeout, crash, encoding in product(product(range(3), PHI), (1, 3, 9), (False, True), ENCODINGS)
]


@pytest.mark.parametrize(("delta", "phi", "timeout", "crash", "encoding"), every(19, INSTANCES))
def test_same_states_level_by_level(delta: int, phi: int, timeout: int, crash: bool, encoding: str) -> None:
    expected = oracle.Detector(delta, phi, timeout, crash).levels()
    small = system(delta, phi, timeout=str(timeout), crash=crash, buffer=encoding)
    assert interpreted_levels(small) == expected
    anything = Property("anything", lambda s: True, "nothing is claimed")
    explored = explore(small, anything)
    assert explored.verdict is Verdict.PROVED
    assert explored.statistics["states"] == sum(len(level) for level in expected)
    assert explored.statistics["depth"] == len(expected)


def test_the_oracle_sees_a_whole_life() -> None:
    states = set().union(*oracle.Detector(1, 2, 1, True).levels())
    assert {state.suspected for state in states} == {False, True}
    assert max(state.timeout for state in states) == least_timeout(1, 2)
    assert {len(state.pings) + len(state.pongs) + state.asked for state in states} == {0, 1}


# Broken detectors are noticed


def with_choice(whole: System, name: str, run: Callable[[State, Choices], Update], *choices: Flag) -> System:
    """The detector with another phase of this name, in which more is chosen."""
    phases = [Phase(name, run, (*p.choices, *choices)) if p.name == name else p for p in whole.phases]
    return replace(whole, phases=tuple(phases), worst=())


def forgets(whole: System) -> System:
    """The target may forget to answer."""

    def run(s: State, c: Choices) -> Update:
        asked = whole.phase("answer").run(s, c).changes["asked"]
        return update(pongs=s.pongs.send(when=And(s.asked, Not(asked), c.remembers)), asked=asked)

    return with_choice(whole, "answer", run, Flag("remembers"))


def counts_double(whole: System) -> System:
    """The monitor counts its Compute twice."""

    processes = written("_processes")

    def run(s: State, c: Choices) -> Update:
        active = processes.MONITOR.runs(s, processes.MonitorPc.Compute)
        waited = If(s.waiting, s.waiting_time + 2, 0)
        return update(
            waiting_time=If(active, waited, s.waiting_time),
            suspected=Or(s.suspected, And(active, s.waiting, waited >= s.timeout)),
        )

    return with_choice(whole, "compute", run)


def never_asks_again(whole: System) -> System:
    """Once it was answered, the monitor is content."""

    def ask(s: State, c: Choices) -> Update:
        made = whole.phase("ask").run(s, c)
        stays = {name: If(s.content, s[name], value) for name, value in made.changes.items() if name != "pings"}
        asks = And(made.changes["waiting"], Not(s.waiting), Not(s.content))
        return update(pings=s.pings.send(when=asks), **stays)

    def receive(s: State, c: Choices) -> Update:
        made = whole.phase("receive_pong").run(s, c)
        return replace(made, changes={**made.changes, "content": Or(s.content, Not(c.delivered_pongs.empty()))})

    content = Variable("content", Flags(), initial=lambda s: False)
    changed = with_choice(with_choice(whole, "ask", ask), "receive_pong", receive)
    return replace(changed, variables=(*changed.variables, content))


def late(phase: str) -> Callable[[System], System]:
    """Messages of age Δ may be left in transit."""

    def broken(whole: System) -> System:
        return with_choice(whole, phase, lambda s, c: replace(whole.phase(phase).run(s, c), assume=True))

    return broken


INACCURATE = [forgets, counts_double, late("receive_ping"), late("receive_pong")]


@pytest.mark.parametrize("breaks", INACCURATE)
@pytest.mark.parametrize(("delta", "phi"), every(2, [(0, 1), (3, 2)]))
def test_a_broken_detector_suspects_a_correct_target(breaks: Callable[[System], System], delta: int, phi: int) -> None:
    broken = breaks(system(delta, phi, timeout=str(least_timeout(delta, phi))))
    claim = broken.find_property("strong-accuracy")
    lengths = set()
    for found in (explore(broken, claim), bmc(broken, claim, depth=30)):
        assert found.verdict is Verdict.VIOLATED
        assert found.run is not None
        assert not claim.holds(replay_run(broken, found.run).last)
        lengths.add(len(found.run.rounds))
    assert len(lengths) == 1


@pytest.mark.parametrize("breaks", every(2, INACCURATE))
def test_a_broken_detector_is_not_proved_accurate(breaks: Callable[[System], System]) -> None:
    invariant = load_proof(FOLDER / "accuracy.py").build_invariant({}, {})
    assert fails(replace(invariant, system=breaks(invariant.system))) != []


@pytest.mark.slow
def test_who_never_asks_again_never_notices_a_crash() -> None:
    broken = never_asks_again(system(1, 1, crash=True))
    claim = broken.find_property("strong-completeness")
    found = explore(broken, claim)
    assert found.verdict is Verdict.VIOLATED
    assert found.run is not None
    assert not claim.holds(replay_run(broken, found.run).last)
    loop = live(broken, broken.find_liveness_property("strong-completeness"))
    assert loop.verdict is Verdict.VIOLATED
    assert loop.run is not None
    invariant = load_proof(FOLDER / "completeness.py").build_invariant({}, {})
    assert fails(replace(invariant, system=never_asks_again(invariant.system))) != []
