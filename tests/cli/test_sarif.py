"""``verify-invariant --sarif``: a result at the line of each claim that is not proved, as code scanning takes it."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest

from tests.cli import written_proofs as files
from tests.cli.script import environment
from tests.cli.test_verify_invariant import verify, written

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
STANDARD = json.loads((ROOT / "tests" / "data" / "sarif-2.1.0-part.json").read_text())


@pytest.fixture
def cache(tmp_path: Path) -> dict[str, str]:
    return environment(XDG_CACHE_HOME=str(tmp_path / "cache"))


def logged(*arguments: str, env: dict[str, str], folder: Path, cwd: Path) -> tuple[int, Any]:
    """The exit code and the one run of the log, which must fit the standard and what code scanning asks for."""
    file = folder / "found.sarif"
    code = verify(*arguments, "--sarif", str(file), env=env, cwd=cwd).code
    log = json.loads(file.read_text())
    jsonschema.Draft7Validator(STANDARD, format_checker=jsonschema.FormatChecker()).validate(log)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert all(rule[part]["text"] for rule in rules for part in ("shortDescription", "fullDescription", "help"))
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert len(result["locations"]) == 1
    assert run["invocations"] == [{"executionSuccessful": code in (0, 1, 3, 4), "exitCode": code}]
    return code, run


def places(run: Any) -> list[tuple[str, str, Path, int]]:
    """The rule, the level, the file and the line of each result."""
    base = Path(run["originalUriBaseIds"]["%SRCROOT%"]["uri"].removeprefix("file://"))
    found = []
    for result in run["results"]:
        place = result["locations"][0]["physicalLocation"]
        artifact = place["artifactLocation"]
        assert artifact["uriBaseId"] == "%SRCROOT%"
        file = base / unquote(artifact["uri"])
        found.append((result["ruleId"], result["level"], file, place["region"]["startLine"]))
    return found


def line_of(file: Path, start: str) -> int:
    (line,) = [number for number, text in enumerate(file.read_text().splitlines(), 1) if text.startswith(start)]
    return line


def test_examples_that_fail(cache: dict[str, str], tmp_path: Path) -> None:
    attempt, meant = EXAMPLES / "first_attempt.py", EXAMPLES / "meant_to_fail.py"
    code, run = logged(str(attempt), str(meant), env=cache, folder=tmp_path, cwd=ROOT)
    assert code == 1
    assert places(run) == [
        ("consecution", "error", attempt, line_of(attempt, "def only_old_messages(")),
        ("consecution", "error", meant, line_of(meant, "def trusted(")),
        ("goal", "error", meant, line_of(meant, "proof = ")),
    ]
    first, second, _ = (result["message"]["text"] for result in run["results"])
    assert first.startswith("not-inductive, at delta = 2, phi = 1, initial_timeout = 8\n")
    assert "only_old_messages-step fails" in first
    assert "│     1 │ receiver_active │" in first
    assert second.startswith("violated, at delta = 0, phi = 1, initial_timeout = 2\n")
    # Braces are placeholders in such messages.
    assert not any(mark in first + second for mark in "{}")


def test_what_is_proved_has_no_result(cache: dict[str, str], tmp_path: Path) -> None:
    code, run = logged(str(EXAMPLES / "first_proof.py"), env=cache, folder=tmp_path, cwd=tmp_path)
    assert (code, run["results"]) == (0, [])


@pytest.mark.slow
def test_every_kind_of_trouble(cache: dict[str, str], tmp_path: Path) -> None:
    not_initially = files.GOOD.replace(
        '"""The same."""\n    return s.receiver_timer < s.phi', '"""Never."""\n    return s.timeout < 0'
    )
    folder = written(
        tmp_path / "my proofs",
        bad=files.SYNTAX_ERROR,
        initially=not_initially,
        vacuous=files.VACUOUS_PREMISE,
        good=files.GOOD,
    )
    code, run = logged("my proofs", env=cache, folder=tmp_path, cwd=tmp_path)
    assert code == 2
    found = {(rule, level, file.name, line) for rule, level, file, line in places(run)}
    assert {file.parent for _, _, file, _ in places(run)} == {folder}
    assert found == {
        ("bad-file", "error", "bad.py", 5),
        ("initiation", "error", "initially.py", line_of(folder / "initially.py", "def bounded(")),
        ("vacuity", "error", "vacuous.py", line_of(folder / "vacuous.py", "def timers(")),
    }
    assert "good.py" not in {name for _, _, name, _ in found}
    assert [result["level"] for result in run["results"]].count("error") == len(run["results"])


@pytest.mark.slow
def test_the_goal_of_a_model_and_unknown(cache: dict[str, str], tmp_path: Path) -> None:
    """What the file does not define is where the proof begins; unknown is a warning."""
    weak = files.VIOLATED.replace("return Not(s.suspected)", "return s.timeout >= 0")
    folder = written(tmp_path, weak=weak, hard=files.HOURS)
    weak_file, hard_file = folder / "weak.py", folder / "hard.py"
    code, run = logged(str(weak_file), str(hard_file), "--time-limit", "20", env=cache, folder=tmp_path, cwd=tmp_path)
    assert code == 1
    by_file = {file: (rule, level, line) for rule, level, file, line in places(run)}
    assert by_file == {
        weak_file: ("goal", "error", line_of(weak_file, "proof = ")),
        hard_file: ("consecution", "warning", line_of(hard_file, "def no_factors(")),
    }


def test_a_file_elsewhere_has_an_absolute_uri(cache: dict[str, str], tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    _, run = logged(str(EXAMPLES / "meant_to_fail.py"), env=cache, folder=tmp_path, cwd=here)
    artifacts = [each["locations"][0]["physicalLocation"]["artifactLocation"] for each in run["results"]]
    assert artifacts == [{"uri": (EXAMPLES / "meant_to_fail.py").as_uri()}] * 2


def test_paths_are_those_of_the_repository(cache: dict[str, str], tmp_path: Path) -> None:
    folder = written(tmp_path / "deep", bad=files.SYNTAX_ERROR)
    (tmp_path / ".git").mkdir()
    _, run = logged("bad.py", env=cache, folder=tmp_path, cwd=folder)
    artifact = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact["uri"] == "deep/bad.py"


@pytest.mark.parametrize("where", ["missing/found.sarif", "."])
def test_where_nothing_can_be_written(where: str, cache: dict[str, str], tmp_path: Path) -> None:
    written(tmp_path, endless=files.ENDLESS)
    outcome = verify("endless.py", "--sarif", where, env=cache, cwd=tmp_path)
    assert outcome.code == 2
    assert outcome.stderr == f"error: cannot write {where}"
    assert outcome.stdout == ""
