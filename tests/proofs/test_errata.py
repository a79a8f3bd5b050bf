"""docs/reference/paper-errata.md: what it says of the published formulas is so, and its tables are real."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from fdverify.detectors.chandra_toueg import build_chandra_toueg
from fdverify.engines.batch import build_truth_column
from fdverify.engines.explore import Exploration, explore
from fdverify.logic import Place, Truth, watch_premises
from fdverify.models.system import Property, System
from fdverify.obligations.counterexample import explain_failure
from fdverify.obligations.inductive import build_obligations
from fdverify.obligations.obligation import CounterexampleToInduction, ObligationKind
from fdverify.proofs.proof_files import load_proof
from fdverify.reports.step_table import print_steps
from fdverify.runs.run_table import ShownRun, show_run
from fdverify.smt.decide import decide_script
from fdverify.verdict import Verdict, ignore_progress
from tests.proofs.published import FALSE, NEVER, formula_68, formula_90
from tests.sampling import every

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "paper-errata.md").read_text()


def table(trace: ShownRun) -> str:
    text = StringIO()
    print_steps(Console(file=text, width=1000, highlight=False, color_system=None), trace)
    return text.getvalue()


def detector(delta: int, phi: int, timeout: str, crash: bool) -> System:
    return build_chandra_toueg(delta, phi, variant="ivy", crash=crash, timeout=timeout)


@pytest.mark.parametrize("number", FALSE)
def test_a_formula_that_is_false_in_a_reachable_state(number: str) -> None:
    formula, (delta, phi, timeout) = FALSE[number]
    system = detector(delta, phi, timeout, crash=True)
    result = explore(system, formula, depth=30)
    assert result.verdict is Verdict.VIOLATED
    assert result.run is not None
    assert f"({number})" in PAGE
    assert table(show_run(system, result.run)) in PAGE


@pytest.mark.parametrize("number", every(6, NEVER))
def test_a_premise_that_never_holds(number: str) -> None:
    formula, crash = NEVER[number]
    met = False

    def watch(place: Place, premise: Truth) -> None:
        nonlocal met
        met = met or bool(build_truth_column(premise, size).any())

    for delta in range(4):
        for phi in range(1, 4):
            safe = 6 * phi + delta
            depth = safe + phi * safe + 5 if crash else 100
            exploration = Exploration(detector(delta, phi, str(safe), crash), ALWAYS, {}, subrounds=False)
            exploration.run(depth, ignore_progress, most_states=20_000)
            for level, size in enumerate(exploration.level_sizes):
                if size > 0:
                    with watch_premises(watch):
                        formula.holds(exploration.batches.restore_state(exploration.get_level(level)))
    assert not met
    assert f"({number})" in PAGE


ALWAYS = Property("always", lambda s: True, "")


@pytest.mark.slow
def test_the_claim_that_precedence_lost_is_needed() -> None:
    """With (68) as printed, the induction fails at a step that the errata show."""
    invariant = load_proof(ROOT / "invariants" / "strong_completeness_any_timeout.py").build_invariant({}, {})
    printed = Property("formula_68", formula_68, "")
    authored = tuple(printed if c.name == "delivery_overdue_1_phi" else c for c in invariant.authored)
    weaker = replace(invariant, authored=authored)
    failed = [q for q in build_obligations(weaker) if decide_script(q.script).status != "unsat"]
    assert [question.name for question in failed] == ["delivery_overdue_2_phi-step", "formula_68-step"]
    found = explain_failure(weaker, ObligationKind.CONSECUTION, "delivery_overdue_2_phi", 1)
    assert isinstance(found, CounterexampleToInduction)
    assert table(show_run(weaker.system, found.step)) in PAGE


def test_an_equality_in_place_of_the_guard_says_nothing_of_later_rounds() -> None:
    """(90) is true of a detector that takes its suspicion back right after the guard; the uncapped form is not."""
    system = detector(0, 1, "6", crash=True)
    assert explore(system, Property("(90)", formula_90, ""), depth=30).verdict is Verdict.BOUNDED
    assert "(90)" in PAGE
