"""The deadline heartbeat: its formulas against an oracle, its plan for all parameters, and what breaks others."""

from collections.abc import Callable
from copy import copy
from dataclasses import asdict, replace
from pathlib import Path
from random import Random

import pytest

from fdverify import Proof, State
from fdverify.detectors.deadline_heartbeat import (
    DEADLINE_HEARTBEAT,
    FIXED_DELAY,
    FIXED_RATE,
    DeadlineParts,
    build_late_heartbeat,
    list_side_conditions,
)
from fdverify.engines.explore import explore
from fdverify.models.system import Choices, System, Update
from fdverify.obligations.planned_violation import decide_worst_run_obligations, interpret_worst_run
from fdverify.parts import FixedDelayTask
from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.proof_files import load_proof
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.runs.run_table import show_run
from fdverify.verdict import Verdict
from tests.oracle.deadline import Setting, find_latest_detection, find_least_safe_timeout
from tests.sampling import choose, every

PROOFS = Path(__file__).parents[2] / "invariants" / "deadline_heartbeat"
STEMS = tuple(f"deadline_{name}" for name in ("accuracy_fixed_delay", "accuracy_fixed_rate", "accuracy_judging_first"))
SETTINGS = choose(full=200, sample=10)
NUMBERS = tuple(parameter.name for parameter in DEADLINE_HEARTBEAT.parameters)


def build(setting: Setting, timeout: int | str, crash: bool = False) -> System:
    """Build the detector in this setting."""
    values = {name: asdict(setting)[name] for name in NUMBERS}
    return DEADLINE_HEARTBEAT.instantiate(values, list_options(setting, timeout, crash))


def list_options(setting: Setting, timeout: int | str, crash: bool) -> dict[str, str | bool | None]:
    return {
        "task": FIXED_RATE if setting.fixed_rate else FIXED_DELAY,
        "judges": "first" if setting.judges_first else "last",
        "crash": crash,
        "timeout": str(timeout),
        "buffer": None,
    }


def build_symbolic(task: str, **options: str | bool) -> System:
    """Build the detector for all parameters."""
    chosen = {"task": task, "judges": "last", "crash": False, "timeout": "any", "buffer": None, **options}
    return DEADLINE_HEARTBEAT.instantiate(dict.fromkeys(NUMBERS), chosen)


def compute_safe_timeout(setting: Setting) -> int:
    """Compute the least safe timeout by the formulas of the page."""
    period, pause = setting.period, setting.pause
    if not setting.fixed_rate:
        silence = (setting.losses + 1) * (period + pause)
    else:  # with pauses as long as the period, one run makes up for several ticks
        silence = (setting.losses + 1) * period * (pause // period + 1) + pause % period
    late = setting.stall + 1 if setting.judges_first else 0
    return max(1, silence + setting.delta - setting.soonest + late)


def is_attained(setting: Setting, timeout: int) -> bool:
    """Return whether a crash is noticed as late as the formula says in some run.

    With 2 <= T <= M < T + G' it may be noticed earlier: the check before the one that is just too early may fall into
    the monitor's first pause.
    """
    return not 2 <= timeout <= setting.interval < timeout + setting.stall


def draw_setting(random: Random) -> Setting:
    delta, period = random.randint(0, 2), random.randint(1, 3)
    return Setting(
        fixed_rate=random.random() < 0.5,
        judges_first=random.random() < 0.3,
        delta=delta,
        soonest=random.randint(0, min(delta, period - 1)),
        period=period,
        losses=random.randint(0, 1),
        pause=random.randint(0, 2),
        stall=random.randint(0, 1),
        interval=random.randint(1, 2),
        first=1,
    )


def list_phases(setting: Setting) -> list[Setting]:
    """List the setting with each first check within the first interval."""
    return [replace(setting, first=first) for first in range(1, setting.interval + 1)]


@pytest.mark.parametrize("number", range(SETTINGS))
def test_the_least_safe_timeout_is_the_formulas(number: int) -> None:
    setting = draw_setting(Random(number))
    least = {phase: find_least_safe_timeout(phase) for phase in list_phases(setting)}
    assert max(least.values()) == compute_safe_timeout(setting), setting
    for phase, timeout in least.items():
        accuracy = build(phase, timeout).find_property("strong-accuracy")
        assert explore(build(phase, timeout), accuracy).verdict is Verdict.PROVED, phase
        if timeout > 1:
            assert explore(build(phase, timeout - 1), accuracy).verdict is Verdict.VIOLATED, phase


@pytest.mark.parametrize("number", range(SETTINGS))
def test_the_latest_detection_is_the_formulas(number: int) -> None:
    random = Random(number)
    setting = replace(draw_setting(random), judges_first=False)
    timeout = random.randint(1, 6)
    latest = max(find_latest_detection(phase, timeout) for phase in list_phases(setting))
    formula = setting.delta + timeout + setting.interval + 2 * setting.stall - 2
    assert latest <= formula, (setting, timeout)
    assert latest == formula or not is_attained(setting, timeout), (setting, timeout)
    system = build(setting, timeout, crash=True)
    assert explore(system, system.find_property("detection")).verdict is Verdict.PROVED


def with_option(stem: str, **options: str) -> Proof:
    """A copy of a shipped proof with other options: the proof itself is loaded once, for all tests in this process."""
    proof = copy(load_proof(PROOFS / f"{stem}.py"))
    proof.options = {**proof.options, **options}
    return proof


@pytest.mark.parametrize("stem", [*every(3, STEMS), "deadline_detection"])
def test_it_is_proved_for_all_parameters(stem: str) -> None:
    (result,) = check_proofs([PROOFS / f"{stem}.py"], ProofSettings(cache=False))
    assert result.verdict is Verdict.PROVED


def test_a_crash_is_detected_in_time_at_a_fixed_rate_too() -> None:
    (result,) = check_proofs([with_option("deadline_detection", task=FIXED_RATE)], ProofSettings(cache=False))
    assert result.verdict is Verdict.PROVED


@pytest.mark.slow
@pytest.mark.parametrize("task", [FIXED_DELAY, FIXED_RATE])
def test_with_one_tick_less_a_plan_leads_to_a_wrong_suspicion_for_all_parameters(task: str) -> None:
    parts, system = DeadlineParts(task), build_symbolic(task)
    system = replace(system, assumptions=(*system.assumptions, *list_side_conditions(parts)))
    worst, accuracy = build_late_heartbeat(parts), system.find_property("strong-accuracy")
    obligations = decide_worst_run_obligations(system, accuracy, worst)
    assert len(obligations) == 3
    assert {obligation.verdict for obligation in obligations} == {Verdict.PROVED}


@pytest.mark.parametrize("task", [FIXED_DELAY, FIXED_RATE])
def test_the_plan_is_followed_at_exact_values(task: str) -> None:
    parts = DeadlineParts(task)
    setting = Setting(task == FIXED_RATE, False, 3, 1, 5, 2, 3, 1, 4, first=1)
    safe = compute_safe_timeout(setting)
    last = replace(setting, first=safe + setting.soonest)
    system = build(last, safe - 1)
    run = interpret_worst_run(system, system.find_property("strong-accuracy"), build_late_heartbeat(parts))
    assert len(show_run(system, run).steps) == last.first + 1


# Twins: each is the detector with one thing wrong, and a run shows it.


def forgets(system: System) -> System:
    """Let the monitor forget to note when it heard a heartbeat."""
    receive = system.phase("hand_over_heartbeats").run

    def forget(s: State, c: Choices) -> Update:
        return replace(receive(s, c), changes={**receive(s, c).changes, "silence": s.silence + 1})

    return system.with_phase("hand_over_heartbeats", forget)


def checks_late(system: System) -> System:
    """Let the monitor check one round later than it should."""
    monitor = DeadlineParts(FIXED_DELAY).monitor
    late = FixedDelayTask("check", monitor, period=lambda s: s.interval + 1, first=lambda s: s.first)
    return system.with_phase("run_check", late.phases()[0].run)


SMALL = Setting(False, False, 1, 0, 2, 1, 1, 1, 1, first=1)


@pytest.mark.parametrize(("broken", "claim"), [(forgets, "strong-accuracy"), (checks_late, "detection")])
def test_a_broken_monitor_is_noticed(broken: Callable[[System], System], claim: str) -> None:
    system = broken(build(SMALL, compute_safe_timeout(SMALL), crash=True))
    result = explore(system, system.find_property(claim))
    assert result.verdict is Verdict.VIOLATED
    assert result.run is not None
    assert show_run(system, result.run).steps


@pytest.mark.parametrize("stem", every(2, STEMS))
def test_a_timeout_that_is_one_shorter_is_refuted(stem: str) -> None:
    timeout = load_proof(PROOFS / f"{stem}.py").options["timeout"]
    (result,) = check_proofs([with_option(stem, timeout=f"max(1,{timeout}-1)")], ProofSettings(cache=False))
    assert result.verdict is Verdict.VIOLATED


def test_pauses_as_long_as_the_period_are_refuted() -> None:
    setting = replace(SMALL, fixed_rate=True, pause=SMALL.period)
    short = (setting.losses + 1) * setting.period + setting.pause + setting.delta
    result = explore(build(setting, short), build(setting, short).find_property("strong-accuracy"))
    assert result.verdict is Verdict.VIOLATED
    assert compute_safe_timeout(setting) > short
