"""Bounds: fitted formulas are what was measured, proofs reject less, and worst runs reject what is not so."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fdverify.bounds.accuracy_bound import _find_least_linear_formula, find_accuracy_bound
from fdverify.bounds.bound_formula import ROUNDINGS, BoundFormula, Factor, FormulaCase, Polynomial
from fdverify.bounds.detection_bound import find_detection_bound
from fdverify.bounds.detector_configuration import configure_detector
from fdverify.bounds.formula_fitting import fit_formula
from fdverify.bounds.instance_grid import enumerate_rows
from fdverify.bounds.measurement import LeastTimeout
from fdverify.bounds.sufficiency import name_predicate, prove_with_conjuncts
from fdverify.detectors.chandra_toueg import CHANDRA_TOUEG, build_chandra_toueg
from fdverify.detectors.model_catalogue import find_model
from fdverify.engines.explore import explore
from fdverify.errors import UsageError
from fdverify.logic import Implies, Number
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.expression import parse_expression
from fdverify.models.system import Property, State, System, update
from fdverify.obligations.planned_violation import decide_worst_run_obligations, interpret_worst_run
from fdverify.proofs.shipped_proofs import find_tight_proof
from fdverify.runs.run import replay_run
from fdverify.verdict import Verdict
from tests.sampling import every

VARIANTS = ("tla", "ivy")
variants = pytest.mark.parametrize("variant", every(2, VARIANTS))


def job(variant: str, **options: Any) -> CheckRequest:
    defaults = {option.name: option.default for option in find_model("chandra-toueg").options}
    chosen = {**defaults, "variant": variant, **options}
    return CheckRequest("bounds", "chandra-toueg", {"delta": None, "phi": None}, chosen, "strong-accuracy")


def silent(text: str) -> None:
    """Nobody watches."""


def bound_of(variant: str, about: str, **options: Any) -> Callable[[State], Number]:
    proof = find_tight_proof(find_model("chandra-toueg"), {"variant": variant, **options}, about)
    assert proof is not None
    assert proof.bounded_by is not None
    return proof.bounded_by


@pytest.mark.slow
@variants
def test_the_least_timeout_is_found_and_is_exact(variant: str) -> None:
    found = find_accuracy_bound(job(variant), None, None, silent)
    assert found is not None
    assert (found.status, found.witness.scope) == ("exact", "all parameters")
    assert str(found.linear) == {"tla": "delta+3*phi", "ivy": "delta+3*phi+1"}[variant]
    least, formula = bound_of(variant, "accuracy"), found.formula
    assert isinstance(formula, BoundFormula)
    for delta, phi in product(range(20), range(1, 12)):
        at = {"delta": delta, "phi": phi}
        assert formula.evaluate_at(at) == least(State(at))
        assert parse_expression(str(found.linear), set(at)).evaluate(at) >= formula.evaluate_at(at)


INSTANCES = list(product(VARIANTS, range(8), range(1, 5)))


@pytest.mark.parametrize(("variant", "delta", "phi"), every(9, INSTANCES))
def test_the_formula_passes_and_one_less_is_violated(variant: str, delta: int, phi: int) -> None:
    least = bound_of(variant, "accuracy")(State({"delta": delta, "phi": phi}))

    def verdict(timeout: int) -> Verdict:
        system = build_chandra_toueg(delta, phi, variant=variant, timeout=str(timeout))
        return explore(system, system.find_property("strong-accuracy")).verdict

    assert (verdict(least), verdict(least - 1)) == (Verdict.PROVED, Verdict.VIOLATED)


@pytest.mark.slow
@variants
def test_the_worst_detection_time_is_found(variant: str) -> None:
    found = find_detection_bound(job(variant), None, None, silent)
    assert found is not None
    assert found.status == "upper bound, attained in 126 instances"
    assert found.upper_bound is found.formula
    by, formula = bound_of(variant, "completeness", crash=True), found.formula
    assert isinstance(formula, BoundFormula)
    for delta, phi, timeout in product(range(9), range(1, 6), range(1, 12)):
        at = {"delta": delta, "phi": phi, "timeout": timeout}
        assert formula.evaluate_at(at) == by(State(at))


@pytest.mark.slow
@variants
def test_one_less_is_not_proved_to_be_enough(variant: str) -> None:
    asked = job(variant, timeout="any")
    proof = find_tight_proof(asked.find_model(), asked.options, "accuracy")
    assert proof is not None
    least = bound_of(variant, "accuracy")

    def claimed(less: int) -> Any:
        return name_predicate("Safe.", lambda s: s.initial_timeout >= least(s) - less, "safe")

    model = asked.find_model()
    assert prove_with_conjuncts(proof, model, asked.options, "strong-accuracy", claimed(0), None) is not None
    assert prove_with_conjuncts(proof, model, asked.options, "strong-accuracy", claimed(1), None) is None
    assert prove_with_conjuncts(proof, SILENT, asked.options, "strong-accuracy", claimed(0), None) is None


def build_silent(**chosen: Any) -> System:
    """The detector, but nothing is ever sent."""
    return CHANDRA_TOUEG.build(**chosen).with_phase("send", lambda s, c: update())


SILENT = replace(CHANDRA_TOUEG, build=build_silent)


def test_a_proof_of_the_model_that_ships_says_nothing_of_another_of_its_name() -> None:
    assert SILENT.name == CHANDRA_TOUEG.name
    for about in ("accuracy", "suspicions"):
        options = {"variant": "tla", "timeout": "any"}
        assert find_tight_proof(CHANDRA_TOUEG, options, about) is not None
        assert find_tight_proof(SILENT, options, about) is None


def test_where_there_are_no_parameters_no_worst_run_is_proved() -> None:
    system = at_timeout("tla", lambda s: s.delta - s.delta)
    (obligation,) = decide_worst_run_obligations(system, system.find_property("strong-accuracy"), system.worst[0])
    assert obligation.verdict is Verdict.VACUOUS


def test_a_linear_formula_that_is_less_somewhere_is_none() -> None:
    jump = BoundFormula((FormulaCase((), (("delta", (0, 1)),), LINE, 3), FormulaCase((), (("delta", (2,)),), STEEP, 3)))
    parameters = find_model("chandra-toueg").parameters
    measured: dict[tuple[int, ...], LeastTimeout] = {(0, 1): LeastTimeout(3, None), (1, 1): LeastTimeout(4, None)}
    assert _find_least_linear_formula(jump, parameters, measured) is None
    assert (
        str(_find_least_linear_formula(BoundFormula((FormulaCase((), (), LINE),)), parameters, measured))
        == "delta+3*phi"
    )


LINE = Polynomial(((((Factor("delta"),)), 1), ((Factor("phi"),), 3), ((), 0)))
STEEP = Polynomial(((((Factor("delta"),)), 2), ((Factor("phi"),), 3), ((), 0)))


def at_timeout(variant: str, timeout: Callable[[State], Number]) -> System:
    system = build_chandra_toueg(None, None, variant=variant, timeout="any")
    return replace(system, assumptions=(Property("chosen", lambda s: s.initial_timeout == timeout(s), "chosen"),))


@variants
def test_the_worst_run_breaks_accuracy_at_one_less_whatever_the_parameters(variant: str) -> None:
    least = bound_of(variant, "accuracy")
    system = at_timeout(variant, lambda s: least(s) - 1)
    (worst,) = system.worst
    obligations = decide_worst_run_obligations(system, system.find_property("strong-accuracy"), worst)
    assert len(obligations) == 3
    assert {obligation.verdict for obligation in obligations} == {Verdict.PROVED}


@variants
def test_a_worst_run_that_does_not_lead_there_is_refused(variant: str) -> None:
    least = bound_of(variant, "accuracy")
    (worst,) = at_timeout(variant, least).worst
    cases = [
        (at_timeout(variant, least), worst),  # with the least safe timeout, nothing does
        (at_timeout(variant, lambda s: least(s) - 1), replace(worst, left=lambda s: 0)),
        (at_timeout(variant, lambda s: least(s) - 1), replace(worst, within=lambda s: s.waiting_time > 0)),
        (
            at_timeout(variant, lambda s: least(s) - 1),
            replace(worst, plan=lambda s: {**worst.plan(s), "sender_active": False}),
        ),
    ]
    for system, wrong in cases:
        with pytest.raises(UsageError, match="it is not true that"):
            decide_worst_run_obligations(system, system.find_property("strong-accuracy"), wrong)


@pytest.mark.parametrize(("variant", "delta", "phi"), every(7, INSTANCES))
def test_the_worst_run_is_replayed(variant: str, delta: int, phi: int) -> None:
    least = bound_of(variant, "accuracy")(State({"delta": delta, "phi": phi}))
    system = build_chandra_toueg(delta, phi, variant=variant, timeout=str(least - 1))
    claim = system.find_property("strong-accuracy")
    run = interpret_worst_run(system, claim, system.worst[0])
    assert not claim.holds(replay_run(system, run).last)


def test_a_system_with_another_phase_has_no_worst_run() -> None:
    system = build_chandra_toueg(1, 1)
    assert system.worst
    assert system.with_phase("send", system.phase("send").run).worst == ()
    assert build_chandra_toueg(1, 1, computation="asynchrony").worst == ()


@pytest.mark.slow
@variants
def test_what_to_configure(variant: str) -> None:
    numbers = {"delta": 3, "phi": 2}
    found = configure_detector(replace(job(variant), parameters=numbers), numbers, silent)
    assert found.failing_run is not None
    assert found.failing_run.steps[-1].state["suspected"] is True
    assert found.usual is not None
    assert found.usual.detection is not None
    assert found.least is not None
    latest = found.least.detection
    assert latest is not None
    assert (found.usual.timeout, found.usual.detection > latest) == (15, True)
    timeout = str(found.least.timeout)
    safe = build_chandra_toueg(3, 2, variant=variant, timeout=timeout)
    assert explore(safe, safe.find_property("strong-accuracy")).verdict is Verdict.PROVED
    crashing = build_chandra_toueg(3, 2, variant=variant, crash=True, timeout=timeout)

    def noticed_by(rounds: int) -> Verdict:
        claim = Property("noticed", lambda s: Implies(s.hlfsc >= rounds, s.suspected), "noticed in time")
        return explore(crashing, claim).verdict

    assert (noticed_by(latest), noticed_by(latest - 1)) == (Verdict.PROVED, Verdict.VIOLATED)


NAMES, LEAST, MODULI = ("delta", "phi"), {"delta": 0, "phi": 1}, (3, 2)
coefficients = st.integers(-3, 6)


@st.composite
def sums(draw: st.DrawFn) -> Polynomial:
    modulus = draw(st.sampled_from(MODULI))
    factors = [Factor(name, draw(st.sampled_from(ROUNDINGS)), modulus) for name in NAMES]
    return Polynomial((((), draw(coefficients)), *(((factor,), draw(coefficients)) for factor in factors)))


def formula_of(first: Polynomial, others: Polynomial | None) -> BoundFormula:
    if others is None:
        return BoundFormula((FormulaCase((), (), first),))
    return BoundFormula((FormulaCase((("phi", 1, False),), (), first), FormulaCase((("phi", 1, True),), (), others)))


@pytest.mark.slow
@given(sums(), st.none() | sums())
def test_a_formula_is_found_again(first: Polynomial, others: Polynomial | None) -> None:
    meant = formula_of(first, others)
    points = product(range(9), range(1, 9))
    measured: dict[tuple[int, ...], int] = {
        point: meant.evaluate_at(dict(zip(NAMES, point, strict=True))) for point in points
    }
    found = fit_formula(NAMES, LEAST, measured, [(), ("delta",), ("phi",)], MODULI)
    assert found is not None
    for point in product(range(0, 30, 7), range(1, 30, 5)):
        at = dict(zip(NAMES, point, strict=True))
        assert found.evaluate_at(at) == meant.evaluate_at(at)
        assert found.evaluate(State(at)) == meant.evaluate_at(at)


def test_what_is_no_formula_is_not_fitted() -> None:
    points = list(product(range(9), range(1, 5)))
    squares: dict[tuple[int, ...], int] = {(d, p): d * d + p for d, p in points}
    assert fit_formula(NAMES, LEAST, squares, [(), ("delta",), ("phi",)], MODULI) is None
    few: dict[tuple[int, ...], int] = {(d, p): d + p for d, p in points[:2]}
    assert fit_formula(NAMES, LEAST, few, [(), ("delta",), ("phi",)], MODULI) is None


def test_a_sum_is_what_an_option_takes() -> None:
    total = Polynomial((((Factor("delta", "down", 3),), 1), ((Factor("phi"),), 3), ((), -2)))
    assert str(total) == "(delta-delta%3)+3*phi-2"
    at = {"delta": 7, "phi": 2}
    assert parse_expression(str(total), set(at)).evaluate(at) == total.evaluate(State(at)) == 10


def test_instances_get_smaller_as_other_parameters_grow() -> None:
    found = [(values, len(along)) for values, along in enumerate_rows(find_model("chandra-toueg").parameters, 8)]
    assert found == [({"phi": 1}, 9), ({"phi": 2}, 6), ({"phi": 3}, 3)]
