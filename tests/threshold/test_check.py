"""Checking specifications for all parameters: verdicts and counterexamples, by both drivers."""

from dataclasses import replace

import pytest

from fdverify.errors import InternalError, UsageError
from fdverify.smt import second_opinion
from fdverify.smt.script import Decision
from fdverify.smt.solver import ArithmeticSolver, SolverAnswer
from fdverify.threshold.check_specification import ThresholdSettings, check, check_specifications
from fdverify.threshold.claims.bounded_growth import refuse_unbounded_growth
from fdverify.threshold.fixed_parameters import fix_parameters
from fdverify.threshold.runs import segments, step_order
from fdverify.threshold.text.read import parse_automaton
from fdverify.verdict import Verdict
from tests.sampling import every
from tests.threshold.small import COUNTS, DRIVERS, QUIET, TEXT, assuming, found, one

HOLDS, BROKEN = Verdict.PROVED, Verdict.VIOLATED
BACK_AND_FORTH = (f"A -> B when (true) {QUIET}", f"B -> A when (true) {QUIET}")
THROUGH = (f"A -> B when (true) {QUIET}", f"B -> C when (true) {QUIET}")


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize(
    ("claims", "verdicts"),
    [
        (("N > 3 * T", "T >= F", "T >= 1"), (HOLDS, HOLDS, HOLDS)),
        (("N >= 3 * T", "T >= F", "T >= 1"), (HOLDS, HOLDS, BROKEN)),
        (("N > 3 * T", "F <= T + 1", "T >= 1"), (BROKEN, BROKEN, BROKEN)),
    ],
)
def test_reliable_broadcast_needs_its_resilience_condition(
    claims: tuple[str, ...], verdicts: tuple[Verdict, ...], driver: str
) -> None:
    automaton = assuming(*claims)
    names = [specification.name for specification in automaton.specifications]
    assert tuple(found(automaton, name, driver).verdict for name in names) == verdicts


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_counterexample_has_as_few_processes_as_can_be(driver: str) -> None:
    example = found(assuming("N >= 3 * T", "T >= F", "T >= 1"), "relay", driver).trace
    assert example is not None
    assert example.parameters == {"N": 3, "T": 1, "F": 1}
    assert [(step.rule, step.processes) for step in example.steps] == [(1, 1), (5, 1)]
    assert example.loop == 2


@pytest.mark.parametrize("driver", every(2, DRIVERS))
@pytest.mark.parametrize("claim", ["N > 3 * T", "N >= 3 * T"])
def test_a_second_solver_agrees(claim: str, driver: str) -> None:
    automaton = assuming(claim, "T >= F", "T >= 1")
    for specification in automaton.specifications:
        alone = check(automaton, specification, ThresholdSettings(driver))
        assert check(automaton, specification, ThresholdSettings(driver, "cvc5")).verdict is alone.verdict


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_second_solver_that_does_not_know_or_disagrees(driver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    automaton = assuming("N > 3 * T", "T >= F", "T >= 1")
    settings = ThresholdSettings(driver, "cvc5")
    monkeypatch.setattr(
        second_opinion, "decide_with_solver", lambda script, name: Decision("unknown", reason="it is late")
    )
    checked = check(automaton, automaton.specifications[0], settings)
    assert (checked.verdict, checked.detail) == (Verdict.UNKNOWN, "cvc5 does not know: it is late")
    assert "(check-sat)" in (checked.undecided or "")
    monkeypatch.setattr(second_opinion, "decide_with_solver", lambda script, name: Decision("sat"))
    with pytest.raises(InternalError, match="two solvers disagree on unforgeability"):
        check(automaton, automaton.specifications[0], settings)


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_solver_that_gives_up_proves_nothing(driver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ArithmeticSolver, "ask", lambda self, *question: SolverAnswer("unknown", reason="too hard"))
    checked = found(assuming("N > 3 * T", "T >= F", "T >= 1"), "relay", driver)
    assert (checked.verdict, checked.detail) == (Verdict.UNKNOWN, "the solver gave up: too hard")


@pytest.mark.parametrize("driver", DRIVERS)
def test_an_encoding_that_allows_too_much_is_found_out_by_the_replay(
    driver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Flows that nothing feeds: the interpreter refuses to take the rules."""
    monkeypatch.setattr(segments.SymbolicRun, "_require_connected", lambda self, leg: None)
    monkeypatch.setattr(step_order, "_can_execute", lambda rules, values, claims: True)
    island = (f"A -> A when (true) {QUIET}", f"B -> C when (true) {QUIET}", f"C -> B when (x < T) {COUNTS}")
    with pytest.raises(InternalError, match="the replay refuses rule"):
        found(one(*island, spec="[](x == 0)"), driver=driver)


def test_certain_parameters() -> None:
    automaton = assuming("N >= 3 * T", "T >= F", "T >= 1")
    assert found(fix_parameters(automaton, {"N": 4, "T": 1, "F": 1}), "relay").verdict is HOLDS
    assert found(fix_parameters(automaton, {"N": 6, "T": 2}), "relay").verdict is BROKEN


def test_nothing_is_claimed_of_no_run() -> None:
    assert found(assuming("N < T", "T < N"), "relay").detail == "no run starts for any admissible parameters"
    odd = parse_automaton(TEXT.replace("unforgeability: V1 == 0 ->", "unforgeability: V1 > N ->"), "t")
    assert found(odd, "unforgeability").verdict is Verdict.VACUOUS
    assert found(odd, "unforgeability").detail.startswith("no run meets its premise")
    never = one(f"A -> B when (true) {QUIET}", spec="[](C != 0 -> <>(B != 0))")
    assert found(never).verdict is Verdict.VACUOUS
    chained = one(f"A -> B when (true) {QUIET}", spec="<>[](A == 0) -> (A == 1 -> [](x == 0))")
    assert found(chained).verdict is HOLDS


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_falling_guard_is_true_when_it_is_taken_for_the_last_time(driver: str) -> None:
    counted = one(f"A -> B when (x < T) {COUNTS}", f"A -> C when (x >= T) {QUIET}", spec="[](B == 0 || x <= T)")
    assert found(counted, driver=driver).verdict is HOLDS
    assert found(one(f"A -> B when (x < T) {COUNTS}", spec="[](x < T)"), driver=driver).verdict is BROKEN
    assert found(one(f"A -> B when (x < T) {COUNTS}", spec="[](x <= T)"), driver=driver).verdict is HOLDS


@pytest.mark.parametrize("driver", DRIVERS)
def test_guards_do_not_feed_each_other(driver: str) -> None:
    """Each of two rules needs what only the other one counts."""
    text = TEXT.replace("shared x;", "shared x, y, z;").replace("    x == 0;", "    x == 0; y == 0; z == 0;")
    ring = "9: V0 -> AC when (y >= 1) do { z' == z + 1; }; 10: V0 -> AC when (z >= 1) do { y' == y + 1; };"
    automaton = parse_automaton(text.replace("8: AC -> AC", f"{ring} 8: AC -> AC"), "t")
    assert found(automaton, "unforgeability", driver).verdict is HOLDS


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_claim_may_give_way_in_the_step_that_reaches_its_threshold(driver: str) -> None:
    """The last process leaves A, and by that step x >= 1 holds instead."""
    automaton = one(f"A -> B when (true) {COUNTS}", spec="[](A != 0 || x >= 1) -> [](B == 0)")
    assert found(automaton, driver=driver).verdict is BROKEN
    assert found(one(f"A -> B when (true) {QUIET}", spec="[](A != 0 || x >= 1) -> [](A != 0)")).verdict is HOLDS


@pytest.mark.parametrize("driver", DRIVERS)
def test_an_empty_location_is_not_passed_through(driver: str) -> None:
    assert found(one(*THROUGH, spec="[](C == 0) || <>(B != 0)"), driver=driver).verdict is HOLDS
    around = (*THROUGH, f"A -> C when (true) {QUIET}")
    assert found(one(*around, spec="[](C == 0) || <>(B != 0)"), driver=driver).verdict is BROKEN


@pytest.mark.parametrize("driver", DRIVERS)
def test_the_only_process_cannot_leave_and_be_there(driver: str) -> None:
    """From A through B to C: with one process, A and C are both empty in between; with two they need not be."""
    spec = "[](A != 0 || C != 0) -> [](C == 0)"
    assert found(fix_parameters(one(*THROUGH, spec=spec), {"N": 1}), driver=driver).verdict is HOLDS
    example = found(one(*THROUGH, spec=spec), driver=driver).trace
    assert example is not None
    assert example.parameters["N"] == 2


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize(("processes", "verdict"), [(1, Verdict.VACUOUS), (2, HOLDS), (3, BROKEN)])
def test_several_sets_stay_inhabited(processes: int, verdict: Verdict, driver: str) -> None:
    """All go from A or B to C or D, and neither side is ever left empty: one must hold each place while one moves."""
    cross = (f"A -> D when (true) {QUIET}", f"B -> C when (true) {QUIET}", f"D -> A when (true) {QUIET}")
    spec = "[](A + C != 0) && [](B + D != 0) -> [](A != 0 || B != 0)"
    automaton = one(*cross, spec=spec, locations="A B C D", init="A + B == N; C == 0; D == 0; x == 0;")
    assert found(fix_parameters(automaton, {"N": processes}), driver=driver).verdict is verdict


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_loop_does_what_must_happen_again_and_again(driver: str) -> None:
    checked = found(one(*BACK_AND_FORTH, spec="[]<>(A == 0) -> !([]<>(B == 0))"), driver=driver)
    assert checked.verdict is BROKEN
    assert checked.trace is not None
    assert len(checked.trace.steps) - checked.trace.loop == 2
    assert found(one(*THROUGH, spec="[]<>(A == 0) -> !([]<>(A != 0))"), driver=driver).verdict is HOLDS


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_loop_does_not_count(driver: str) -> None:
    """Who goes round counts, and once T have been counted nobody does."""
    rules = (f"A -> B when (x < T) {COUNTS}", f"B -> A when (true) {QUIET}")
    assert found(one(*rules, spec="[]<>(A == 0) -> !([]<>(B == 0))"), driver=driver).verdict is HOLDS


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_loop_keeps_what_holds_in_the_end(driver: str) -> None:
    """With two processes one can hold A while the other one goes round, with one it cannot."""
    spec = "<>[](A != 0) && []<>(B != 0) -> !([]<>(B == 0))"
    assert found(fix_parameters(one(*BACK_AND_FORTH, spec=spec), {"N": 1}), driver=driver).verdict is Verdict.VACUOUS
    assert found(fix_parameters(one(*BACK_AND_FORTH, spec=spec), {"N": 2}), driver=driver).verdict is BROKEN


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_cycle_is_not_fed_from_nowhere(driver: str) -> None:
    island = (f"A -> A when (true) {QUIET}", f"B -> C when (true) {QUIET}", f"C -> B when (x < T) {COUNTS}")
    assert found(one(*island, spec="[](x == 0)"), driver=driver).verdict is HOLDS
    bridged = (*island, f"A -> B when (true) {QUIET}")
    assert found(one(*bridged, spec="[](x == 0)"), driver=driver).verdict is BROKEN


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_run_may_stop_unless_fairness_forbids_it(driver: str) -> None:
    rule = f"A -> B when (true) {QUIET}"
    assert found(one(rule, spec="<>(B != 0)"), driver=driver).verdict is BROKEN
    assert found(one(rule, spec="<>[](A == 0) -> <>(B != 0)"), driver=driver).verdict is HOLDS
    assert found(one(rule, spec="[]<>(A == 0) -> <>(B != 0)"), driver=driver).verdict is HOLDS


@pytest.mark.parametrize("claim", ["A != A", "A < A", "0 == 1", "A != A && x >= 5", "!(x > 9 || (A == A && B <= B))"])
def test_what_is_never_so_does_not_come_about(claim: str) -> None:
    """Names that cancel out are no claim about locations."""
    assert found(one(f"A -> B when (true) {QUIET}", spec=f"<>({claim})")).verdict is BROKEN
    assert found(one(f"A -> B when (true) {QUIET}", spec=f"[]!({claim})")).verdict is HOLDS


def test_counting_without_a_bound_is_refused() -> None:
    with pytest.raises(UsageError, match="rule 0 is on a cycle and counts without a bound"):
        refuse_unbounded_growth(one(f"A -> A when (true) {COUNTS}", spec="[](B == 0)"))
    refuse_unbounded_growth(one(f"A -> A when (x < T + 1) {COUNTS}", spec="[](B == 0)"))


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("<>(A == 0 && <>(B == 0))", "over a disjunction of different temporal formulas is not supported"),
        ("<>(A > 2)", "a claim that must hold for good is not supported"),
        ("<>(A != 0 && B != 0)", "a claim that must hold for good is not supported"),
    ],
)
def test_what_is_not_decided_is_refused_with_the_reason(spec: str, says: str) -> None:
    automaton = one(f"A -> B when (true) {QUIET}", spec=spec)
    with pytest.raises(UsageError, match=says):
        check(automaton, automaton.specifications[0])
    with pytest.raises(UsageError, match=says):
        check_specifications(automaton, automaton.specifications, ThresholdSettings())


def test_a_guard_that_may_change_twice_is_refused() -> None:
    text = TEXT.replace("shared x;", "shared x, y;").replace("x >= SOME_CORRECT)", "x >= y)")
    automaton = parse_automaton(text, "t")
    with pytest.raises(UsageError, match="the truth of x - y >= 0 may change more than once"):
        check(automaton, automaton.specifications[0])


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("name", ["rule0", "moment1", "times", "order", "assert"])
def test_a_name_means_nothing_to_the_solver(name: str, driver: str) -> None:
    """An unknown of the solver's must not be one of the automaton's numbers."""
    text = f"""skel A {{ shared {name}; parameters N; assumptions {{ N >= 1; }} locations {{ A: []; B: []; }}
      inits {{ A == N; B == 0; {name} == 0; }} rules {{ 0: A -> B when (true) do {{ {name}' == {name} + 2; }}; }}
      specifications {{ s: []({name} == 0); t: <>(B == 0 && {name} == 0); }} }}"""
    assert found(parse_automaton(text, "t"), "s", driver).verdict is BROKEN
    assert (
        check(
            parse_automaton(text, "t"), parse_automaton(text, "t").specifications[0], ThresholdSettings(driver, "cvc5")
        ).verdict
        is BROKEN
    )


@pytest.mark.parametrize("name", ["A@1", "times 0@1", "", "A"])
def test_names_that_mean_something_are_refused(name: str) -> None:
    automaton = one(f"A -> B when (true) {QUIET}", spec="[](B == 0)")
    with pytest.raises(UsageError, match=r"cannot be a name|declared twice"):
        replace(automaton, shared=(name,))


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_run_that_is_too_long_to_be_replayed_is_unknown(driver: str) -> None:
    automaton = fix_parameters(one(f"A -> B when (true) {COUNTS}", spec="[](B < N)"), {"N": 10**9})
    checked = found(automaton, driver=driver)
    assert checked.verdict is Verdict.UNKNOWN
    assert "a run of 1000000000 steps" in checked.detail


def balanced(claims: list[str], sign: str) -> str:
    """Many claims, nested no more deeply than must be."""
    if len(claims) == 1:
        return claims[0]
    middle = len(claims) // 2
    return f"({balanced(claims[:middle], sign)} {sign} {balanced(claims[middle:], sign)})"


@pytest.mark.slow
def test_long_formulas_are_not_nested_deeply() -> None:
    claims = [f"x >= {number}" for number in range(1, 1500)]
    for formula in (balanced([*claims, "A == 0"], "&&"), f"{balanced(claims, '||')} || []<>(A == 0)"):
        assert found(one(f"A -> B when (true) {COUNTS}", spec=f"<>({formula})")).verdict is BROKEN


def test_a_claim_with_too_many_clauses_is_refused_at_once() -> None:
    many = " || ".join(f"(A != 0 && x < {number})" for number in range(1, 30))
    automaton = one(f"A -> B when (true) {COUNTS}", spec=f"<>!({many})")
    with pytest.raises(UsageError, match="has more than 200 clauses"):
        check_specifications(automaton, automaton.specifications, ThresholdSettings(), time_limit=1)


def test_a_premise_that_is_not_decided_proves_nothing() -> None:
    """The goal holds anyway, so that it was not refused; whether any run meets the premise is another question."""
    checked = found(one(f"A -> B when (true) {COUNTS}", spec="[](A != 1) -> [](x >= 0)"))
    assert checked.verdict is Verdict.UNKNOWN
    assert checked.detail.startswith("whether it is vacuous: s: a claim that must hold for good")
