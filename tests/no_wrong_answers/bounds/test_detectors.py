"""Detectors by which ``fdverify bounds`` could be led to a wrong number: it tells the right one, or why it has none."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fdverify.detectors.model_catalogue import find_model
from fdverify.schemas import find_schema
from tests.cli.script import Outcome, run
from tests.no_wrong_answers.bounds.numbers import expected, instance_of, told
from tests.no_wrong_answers.bounds.oracle import Instance, detection_time, searched
from tests.sampling import every

FILE = Path(__file__).with_name("detectors.py")
LONGEST = 12
RIGHT = [
    "BEATS",
    "CAPPED_CLOCK",
    "STOPPED_CLOCK",
    "CLOCK_SEEN",
    "LATE_RAISES",
    "TAKES_BACK_ONCE",
    "UNEVEN",
    "TAKES_BACK",
    "NEVER_SUSPECTS",
    "DEAD_END",
]


def bounds(name: str, *arguments: str) -> Outcome:
    return run("bounds", "--model", f"{FILE}:{name}", *arguments)


def document(outcome: Outcome) -> Any:
    found = json.loads(outcome.stdout)
    jsonschema.validate(found, json.loads(find_schema("configuration")))
    return found


@pytest.mark.parametrize("delta", every(3, [0, 1, 3]))
@pytest.mark.parametrize("name", every(4, RIGHT))
def test_the_numbers_are_those_of_a_plain_search(name: str, delta: int) -> None:
    reference, numbers = f"{FILE}:{name}", {"delta": delta}
    if name == "CLOCK_SEEN":  # what is suspected depends on the clock here, so it is not cut at its sign
        model = find_model(reference)
        system = instance_of(model, numbers, delta + 1, {})
        clock = {"since_crash": lambda s: min(s["since_crash"], 40)}
        assert (
            told(reference, numbers, {}, LONGEST).detection == detection_time(searched(Instance(system, clock))) == 19
        )
        return
    assert told(reference, numbers, {}, LONGEST) == expected(reference, numbers, {}, LONGEST)


def test_what_has_no_source_is_said_to_be_sampled_only(tmp_path: Path) -> None:
    model = tmp_path / "unread.py"
    model.write_text(f"from pathlib import Path\nexec(Path({str(FILE)!r}).read_text())\n")
    arguments = ("bounds", "--model", f"{model}:BEATS", "--delta", "1")
    note = "and property accuracy have no source to read: they were compared on sampled states only"
    assert note in run(*arguments).stdout
    assert note in document(run(*arguments, "--json"))["detail"]


def test_longer_is_not_always_safe() -> None:
    outcome = bounds("UNEVEN", "--delta", "1")
    assert (outcome.code, "3 steps" in outcome.stdout) == (0, False)
    assert "a longer timeout is not always safe: accuracy is violated with 3 as initial timeout" in outcome.stdout


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("NO_CRASH", 4, "no sender ever crashes"),
        ("ALWAYS_SUSPECTS", 1, "accuracy is violated with every initial timeout, by the same choices from 4 on"),
        ("SUSPECTS_EARLY", 1, "accuracy is violated with every initial timeout, by the same choices from 4 on"),
        ("TAKES_BACK", 1, "a crashed sender may be trusted after any number of rounds"),
        ("DEAD_END", 4, "a dead end"),
    ],
)
def test_where_there_is_no_number_the_reason_is_told(name: str, code: int, words: str) -> None:
    outcome = bounds(name, "--delta", "1", "--json")
    assert outcome.code == code
    found = document(outcome)
    assert found["detection_ticks"] is None
    assert words in found["detail"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("CUT_BY_CAP", "phase suspect depends on how far waiting or since_crash lies above its cap"),
        ("OTHER_TIMEOUT", "the option timeout of beats does not set initial_timeout"),
        ("NO_DETECTOR", "beats does not say what its detector is made of"),
        ("NO_TIMEOUT", "beats has no option timeout to be bounded"),
        ("FAILS", f"{FILE.name}:"),
    ],
)
def test_what_cannot_be_measured_is_refused(name: str, words: str) -> None:
    outcome = bounds(name, "--delta", "1")
    assert (outcome.code, outcome.stdout) == (2, "")
    assert words in outcome.stderr
    assert outcome.stderr.count("\n") == 1


def test_a_property_that_no_timeout_gives_is_looked_for_only_so_far() -> None:
    lossy = FILE.parents[3] / "examples" / "broken_detectors.py"
    outcome = run("bounds", "--model", f"{lossy}:LOSSY", "--delta", "1", "--phi", "1", "--longest", "3", "--json")
    assert outcome.code == 3
    found = document(outcome)
    assert (found["verdict"], found["timeout_steps"]) == ("unknown", None)
    assert "violated with every initial timeout from 1 to 3" in found["detail"]
    assert "hint: --longest N" in found["detail"]


@pytest.mark.slow
def test_timeouts_that_the_model_does_not_allow_are_passed_over() -> None:
    found = document(bounds("ONLY_EVEN", "--delta", "4", "--json"))
    assert (found["timeout_steps"], found["shorter_timeout_that_fails"]) == (6, 4)
    outcome = bounds("LARGE_DELTA", "--delta", "1", "--json")
    assert outcome.code == 3
    assert "allow no initial timeout" in document(outcome)["detail"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["COUNTS_FOR_EVER", "LATE_RAISES_FOR_EVER"])
def test_what_has_no_end_is_given_up(name: str) -> None:
    outcome = bounds(name, "--delta", "1", "--time-limit", "1", "--json")
    assert outcome.code == 3
    assert document(outcome)["detail"] == "the time limit was reached"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["LATE_RAISES_FOR_EVER", "COUNTS_FOR_EVER"])
def test_what_has_no_end_ends_without_a_time_limit(name: str) -> None:
    outcome = bounds(name, "--delta", "2", "--json")
    assert outcome.code == 3
    found = document(outcome)
    assert "the exploration did not end" in found["detail"]
    assert ("the timeout has grown" in found["detail"]) is (name == "LATE_RAISES_FOR_EVER")
    assert found["detection_ticks"] is None


def formula(name: str, about: str, *arguments: str) -> tuple[int, Any]:
    outcome = run("bounds", about, f"{FILE}:{name}", *arguments, "--json")
    found = json.loads(outcome.stdout)
    jsonschema.validate(found, json.loads(find_schema("bounds")))
    return outcome.code, found


@pytest.mark.parametrize(
    ("name", "about", "code", "words"),
    every(
        3,
        [
            ("NO_CRASH", "detection", 4, "no sender ever crashes"),
            ("TAKES_BACK", "detection", 1, "a crashed sender may be trusted after any number of rounds"),
            ("DEAD_END", "detection", 4, "a dead end"),
            ("ALWAYS_SUSPECTS", "accuracy", 1, "violated with every initial timeout"),
            ("UNEVEN", "accuracy", 3, "holds with 1 as initial timeout, but not with 2"),
        ],
    ),
)
def test_where_there_is_no_formula_the_reason_is_told(name: str, about: str, code: int, words: str) -> None:
    found_code, found = formula(name, about)
    assert (found_code, found["formula"]) == (code, None)
    assert words in found["detail"]


@pytest.mark.slow
def test_instances_that_the_model_does_not_allow_are_not_listed() -> None:
    _, found = formula("LARGE_DELTA", "accuracy", "--time-limit", "100")
    assert found["formula"] == "delta+1"
    assert found["witness"]["scope"].startswith("delta 2..")
