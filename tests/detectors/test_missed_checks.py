"""Missed checks: its formulas against an oracle, its plans for all parameters, and what breaks others."""

from collections.abc import Callable
from copy import copy
from dataclasses import asdict, replace
from pathlib import Path
from random import Random

import pytest

from fdverify import And, If, Proof, State
from fdverify.detectors.missed_checks import (
    FIXED_DELAY,
    FIXED_RATE,
    MISSED_CHECKS,
    TAKES_TIME,
    TOO_FEW,
    TOO_SHORT,
    CheckParts,
    CheckStep,
    build_late_answers,
    build_lost_messages,
)
from fdverify.engines.explore import explore
from fdverify.models.planned_runs import WorstRun
from fdverify.models.system import Choices, Property, System, Update
from fdverify.obligations.planned_violation import decide_worst_run_obligations, interpret_worst_run
from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.proof_files import load_proof
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.runs.run_table import show_run
from fdverify.verdict import Verdict
from tests.oracle.missed_checks import Setting, find_latest_detection, is_safe
from tests.sampling import choose, every

PROOFS = Path(__file__).parents[2] / "invariants" / "missed_checks"
STEMS = tuple(f"checks_{claim}_fixed_{due}" for claim in ("accuracy", "detection") for due in ("delay", "rate"))
SETTINGS = choose(full=200, sample=10)
NUMBERS = tuple(parameter.name for parameter in MISSED_CHECKS.parameters)
TASKS = (FIXED_DELAY, FIXED_RATE)


def build(setting: Setting, crash: bool = False) -> System:
    """Build the detector in this setting."""
    values = {name: asdict(setting)[name] for name in NUMBERS}
    task = FIXED_RATE if setting.fixed_rate else FIXED_DELAY
    return MISSED_CHECKS.instantiate(
        values, {"task": task, "crash": crash, "timeout": str(setting.timeout), "buffer": None}
    )


def compute_safe_timeout(setting: Setting) -> int:
    return max(1, 2 * setting.delta + setting.pause)


def compute_detection(setting: Setting) -> int:
    """Compute the worst detection time by the formulas of the page."""
    if setting.fixed_rate:
        cycle = max(setting.period, setting.timeout + 1)
        return max(setting.delta, setting.period - 1) + (setting.tolerance - 1) * cycle + setting.timeout
    return setting.delta - 1 + setting.tolerance * (setting.period + setting.timeout)


def draw_setting(random: Random) -> Setting:
    """Draw a setting whose timeout and tolerance are near the least safe ones."""
    delta, pause, losses = random.randint(0, 2), random.randint(0, 2), random.randint(0, 1)
    return Setting(
        fixed_rate=random.random() < 0.5,
        delta=delta,
        period=random.randint(1, 4),
        losses=losses,
        pause=pause,
        tolerance=max(1, (losses + 1) ** 2 + random.randint(-1, 1)),
        timeout=max(1, 2 * delta + pause + random.randint(-1, 1)),
    )


@pytest.mark.parametrize("number", range(SETTINGS))
def test_it_is_safe_where_the_page_says_so(number: int) -> None:
    setting = draw_setting(Random(number))
    safe = is_safe(setting)
    enough_time = setting.timeout >= compute_safe_timeout(setting)
    enough_checks = setting.tolerance >= (setting.losses + 1) ** 2
    if enough_time and enough_checks:
        assert safe, setting
    elif not enough_checks or setting.delta > 0:
        assert not safe, setting
    system = build(setting)
    verdict = explore(system, system.find_property("strong-accuracy")).verdict
    assert verdict is (Verdict.PROVED if safe else Verdict.VIOLATED), setting


@pytest.mark.parametrize("number", range(SETTINGS))
def test_the_latest_detection_is_the_formulas(number: int) -> None:
    setting = draw_setting(Random(number))
    assert find_latest_detection(setting) == compute_detection(setting), setting
    system = build(setting, crash=True)
    assert explore(system, system.find_property("detection")).verdict is Verdict.PROVED


def with_conjuncts_but(stem: str, name: str) -> Proof:
    """A copy of a shipped proof without what it assumes under this name."""
    proof = copy(load_proof(PROOFS / f"{stem}.py"))
    proof._assumptions = [each for each in proof._assumptions if each.name != name]
    return proof


@pytest.mark.parametrize("stem", every(2, STEMS))
def test_it_is_proved_for_all_parameters(stem: str) -> None:
    (result,) = check_proofs([PROOFS / f"{stem}.py"], ProofSettings(cache=False))
    assert result.verdict is Verdict.PROVED


@pytest.mark.parametrize("name", ["enough_time", "enough_checks"])
@pytest.mark.parametrize("stem", every(2, STEMS[:2]))
def test_without_an_assumption_it_is_refuted(stem: str, name: str) -> None:
    (result,) = check_proofs([with_conjuncts_but(stem, name)], ProofSettings(cache=False))
    assert result.verdict is Verdict.VIOLATED


Plan = tuple[Callable[[CheckParts], WorstRun], tuple[Property, ...]]
PLANS: dict[str, Plan] = {
    "late answers": (build_late_answers, (TOO_SHORT, TAKES_TIME)),
    "lost messages": (build_lost_messages, (TOO_FEW,)),
}


@pytest.mark.parametrize("task", every(2, TASKS))
@pytest.mark.parametrize("name", PLANS)
def test_with_less_a_plan_leads_to_a_wrong_suspicion_for_all_parameters(name: str, task: str) -> None:
    plan, conditions = PLANS[name]
    options: dict[str, str | bool | None] = {"task": task, "crash": False, "timeout": "any", "buffer": None}
    system = replace(MISSED_CHECKS.instantiate(dict.fromkeys(NUMBERS), options), assumptions=conditions)
    obligations = decide_worst_run_obligations(system, system.find_property("strong-accuracy"), plan(CheckParts(task)))
    assert len(obligations) == 3
    assert {obligation.verdict for obligation in obligations} == {Verdict.PROVED}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(("name", "tolerance", "timeout"), [("late answers", 5, 5), ("lost messages", 8, 9)])
def test_a_plan_is_followed_at_exact_values(name: str, tolerance: int, timeout: int, task: str) -> None:
    setting = Setting(task == FIXED_RATE, 2, 3, 2, 2, tolerance, timeout)
    system = build(setting)
    run = interpret_worst_run(system, system.find_property("strong-accuracy"), PLANS[name][0](CheckParts(task)))
    assert show_run(system, run).steps[-1].state["misses"] == tolerance


# Twins: each is the detector with one thing wrong, and a run shows it.


def remembers_misses(system: System) -> System:
    """Let the checker count misses that are not in a row."""
    end = system.phase("end_check").run

    def end_check(s: State, c: Choices) -> Update:
        effect = end(s, c)
        kept = If(s.answered, s.misses, effect.changes["misses"])
        return replace(effect, changes={**effect.changes, "misses": kept})

    return system.with_phase("end_check", end_check)


def waits_longer(system: System) -> System:
    """Let the checker rest for a round more after each check."""
    end = system.phase("end_check").run

    def end_check(s: State, c: Choices) -> Update:
        effect = end(s, c)
        wait = effect.changes["check_wait"]
        late = If(And(s.check_step == CheckStep.Waits, wait > 0), wait + 1, wait)
        return replace(effect, changes={**effect.changes, "check_wait": late})

    return system.with_phase("end_check", end_check)


SMALL = Setting(False, 1, 2, 1, 1, 4, 3)


@pytest.mark.parametrize(("broken", "claim"), [(remembers_misses, "strong-accuracy"), (waits_longer, "detection")])
def test_a_broken_checker_is_noticed(broken: Callable[[System], System], claim: str) -> None:
    system = build(SMALL, crash=True)
    assert explore(system, system.find_property(claim)).verdict is Verdict.PROVED
    result = explore(broken(system), system.find_property(claim))
    assert result.verdict is Verdict.VIOLATED
    assert result.run is not None
