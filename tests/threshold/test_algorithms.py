"""The algorithms in examples/threshold: what holds of them, and that each claim fails if an algorithm is made wrong."""

import csv
import re
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

from fdverify.threshold.automaton import Automaton
from fdverify.threshold.check_specification import SpecificationResult
from fdverify.threshold.ltl_formula import Constant, Eventually, iterate_subformulas
from fdverify.threshold.text.read import parse_automaton
from fdverify.verdict import Verdict
from tests.sampling import every
from tests.threshold.oracle import holds
from tests.threshold.oracle.starts import TooLargeError
from tests.threshold.small import found

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "threshold"
FILES = ("frb", "strb", "nbac", "nbacc", "nbacg", "aba", "cbc", "cf1s", "c1cs", "bosco")
with (ROOT / "tests" / "data" / "algorithms.csv").open(newline="") as lines:
    VERDICTS = tuple(csv.DictReader(lines))

ONE_FAULT_MORE = ("    T >= F;", "    T + 1 >= F;")
A_THIRD = ("    N > 3 * T;", "    N >= 3 * T;")
HALF = ("    N > 3 * T;", "    N >= 2 * T;")
ANOTHER_OUTCOME = ("define CAN_ABORT == a >= ONE && oc < ONE;", "define CAN_ABORT == a >= ONE;")
ONE_VOTE_LESS = ("define EVERYBODY == N;", "define EVERYBODY == N - 1;")
ONE_VOTE_MORE = ("define EVERYBODY == N;", "define EVERYBODY == N + 1;")
NO_YES_SENT = ("1: VY -> SE when (true) do { y' == y + 1; };", "1: VY -> SE when (true) do { };")
SILENT_SUSPICION = ("do { a' == a + 1; s' == s + 1; };", "do { a' == a + 1; };")
LARGER_VIEW = ("define VIEW == N - T;", "define VIEW == N - T + 1;")
NO_0_SENT = ("1: V0 -> S0 when (true) do { x0' == x0 + 1; };", "1: V0 -> S0 when (true) do { };")
NO_1_SENT = ("2: V1 -> S1 when (true) do { x1' == x1 + 1; };", "2: V1 -> S1 when (true) do { };")
LEFT_OVER = ("define LEFT == T + 1;", "define LEFT == T + 2;")
MOSTLY_0_IF_ALL = ("x0 + c0 >= ADOPT && x1 + c1 >= 1;", "x0 + c0 >= ADOPT;")
MOSTLY_1_IF_ALL = ("x1 + c1 >= ADOPT && x0 + c0 >= 1;", "x1 + c1 >= ADOPT;")
SENDS_0 = "when (true) do { x0' == x0 + 1; };"
SENDS_1 = "when (true) do { x1' == x1 + 1; };"
DECIDES = "when (ALL0 || TOLD0)"
DECIDING = "define DECIDING == N + 3 * T;"
ALL_OF_ABA = "unforgeability0 unforgeability1 one_ready agreement correctness0 correctness1 relay0 relay1"
FAST0 = "fast0_without_crash fast0_one_crash fast0_crashes"
FAST1 = "fast1_without_crash fast1_one_crash fast1_crashes"
FAST_WITH_CRASH = "fast0_one_crash fast0_crashes fast1_one_crash fast1_crashes"
STRONGLY = "strongly_one_step0 strongly_one_step1 strongly_fast0 strongly_fast1"
WEAKLY = "weakly_one_step0 weakly_one_step1 weakly_fast0 weakly_fast1"

# What is wrong, and all specifications that it breaks.
MUTANTS: tuple[tuple[str, tuple[str, str], str], ...] = (
    ("frb", ("define FIRST == 1;", "define FIRST == 0;"), "unforgeability"),
    ("frb", ("3: RE -> AC when (true) do { };", "3: RE -> AC when (true) do { x' == x + 1; };"), "integrity"),
    (
        "frb",
        ("2: V0 -> RE when (RECEIVED) do { x' == x + 1; };", "2: V0 -> RE when (RECEIVED) do { };"),
        "sent_before_delivery agreement",
    ),
    (
        "frb",
        ("1: V1 -> RE when (true) do { x' == x + 1; };", "1: V1 -> RE when (true) do { };"),
        "sent_before_delivery validity agreement",
    ),
    ("frb", ("    N > F;", "    N >= F;"), "correctness"),
    ("strb", ("define SOME_CORRECT == T + 1 - F;", "define SOME_CORRECT == T - F;"), "unforgeability"),
    ("strb", ONE_FAULT_MORE, "unforgeability correctness relay"),
    ("strb", A_THIRD, "relay"),
    ("nbac", ANOTHER_OUTCOME, "agreement"),
    ("nbac", ONE_VOTE_LESS, "commit_validity"),
    ("nbac", SILENT_SUSPICION, "abort_validity non_triviality"),
    ("nbac", ("&& n < ONE && f < ONE);", "&& n < ONE);"), "termination"),
    ("nbac", NO_YES_SENT, "termination non_triviality"),
    ("nbac", ONE_VOTE_MORE, "termination non_triviality"),
    ("nbacc", ANOTHER_OUTCOME, "agreement"),
    ("nbacc", ONE_VOTE_LESS, "commit_validity same_proposals"),
    ("nbacc", SILENT_SUSPICION, "abort_validity same_proposals non_triviality"),
    ("nbacc", ("&& f < ONE);", ");"), "termination"),
    ("nbacc", NO_YES_SENT, "termination non_triviality"),
    ("nbacc", ONE_VOTE_MORE, "termination non_triviality"),
    ("nbacg", ANOTHER_OUTCOME, "agreement"),
    ("nbacg", ONE_VOTE_LESS, "commit_validity aborts"),
    ("nbacg", ("5: SE -> PA when (FAILURE)", "5: SE -> PA when (true)"), "abort_validity commits"),
    ("nbacg", ("&& !(FAILURE));", ");"), "termination aborts"),
    ("nbacg", ONE_VOTE_MORE, "termination commits aborts"),
    ("aba", ("define SOME_CORRECT == T + 1;", "define SOME_CORRECT == T;"), ALL_OF_ABA),
    ("aba", ("define ECHOES == N + T;", "define ECHOES == N + T - 1;"), "one_ready agreement relay0 relay1"),
    ("aba", ONE_FAULT_MORE, ALL_OF_ABA),
    ("aba", A_THIRD, "correctness0 correctness1 relay0 relay1"),
    ("cbc", (f"2: V1 -> P {SENDS_1}", f"2: V1 -> P {SENDS_0}"), "validity0 condition1 termination1"),
    ("cbc", (f"1: V0 -> P {SENDS_0}", f"1: V0 -> P {SENDS_1}"), "validity1 condition0 termination0"),
    ("cbc", ("define MAJORITY == N;", "define MAJORITY == N - 1;"), "agreement"),
    ("cbc", ("x0 + c0 >= HALF &&", "x0 + c0 > HALF &&"), "no_deadlock"),
    ("cbc", ("2 * x1 + 2 * c1 > VIEW;", "2 * x1 + 2 * c1 + 2 > VIEW;"), "condition0 termination0"),
    ("cbc", ("2 * x0 + 2 * c0 > VIEW;", "2 * x0 + 2 * c0 + 2 > VIEW;"), "condition1 termination1"),
    ("cbc", ("    N > 2 * T;", "    N >= 2 * T;"), "termination0 termination1"),
    ("cbc", ONE_FAULT_MORE, "termination0 termination1 progress"),
    (
        "cf1s",
        HALF,
        f"validity0 validity1 agreement locked0 locked1 one_step0 one_step1 {FAST0} {FAST1} stable0 stable1",
    ),
    ("cf1s", A_THIRD, "locked0 locked1"),
    ("cf1s", LEFT_OVER, "no_deadlock"),
    ("cf1s", MOSTLY_0_IF_ALL, f"one_step0 {FAST0} stable0"),
    ("cf1s", MOSTLY_1_IF_ALL, f"one_step1 {FAST1} stable1"),
    ("cf1s", NO_0_SENT, f"{FAST0} stable0 stable1 termination"),
    ("cf1s", NO_1_SENT, f"{FAST1} stable0 stable1 termination"),
    ("cf1s", LARGER_VIEW, f"{FAST_WITH_CRASH} stable0 stable1 termination"),
    ("cf1s", ONE_FAULT_MORE, "fast0_crashes fast1_crashes stable0 stable1 termination"),
    ("c1cs", HALF, f"validity0 validity1 agreement locked0 locked1 one_step0 one_step1 {FAST0} {FAST1}"),
    ("c1cs", A_THIRD, "agreement locked0 locked1"),
    ("c1cs", LEFT_OVER, "no_deadlock"),
    ("c1cs", MOSTLY_0_IF_ALL, f"one_step0 {FAST0}"),
    ("c1cs", MOSTLY_1_IF_ALL, f"one_step1 {FAST1}"),
    ("c1cs", NO_0_SENT, f"{FAST0} termination"),
    ("c1cs", NO_1_SENT, f"{FAST1} termination"),
    ("c1cs", LARGER_VIEW, f"{FAST_WITH_CRASH} termination"),
    ("c1cs", ONE_FAULT_MORE, "fast0_crashes fast1_crashes termination"),
    ("c1cs", (f"3: S0 -> D0 {DECIDES} do {{ d0' == d0 + 1; }};", f"3: S0 -> D0 {DECIDES} do {{ }};"), "termination"),
    ("bosco", ONE_FAULT_MORE, f"validity0 validity1 agreement locked0 locked1 {STRONGLY} termination"),
    ("bosco", (DECIDING, "define DECIDING == N + 3 * T - 2;"), "agreement locked0 locked1"),
    ("bosco", (DECIDING, "define DECIDING == N - T;"), "agreement one_decision locked0 locked1"),
    ("bosco", (DECIDING, "define DECIDING == N + 3 * T + 2;"), f"{STRONGLY} {WEAKLY}"),
    ("bosco", ("2 * x1 + 2 * F >= 2 * VOTES - DECIDING;", "2 * x1 + 2 * F > 2 * VOTES - DECIDING;"), "no_deadlock"),
)

# So small that all configurations can be listed.
SIZES = (
    ("frb", ({"N": 3, "F": 2}, {"N": 5, "F": 2})),
    ("strb", ({"N": 4, "T": 1, "F": 1}, {"N": 5, "T": 1, "F": 0})),
    ("nbac", ({"N": 3, "F": 1}, {"N": 3, "F": 2})),
    ("nbacc", ({"N": 3, "F": 1}, {"N": 3, "F": 2})),
    ("nbacg", ({"N": 3, "F": 1}, {"N": 4, "F": 1})),
    ("aba", ({"N": 4, "T": 1, "F": 1}, {"N": 5, "T": 1, "F": 1})),
    ("cbc", ({"N": 3, "T": 1, "F": 1, "HALF": 1}, {"N": 4, "T": 1, "F": 1, "HALF": 2})),
    ("cf1s", ({"N": 4, "T": 1, "F": 1}, {"N": 5, "T": 1, "F": 1})),
    ("c1cs", ({"N": 4, "T": 1, "F": 1}, {"N": 5, "T": 1, "F": 0})),
    ("bosco", ({"N": 4, "T": 1, "F": 1}, {"N": 6, "T": 1, "F": 0}, {"N": 8, "T": 1, "F": 1})),
)


def text(file: str, *changes: tuple[str, str]) -> str:
    changed = (EXAMPLES / f"{file}.ta").read_text()
    for old, new in changes:
        assert changed.count(old) == 1, old
        changed = changed.replace(old, new)
    return changed


@cache
def algorithm(file: str, *changes: tuple[str, str]) -> Automaton:
    return parse_automaton(text(file, *changes), f"{file}.ta")


@cache
def mutated(file: str, change: tuple[str, str], name: str) -> SpecificationResult:
    return found(algorithm(file, change), name)


def names(automaton: Automaton) -> list[str]:
    return [specification.name for specification in automaton.specifications]


def test_every_specification_has_a_verdict_and_a_mutant() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.ta")} == set(FILES)
    expected = [
        (
            f"{file}.ta",
            each.name,
            "liveness" if any(isinstance(part, Eventually) for part in iterate_subformulas(each.formula)) else "safety",
        )
        for file in FILES
        for each in algorithm(file).specifications
    ]
    assert [(row["file"], row["specification"], row["kind"]) for row in VERDICTS] == expected
    for file in FILES:
        assert {name for where, _, broken in MUTANTS if where == file for name in broken.split()} == set(
            names(algorithm(file))
        )


@pytest.mark.parametrize("row", every(4, VERDICTS), ids=lambda row: f"{row['file']}-{row['specification']}")
def test_verdicts(row: dict[str, str]) -> None:
    assert found(algorithm(row["file"].removesuffix(".ta")), row["specification"]).word == row["verdict"]


@pytest.mark.parametrize(("file", "change", "broken"), every(3, MUTANTS))
def test_a_mutant_is_found_out(file: str, change: tuple[str, str], broken: str) -> None:
    for name in broken.split():
        assert mutated(file, change, name).verdict is Verdict.VIOLATED, name


@pytest.mark.parametrize(("file", "change", "broken"), every(20, MUTANTS))
def test_a_mutant_breaks_nothing_else(file: str, change: tuple[str, str], broken: str) -> None:
    for name in set(names(algorithm(file))) - set(broken.split()):
        assert mutated(file, change, name).verdict is Verdict.PROVED, name


@pytest.mark.parametrize(
    ("name", "premise", "weaker", "smallest"),
    [
        ("strongly_one_step0", "N > 7 * T", "N >= 7 * T", {"N": 7, "T": 1, "F": 1}),
        ("strongly_one_step1", "N > 7 * T", "N >= 7 * T", {"N": 7, "T": 1, "F": 1}),
        ("strongly_fast0", "N > 7 * T", "N >= 7 * T", {"N": 7, "T": 1, "F": 1}),
        ("strongly_fast1", "N > 7 * T", "N >= 7 * T", {"N": 7, "T": 1, "F": 1}),
        ("weakly_one_step0", "N > 5 * T", "N >= 5 * T", {"N": 5, "T": 1, "F": 0}),
        ("weakly_fast0", "N > 5 * T", "N >= 5 * T", {"N": 5, "T": 1, "F": 0}),
        ("weakly_one_step0", "F == 0 && N > 5 * T", "F <= 1 && N > 5 * T", {"N": 6, "T": 1, "F": 1}),
        ("weakly_fast0", "F == 0 && N > 5 * T", "F <= 1 && N > 5 * T", {"N": 6, "T": 1, "F": 1}),
    ],
)
def test_bosco_is_one_step_only_if_enough_processes_are_correct(
    name: str, premise: str, weaker: str, smallest: dict[str, int]
) -> None:
    start = re.search(rf"    {name}:.*?;", text("bosco"), re.DOTALL)
    assert start is not None
    example = found(algorithm("bosco", (start[0], start[0].replace(premise, weaker))), name).trace
    assert example is not None
    assert example.parameters == smallest


@pytest.mark.parametrize("value", [0, 1])
def test_cf1s_is_not_fast_if_more_than_t_processes_crash(value: int) -> None:
    """N-F processes send, and N-T inputs never come."""
    fast = found(algorithm("cf1s", ONE_FAULT_MORE), f"fast{value}_crashes")
    assert fast.trace is not None
    assert fast.trace.parameters == {"N": 4, "T": 1, "F": 2}
    last = fast.trace.steps[-1].after
    assert last[f"S{value}"] == last[f"x{value}"] == 2


@pytest.mark.parametrize("value", [0, 1])
def test_cf1s_is_not_fast_if_f_processes_are_missing_and_f_more_crash(value: int) -> None:
    fewer = algorithm("cf1s", ("    V0 + V1 == N;", "    V0 + V1 == N - F;"))
    assert found(fewer, f"fast{value}_without_crash").verdict is Verdict.PROVED
    assert found(fewer, f"fast{value}_one_crash").verdict is Verdict.VIOLATED
    assert found(fewer, f"fast{value}_crashes").verdict is Verdict.VIOLATED


def test_cf1s_is_not_fast_if_only_n_minus_t_processes_propose_the_same() -> None:
    """Inputs of the others may come first, although nobody crashes."""
    almost = ("fast0_without_crash: <>[](FAIR) -> (V1 == 0 &&", "fast0_without_crash: <>[](FAIR) -> (V1 <= T &&")
    example = found(algorithm("cf1s", almost), "fast0_without_crash").trace
    assert example is not None
    assert example.parameters == {"N": 4, "T": 1, "F": 0}


@pytest.mark.parametrize(("file", "parameters"), every(3, [(file, each) for file, sizes in SIZES for each in sizes]))
def test_all_configurations_of_a_few_processes_agree(file: str, parameters: dict[str, int]) -> None:
    for row in VERDICTS:
        if row["file"] == f"{file}.ta":
            assert holds(text(file), row["specification"], parameters) is (row["verdict"] == "proved")


@pytest.mark.parametrize(("file", "change", "broken"), every(12, MUTANTS))
def test_all_configurations_of_a_mutant_agree_that_it_is_broken(
    file: str, change: tuple[str, str], broken: str
) -> None:
    for name in broken.split():
        example = mutated(file, change, name).trace
        assert example is not None
        with suppress(TooLargeError):
            assert holds(text(file, change), name, example.parameters) is False, name


def test_the_table_in_the_documentation() -> None:
    rows = re.findall(
        r"^\| \[(\w+)\.ta\]\S+ \| (.*) \|$", (ROOT / "docs" / "reference" / "algorithms.md").read_text(), re.MULTILINE
    )
    expected = []
    for file in FILES:
        automaton = algorithm(file)
        guards = {rule.guard for rule in automaton.rules} - {Constant(True)}
        kinds = [row["kind"] for row in VERDICTS if row["file"] == f"{file}.ta"]
        proved = sum(row["file"] == f"{file}.ta" and row["verdict"] == "proved" for row in VERDICTS)
        counts = (len(automaton.locations), len(automaton.shared), len(automaton.rules), len(guards))
        columns = (*counts, kinds.count("safety"), kinds.count("liveness"), f"{proved} proved")
        expected.append((file, " | ".join(map(str, columns))))
    assert rows == expected
