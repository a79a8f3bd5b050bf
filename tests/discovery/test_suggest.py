"""Conjuncts that are suggested where one was dropped: they make a proof of what is left, and hold in other instances."""

import json
import subprocess
from functools import cache
from pathlib import Path

import jsonschema
import pytest

from fdverify.discovery.clauses import AtMost, Linear
from fdverify.discovery.suggest import Suggested, strengthened
from fdverify.discovery.vocabulary import words
from fdverify.engines.explore import explore
from fdverify.logic import And, Implies, Not
from fdverify.models.system import Property, State
from fdverify.proofs.check import check
from fdverify.proofs.course import Settings
from fdverify.reports.proof_document import SCHEMA
from fdverify.verdict import Verdict
from tests.cli.script import environment, script
from tests.discovery.dropped import INVARIANTS, broken_pairs, conjuncts, is_proved, ten, without
from tests.sampling import FULL

ROOT = Path(__file__).parents[2]
NOT_RESTORED: set[tuple[str, str]] = set()
SAMPLED = {("strong_completeness_fixed_timeout", "only_old_messages"), ("eventually_strong_accuracy", "trusted_once_safe")}
CHOSEN = [pair for pair in ten() if FULL or pair in SAMPLED]


@cache
def found(file: str, name: str) -> Suggested:
    return strengthened(without(file, name), Settings(jobs=1))


@pytest.mark.parametrize(("file", "name"), CHOSEN)
def test_a_step_breaks_a_proof_without_the_conjunct(file: str, name: str) -> None:
    assert not is_proved(without(file, name))


@pytest.mark.parametrize(("file", "name"), [pair for pair in CHOSEN if pair not in NOT_RESTORED])
def test_what_is_suggested_proves_it_again(file: str, name: str) -> None:
    suggested = found(file, name)
    best = suggested.found[0]
    assert best.proves
    assert suggested.remark == ""
    case = without(file, name)
    proof = case.proof()
    for number, conjunct in enumerate(best.conjuncts):
        names: dict[str, object] = {}
        exec("\n".join(best.imports), names)
        exec(compile(conjunct.source().replace("@proof.invariant\n", ""), f"{file}-{number}.py", "exec"), names)
        proof.invariant(names[conjunct.name])  # type: ignore[type-var]
    (result,) = check([proof], Settings(jobs=1, cache=False))
    assert result.verdict is Verdict.PROVED


@pytest.mark.parametrize(("file", "name"), [pair for pair in CHOSEN if pair in NOT_RESTORED])
def test_where_nothing_proves_it_that_is_said(file: str, name: str) -> None:
    suggested = found(file, name)
    assert not any(suggestion.proves for suggestion in suggested.found)
    assert suggested.remark.startswith("no conjuncts were found")


def test_most_of_the_ten_are_restored() -> None:
    assert len(ten()) == 10
    assert len(NOT_RESTORED & set(ten())) <= 3


@pytest.mark.parametrize(("file", "name"), CHOSEN)
def test_suggestions_hold_in_instances_that_nothing_was_learned_from(file: str, name: str) -> None:
    system = without(file, name).invariant().system
    fixed = system.at({"delta": 4, "phi": 2, **({"initial_timeout": 5} if "initial_timeout" in system.arbitrary() else {})})
    if system.assumptions:
        fixed = system.at({"delta": 4, "phi": 2, "initial_timeout": 17})
    names: dict[str, object] = {}
    for suggestion in found(file, name).found:
        exec("\n".join(suggestion.imports), names)
        for conjunct in suggestion.conjuncts:
            holds = eval(f"lambda s: {conjunct.formula}", names)
            claim = Property(conjunct.name, holds, "")
            assert explore(fixed, claim, depth=40).verdict in (Verdict.BOUNDED, Verdict.PROVED), conjunct.formula
