"""Checking specifications for all parameters: verdicts, counterexamples, bad input."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from fdverify.threshold.specification import shapes

from fdverify.errors import InternalError, UsageError
from fdverify.smt import second
from fdverify.smt.decide import Decision
from fdverify.threshold.automaton import Automaton
from fdverify.threshold.check import Checked, check, refuse_unbounded, with_parameters
from fdverify.threshold.interpret import starts, taken
from fdverify.threshold.temporal import holds_of_run
from fdverify.threshold.text.read import read, read_assumption
from fdverify.verdict import Verdict
from tests.cli.script import run

STRB = Path(__file__).parents[2] / "examples" / "threshold" / "strb.ta"
TEXT = STRB.read_text()
HOLDS, BROKEN = Verdict.PROVED, Verdict.VIOLATED


def assuming(*claims: str) -> Automaton:
    automaton = read(TEXT, "strb.ta")
    return replace(automaton, assumptions=tuple(read_assumption(claim, automaton) for claim in claims))


def found(automaton: Automaton, name: str) -> Checked:
    (specification,) = (each for each in automaton.specifications if each.name == name)
    checked = check(automaton, specification)
    if checked.counterexample is not None:
        example = checked.counterexample
        assert starts(automaton, example.start)
        configurations = [example.start]
        for step, after in example.steps:
            for _ in range(step.processes):
                following = taken(replace(step, processes=1), configurations[-1])
                assert following is not None
                configurations.append(following)
            assert configurations[-1] == after
        assert not holds_of_run(specification.formula, configurations)
    return checked


@pytest.mark.parametrize(
    ("claims", "verdicts"),
    [
        (("N > 3 * T", "T >= F", "T >= 1"), (HOLDS, HOLDS, HOLDS)),
        (("N >= 3 * T", "T >= F", "T >= 1"), (HOLDS, HOLDS, BROKEN)),
        (("N > 3 * T", "F <= T + 1", "T >= 1"), (BROKEN, BROKEN, BROKEN)),
    ],
)
def test_reliable_broadcast_needs_its_resilience_condition(
    claims: tuple[str, ...], verdicts: tuple[Verdict, ...]
) -> None:
    automaton = assuming(*claims)
    names = [specification.name for specification in automaton.specifications]
    assert tuple(found(automaton, name).verdict for name in names) == verdicts


def test_a_counterexample_has_as_few_processes_as_can_be() -> None:
    example = found(assuming("N >= 3 * T", "T >= F", "T >= 1"), "relay").counterexample
    assert example is not None
    assert example.parameters == {"N": 3, "T": 1, "F": 1}
    assert len(example.steps) <= 3


@pytest.mark.parametrize("claim", ["N > 3 * T", "N >= 3 * T"])
def test_a_second_solver_agrees(claim: str) -> None:
    automaton = assuming(claim, "T >= F", "T >= 1")
    for specification in automaton.specifications:
        assert check(automaton, specification, "cvc5").verdict is check(automaton, specification).verdict


def test_a_second_solver_that_does_not_know_or_disagrees(monkeypatch: pytest.MonkeyPatch) -> None:
    automaton = assuming("N > 3 * T", "T >= F", "T >= 1")
    monkeypatch.setattr(second, "second_opinion", lambda script, name: Decision("unknown", reason="it is late"))
    assert check(automaton, automaton.specifications[0], "cvc5").verdict is Verdict.UNKNOWN
    monkeypatch.setattr(second, "second_opinion", lambda script, name: Decision("sat"))
    with pytest.raises(InternalError, match="two solvers disagree on unforgeability"):
        check(automaton, automaton.specifications[0], "cvc5")


def test_certain_parameters() -> None:
    automaton = assuming("N >= 3 * T", "T >= F", "T >= 1")
    assert found(with_parameters(automaton, {"N": 4, "T": 1, "F": 1}), "relay").verdict is HOLDS
    assert found(with_parameters(automaton, {"N": 6, "T": 2}), "relay").verdict is BROKEN


def test_nothing_is_claimed_of_no_run() -> None:
    automaton = read(TEXT, "strb.ta")
    assert found(assuming("N < T", "T < N"), "relay").verdict is Verdict.VACUOUS
    odd = read(TEXT.replace("unforgeability: V1 == 0 ->", "unforgeability: V1 > N ->"), "t")
    assert found(odd, "unforgeability").detail.startswith("no run meets its premise")
    assert found(automaton, "unforgeability").verdict is HOLDS


def one(*rules: str, spec: str, locations: str = "A B C", init: str = "A == N; x == 0;") -> Automaton:
    """A small automaton over N, T and x."""
    names = locations.split()
    places = " ".join(f"{name}: [{at}];" for at, name in enumerate(names))
    numbered = " ".join(f"{at}: {rule};" for at, rule in enumerate(rules))
    rest = " ".join(f"{name} == 0;" for name in names if name not in init)
    text = f"skel A {{ local pc; shared x; parameters N, T; assumptions {{ N >= 1; T >= 1; }} locations {{ {places} }} "
    return read(f"{text} inits {{ {init} {rest} }} rules {{ {numbered} }} specifications {{ s: {spec}; }} }}", "t")


QUIET, COUNTS = "do { }", "do { x' == x + 1; }"


def test_a_falling_guard_is_true_when_it_is_taken_for_the_last_time() -> None:
    counted = one(f"A -> B when (x < T) {COUNTS}", f"A -> C when (x >= T) {QUIET}", spec="[](B == 0 || x <= T)")
    assert found(counted, "s").verdict is HOLDS
    assert found(one(f"A -> B when (x < T) {COUNTS}", spec="[](x < T)"), "s").verdict is BROKEN
    assert found(one(f"A -> B when (x < T) {COUNTS}", spec="[](x <= T)"), "s").verdict is HOLDS


def test_an_empty_location_is_not_passed_through() -> None:
    through = (f"A -> B when (true) {QUIET}", f"B -> C when (true) {QUIET}")
    assert found(one(*through, spec="<>(B != 0) || C == 0 || A == 0 -> <>(B != 0) || [](C == 0)"), "s").verdict is HOLDS
    assert found(one(*through, spec="[](C == 0) || <>(B != 0)"), "s").verdict is HOLDS


def test_the_only_process_cannot_leave_and_be_there() -> None:
    """From A through B to C: with one process, A and C are both empty in between; with two they need not be."""
    through = (f"A -> B when (true) {QUIET}", f"B -> C when (true) {QUIET}")
    spec = "[](A != 0 || C != 0) -> [](C == 0)"
    alone = with_parameters(one(*through, spec=spec), {"N": 1})
    assert found(alone, "s").verdict is HOLDS
    example = found(one(*through, spec=spec), "s").counterexample
    assert example is not None
    assert example.parameters["N"] == 2


def test_a_cycle_is_not_fed_from_nowhere() -> None:
    island = (f"A -> A when (true) {QUIET}", f"B -> C when (true) {QUIET}", f"C -> B when (x < T) {COUNTS}")
    assert found(one(*island, spec="[](x == 0)"), "s").verdict is HOLDS
    bridged = (*island, f"A -> B when (true) {QUIET}")
    assert found(one(*bridged, spec="[](x == 0)"), "s").verdict is BROKEN


def test_a_run_may_stop_unless_fairness_forbids_it() -> None:
    rule = f"A -> B when (true) {QUIET}"
    assert found(one(rule, spec="<>(B != 0)"), "s").verdict is BROKEN
    assert found(one(rule, spec="<>[](A == 0) -> <>(B != 0)"), "s").verdict is HOLDS


@pytest.mark.parametrize("claim", ["A != A", "A < A", "0 == 1", "A != A && x >= 5", "!(x > 9 || (A == A && B <= B))"])
def test_what_is_never_so_does_not_come_about(claim: str) -> None:
    """Names that cancel out are no claim about locations."""
    assert found(one(f"A -> B when (true) {QUIET}", spec=f"<>({claim})"), "s").verdict is BROKEN
    assert found(one(f"A -> B when (true) {QUIET}", spec=f"[]!({claim})"), "s").verdict is HOLDS


def test_counting_without_a_bound_is_refused() -> None:
    with pytest.raises(UsageError, match="rule 0 is on a cycle and counts without a bound"):
        refuse_unbounded(one(f"A -> A when (true) {COUNTS}", spec="[](B == 0)"))
    refuse_unbounded(one(f"A -> A when (x < T + 1) {COUNTS}", spec="[](B == 0)"))


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("[]<>(A == 0) -> <>(B != 0)", "does something again and again"),
        ("<>(A > 2)", "what holds for good must say that locations are empty"),
        ("<>(A == 0) || <>(B == 0)", "several sets of locations"),
    ],
)
def test_what_is_not_decided_is_refused_with_the_reason(spec: str, says: str) -> None:
    automaton = one(f"A -> B when (true) {QUIET}", spec=spec)
    with pytest.raises(UsageError, match=says):
        check(automaton, automaton.specifications[0])


def test_a_guard_that_may_change_twice_is_refused() -> None:
    text = TEXT.replace("shared x;", "shared x, y;").replace("x >= SOME_CORRECT)", "x >= y)")
    automaton = read(text, "t")
    with pytest.raises(UsageError, match="whether x >= y may change more than once"):
        check(automaton, automaton.specifications[0])


def test_the_shapes_of_runs_that_break_a_specification() -> None:
    relay = read(TEXT, "t").specifications[2]
    (shape,) = shapes("relay", relay.formula)
    assert [moment.after for moment in shape.moments] == [None, 0, 0]
    assert [len(moment.for_good) for moment in shape.moments] == [0, 3, 1]


def test_the_command_line() -> None:
    outcome = run("threshold", "check", str(STRB))
    assert outcome.code == 0
    assert re.findall(r"^(\w+): proved", outcome.stdout, flags=re.MULTILINE) == [
        "unforgeability",
        "correctness",
        "relay",
    ]
    broken = run(
        "threshold", "check", str(STRB), "--assume", "N >= 3*T", "--assume", "F <= T", "--spec", "relay", "--json"
    )
    assert broken.code == 1
    (entry,) = json.loads(broken.stdout)["specifications"]
    assert entry["verdict"] == "violated"
    assert entry["counterexample"]["parameters"] == {"N": 3, "T": 1, "F": 1}
    assert run("threshold", "check", str(STRB), "--assume", "N < 0").code == 4
    assert run("threshold", "check", str(STRB), "--spec", "relay", "--second-opinion", "cvc5").code == 0
    late = run("threshold", "check", str(STRB), "--time-limit", "0.01")
    assert late.code == 3
    assert late.stdout.count("unknown") == 3
    assert run("threshold", "show", str(STRB)).stdout.startswith("flowchart LR\n")


BAD = {
    "an unknown specification": (("--spec", "rely"), "has no specification rely (hint: did you mean relay?)"),
    "an unknown parameter": (("--set", "M=3"), "STRB has no parameter M (hint: there are N, T, F)"),
    "an inadmissible parameter": (("--set", "N=3,T=1,F=1"), "is not admissible: an assumption of STRB does not hold"),
    "no number": (("--set", "N=three"), "--set N=three: this is no NAME=NUMBER"),
    "a negative one": (("--set", "N=-3"), "N must be at least 0, got -3"),
    "the same twice": (("--set", "N=4,N=5"), "--set gives N twice"),
    "an assumption about messages": (
        ("--assume", "x > 1"),
        "--assume:1:1: x is a shared variable, which is not spoken of here",
    ),
    "no claim": (("--assume", "N +"), "--assume:1:3: the text ends too early"),
}


@pytest.mark.parametrize(("arguments", "says"), BAD.values(), ids=BAD)
def test_bad_input_is_one_line(arguments: tuple[str, ...], says: str) -> None:
    outcome = run("threshold", "check", str(STRB), *arguments)
    assert outcome.code == 2
    assert outcome.stdout == ""
    assert outcome.stderr.count("\n") == 1
    assert says in outcome.stderr


def test_a_bad_file_is_one_line(tmp_path: Path) -> None:
    odd = tmp_path / "odd.ta"
    odd.write_text("skel A {\n  shared x\n}\n")
    for command in ("check", "show"):
        outcome = run("threshold", command, str(odd))
        assert outcome.code == 2
        assert re.fullmatch(r"error: .*odd\.ta:3:1: '}' was not expected here\n", outcome.stderr)
