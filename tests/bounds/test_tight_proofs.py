"""The tight proofs: each has few conjuncts, and its bound is the least there is."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from fdverify.detectors.chandra_toueg import build_chandra_toueg
from fdverify.engines.explore import explore
from fdverify.logic import Implies, Number, Truth
from fdverify.models.loading import load_module
from fdverify.models.system import Property, State
from fdverify.obligations.inductive import Invariant, build_obligations
from fdverify.proofs.proof_files import load_proof
from fdverify.smt.decide import decide_script
from fdverify.verdict import Verdict
from tests.sampling import every

INVARIANTS = Path(__file__).parents[2] / "invariants"
VARIANTS = ("tla", "ivy")
MOST_CONJUNCTS = {"accuracy": 8, "completeness": 12, "suspicions": 7, "suspicion_length": 9}

variants = pytest.mark.parametrize("variant", every(2, VARIANTS))


def path(goal: str, variant: str) -> Path:
    return INVARIANTS / f"tight_{goal}_{variant}.py"


@cache
def written(goal: str, variant: str) -> ModuleType:
    return load_module(path(goal, variant))


def proof(goal: str, variant: str) -> Invariant:
    return load_proof(path(goal, variant)).build_invariant({}, {})


@pytest.mark.parametrize(("goal", "variant"), list(product(MOST_CONJUNCTS, VARIANTS)))
def test_few_conjuncts(goal: str, variant: str) -> None:
    invariant = proof(goal, variant)
    assert len(invariant.authored) <= MOST_CONJUNCTS[goal]
    assert invariant.system.options["variant"] == variant
    assert invariant.system.options["timeout"] == "any"
    assert all("\n" not in conjunct.meaning for conjunct in invariant.authored)


def fails(invariant: Invariant) -> list[str]:
    return [
        question.name for question in build_obligations(invariant) if decide_script(question.script).status != "unsat"
    ]


@variants
def test_one_less_than_the_least_timeout_is_not_proved(variant: str) -> None:
    invariant = proof("accuracy", variant)
    assert fails(invariant) == []
    least: Callable[[Any], Number] = written("accuracy", variant).least_timeout
    less = Property("less", lambda s: s.initial_timeout >= least(s) - 1, "one less")
    assert fails(replace(invariant, system=replace(invariant.system, assumptions=(less,)))) != []


@pytest.mark.slow
@variants
def test_one_round_less_is_not_proved(variant: str) -> None:
    invariant = proof("completeness", variant)
    assert invariant.system.assumptions == ()
    assert fails(invariant) == []
    assert fails(replace(invariant, goal=suspected_by(variant, earlier=1))) == ["goal"]


def suspected_by(variant: str, earlier: int = 0, only: Callable[[State], Truth] = lambda s: True) -> Property:
    """The goal of the proof, so many rounds earlier, of those states only."""
    bound: Callable[[Any], Number] = written("completeness", variant).suspected_by

    def holds(s: State) -> Truth:
        return Implies(only(s), Implies(s.hlfsc >= bound(s) - earlier, s.suspected))

    return Property("suspected-by", holds, "suspected in time")


@variants
def test_one_suspicion_less_is_not_proved(variant: str) -> None:
    invariant = proof("suspicions", variant)
    assert invariant.system.assumptions == ()
    assert fails(invariant) == []
    assert fails(replace(invariant, goal=suspected_at_most(variant, less=1))) == ["goal"]


def suspected_at_most(variant: str, less: int = 0) -> Property:
    """The goal of the proof, for so many suspicions less."""
    so_far: Callable[[Any], Number] = written("suspicions", variant).wrong_suspicions
    most: Callable[[Any], Number] = written("suspicions", variant).most_suspicions
    return Property("few-suspicions", lambda s: so_far(s) <= most(s) - less, "not suspected too often")


@pytest.mark.slow
@variants
def test_a_suspicion_one_round_shorter_is_not_proved(variant: str) -> None:
    invariant = proof("suspicion_length", variant)
    assert invariant.system.assumptions == ()
    assert fails(invariant) == []
    assert fails(replace(invariant, goal=suspected_for(variant, less=1))) == ["goal"]


def suspected_for(variant: str, less: int = 0) -> Property:
    """The goal of the proof, for so many rounds less."""
    longest: Callable[[Any], Number] = written("suspicion_length", variant).longest_suspicion
    return Property("short-suspicion", lambda s: s.hsuspected <= longest(s) - less, "not suspected too long")


BOUNDS = list(product(VARIANTS, range(6), range(1, 5)))


@pytest.mark.parametrize(("variant", "delta", "phi"), every(19, BOUNDS))
def test_the_least_timeout_of_an_instance(variant: str, delta: int, phi: int) -> None:
    least = written("accuracy", variant).least_timeout(SimpleNamespace(delta=delta, phi=phi))

    def verdict(timeout: int) -> Verdict:
        system = build_chandra_toueg(delta, phi, variant=variant, timeout=str(timeout))
        return explore(system, system.find_property("strong-accuracy")).verdict

    assert verdict(least) is verdict(least + 1) is Verdict.PROVED
    assert verdict(least - 1) is Verdict.VIOLATED


CRASHES = list(product(VARIANTS, range(5), range(1, 4), range(1, 8)))


@pytest.mark.parametrize(("variant", "delta", "phi", "timeout"), every(19, CRASHES))
def test_the_least_detection_time_of_an_instance(variant: str, delta: int, phi: int, timeout: int) -> None:
    system = build_chandra_toueg(delta, phi, variant=variant, crash=True, timeout=str(timeout))
    assert explore(system, suspected_by(variant)).verdict is Verdict.PROVED
    assert explore(system, suspected_by(variant, earlier=1)).verdict is Verdict.VIOLATED


@pytest.mark.parametrize(("variant", "phi"), [("tla", 1), ("tla", 2), ("ivy", 1), ("ivy", 3)])
def test_a_timeout_of_one_has_a_least_time_of_its_own(variant: str, phi: int) -> None:
    system = build_chandra_toueg(2, phi, variant=variant, crash=True, timeout="1")
    one = suspected_by(variant, earlier=1, only=lambda s: s.timeout == 1)
    assert explore(system, one).verdict is Verdict.VIOLATED


TIMEOUTS = list(product(VARIANTS, range(5), range(1, 4), range(1, 15)))


@pytest.mark.parametrize(("variant", "delta", "phi", "timeout"), every(19, TIMEOUTS))
def test_the_most_suspicions_of_an_instance(variant: str, delta: int, phi: int, timeout: int) -> None:
    system = build_chandra_toueg(delta, phi, variant=variant, timeout=str(timeout))
    assert explore(system, suspected_at_most(variant)).verdict is Verdict.PROVED
    assert explore(system, suspected_at_most(variant, less=1)).verdict is Verdict.VIOLATED


@pytest.mark.parametrize(("variant", "delta", "phi", "timeout"), every(19, TIMEOUTS))
def test_the_longest_suspicion_of_an_instance(variant: str, delta: int, phi: int, timeout: int) -> None:
    proof = load_proof(path("suspicion_length", variant))
    system = proof.build_system({"delta": delta, "phi": phi}, {"timeout": str(timeout)})
    assert explore(system, suspected_for(variant)).verdict is Verdict.PROVED
    assert explore(system, suspected_for(variant, less=1)).verdict is Verdict.VIOLATED


@variants
def test_there_is_no_suspicion_if_the_initial_timeout_is_safe(variant: str) -> None:
    for delta, phi, timeout in product(range(9), range(1, 5), range(1, 25)):
        at = SimpleNamespace(delta=delta, phi=phi, initial_timeout=timeout)
        safe = timeout >= written("accuracy", variant).least_timeout(at)
        assert (written("suspicions", variant).most_suspicions(at) == 0) == safe
        assert (written("suspicion_length", variant).longest_suspicion(at) == 0) == safe
