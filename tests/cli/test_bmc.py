"""``fdverify bmc``: violations with fixed and symbolic parameters, and the ways to look at the run."""

import json
import resource
from itertools import groupby
from pathlib import Path
from typing import Any

import itf_py
import pytest

from tests.cli.rounds import after_round, check_rounds
from tests.cli.script import ESCAPE, found, odd_lines, run, run_script, table_cells

SMALL = ("--delta", "2", "--phi", "4", "--timeout", "delta+1")
HOLDS = ("--delta", "2", "--phi", "4", "--depth", "5")
PHASES = ["schedule_sender", "schedule_receiver", "age_messages", "send", "no_send", "receive", "compute"]


def values_of(trace: Any, step: Any) -> dict[str, Any]:
    return {**trace["parameters"], **step["state"]}


def plain(value: Any) -> Any:
    """An ITF value as the JSON document has it."""
    return sorted(value) if isinstance(value, frozenset | set) else value


def test_step_table_of_a_long_run() -> None:
    outcome = run("bmc", "--delta", "20", "--phi", "20", "--timeout", "delta+1")
    assert outcome.code == 1
    assert odd_lines(outcome.stderr) == []
    assert ESCAPE not in outcome.stdout
    assert "delta = 20, phi = 20, initial_timeout = 21" in outcome.stdout
    assert "\nviolated: strong-accuracy is violated after 24 rounds\n" in outcome.stdout
    rows = table_cells(outcome.stdout)
    assert [row[0] for row in rows] == [str(number) for number in range(25)]
    assert [row[2] for row in rows] == ["no"] * 24 + ["yes*"]


@pytest.mark.slow
def test_long_run_as_data() -> None:
    code, document = found("bmc", "--delta", "20", "--phi", "20", "--timeout", "delta+1")
    assert (code, document["verdict"]) == (1, "violated")
    assert document["statistics"] == {"depth": 24}
    assert document["parameters"] == {"delta": 20, "phi": 20, "initial_timeout": 21}
    assert [step["state"]["suspected"] for step in document["trace"]["steps"]] == [False] * 24 + [True]
    check_rounds(document["trace"])


def test_symbolic_phi() -> None:
    code, document = found("bmc", "--delta", "4", "--phi", "symbolic", "--buffer", "bitvector", "--timeout", "delta+1")
    assert (code, document["verdict"]) == (1, "violated")
    assert document["parameters"] == {"delta": 4, "phi": "symbolic", "initial_timeout": "delta+1"}
    assert document["trace"]["parameters"] == {"delta": 4, "phi": 1, "initial_timeout": 5}
    assert document["trace"]["steps"][-1]["state"]["suspected"]
    check_rounds(document["trace"])


def test_both_symbolic() -> None:
    arguments = ("bmc", "--timeout", "phi+delta+2")
    code, document = found(*arguments)
    assert (code, document["verdict"]) == (1, "violated")
    assert document["options"]["buffer"] == "predicate"
    assert document["parameters"] == {"delta": "symbolic", "phi": "symbolic", "initial_timeout": "phi+delta+2"}
    trace = document["trace"]
    parameters = trace["parameters"]
    assert parameters == {"delta": 0, "phi": 2, "initial_timeout": 4}
    assert [step["state"]["suspected"] for step in trace["steps"]][-2:] == [False, True]
    assert document["statistics"]["depth"] == len(trace["steps"]) - 1
    check_rounds(trace)

    shorter = str(document["statistics"]["depth"] - 1)
    code, document = found(*arguments, "--depth", shorter)
    assert (code, document["verdict"], document["trace"]) == (0, "bounded", None)
    assert f"up to {shorter} rounds" in document["detail"]


def test_subrounds_carry_phases_and_their_choices() -> None:
    code, document = found("bmc", *SMALL, "--subrounds")
    assert code == 1
    trace = document["trace"]
    before, *rest = trace["steps"]
    assert before["phase"] is None
    assert len(rest) == 6 * len(PHASES)
    for number, group in groupby(rest, key=lambda step: step["round"]):
        steps = list(group)
        assert [step["phase"] for step in steps] == PHASES
        assert [list(step["choices"]) for step in steps] == [
            ["sender_active"],
            ["receiver_active"],
            [],
            [],
            [],
            ["delivered"],
            [],
        ]
        made = {name: value for step in steps for name, value in step["choices"].items()}
        assert steps[-1]["state"] == after_round(before["state"], made, delta=2, phi=4), number
        before = steps[-1]
    assert before["state"]["suspected"]


def test_subrounds_in_the_table() -> None:
    rows = table_cells(run("bmc", *SMALL, "--subrounds").stdout)
    assert [row[0] for row in rows] == ["0", *(f"{number} {phase}" for number in range(1, 7) for phase in PHASES)]


def test_show_adds_values() -> None:
    shown = ("timeout - waiting_time", "6*phi+delta", "max(sender_timer, receiver_timer) % 2")
    flags = [word for text in shown for word in ("--show", text)]
    code, document = found("bmc", *SMALL, *flags)
    assert code == 1
    trace = document["trace"]
    for step in trace["steps"]:
        v = values_of(trace, step)
        assert step["show"] == {
            shown[0]: v["timeout"] - v["waiting_time"],
            shown[1]: 6 * v["phi"] + v["delta"],
            shown[2]: max(v["sender_timer"], v["receiver_timer"]) % 2,
        }
    rows = table_cells(run("bmc", *SMALL, *flags).stdout)
    printed = [[int(cell.rstrip("*")) for cell in row[-3:]] for row in rows]
    assert printed == [list(step["show"].values()) for step in trace["steps"]]


def test_show_a_variable() -> None:
    outcome = run("bmc", *SMALL, "--show", "sender_timer")
    timers = [(row[-3].rstrip("*"), row[-1].rstrip("*")) for row in table_cells(outcome.stdout)]
    assert len(timers) == 7
    assert all(shown == timer for timer, shown in timers)


def test_show_of_a_whole_round_is_its_end() -> None:
    _, rounds = found("bmc", *SMALL, "--show", "waiting_time")
    _, phases = found("bmc", *SMALL, "--show", "waiting_time", "--subrounds")
    ends = [step["show"] for step in phases["trace"]["steps"] if step["phase"] in (None, "compute")]
    assert ends == [step["show"] for step in rounds["trace"]["steps"]]


@pytest.mark.parametrize("name", ["run.itf.json", "run.py:RUN"])
def test_itf_has_the_same_states(tmp_path: Path, name: str) -> None:
    code, document = found("bmc", *SMALL, "--itf", name, cwd=tmp_path)
    assert code == 1
    assert [path.name for path in tmp_path.iterdir()] == [name]
    read = itf_py.trace_from_json(json.loads((tmp_path / name).read_text()))
    trace = document["trace"]
    assert read.params == list(trace["parameters"])
    assert read.vars == list(trace["steps"][0]["state"])
    assert [{key: plain(value) for key, value in state.values.items()} for state in read.states] == [
        values_of(trace, step) for step in trace["steps"]
    ]
    assert [state.meta["choices"] for state in read.states] == [step["choices"] for step in trace["steps"]]


def test_itf_of_subrounds(tmp_path: Path) -> None:
    file = tmp_path / "run.itf.json"
    file.write_text("something older and longer" * 1000)
    code, document = found("bmc", *SMALL, "--subrounds", "--itf", str(file))
    assert code == 1
    read = itf_py.trace_from_json(json.loads(file.read_text()))
    assert [state.meta["phase"] for state in read.states] == [step["phase"] for step in document["trace"]["steps"]]


def test_no_run_no_itf(tmp_path: Path) -> None:
    code, document = found("bmc", *HOLDS, "--itf", "run.itf.json", cwd=tmp_path)
    assert (code, document["verdict"]) == (0, "bounded")
    assert list(tmp_path.iterdir()) == []


def test_no_run_leaves_itf_alone(tmp_path: Path) -> None:
    file = tmp_path / "run.itf.json"
    file.write_text("precious")
    before = file.stat()
    assert run("bmc", *HOLDS, "--itf", str(file)).code == 0
    assert file.read_text() == "precious"
    assert (file.stat().st_mtime_ns, file.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


def write_small_files_only() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


def test_itf_that_does_not_fit_leaves_nothing(tmp_path: Path) -> None:
    outcome = run_script("bmc", *SMALL, "--itf", "run.itf.json", cwd=tmp_path, at_start=write_small_files_only)
    assert outcome.code == 2
    assert odd_lines(outcome.stderr) == ["error: cannot write run.itf.json: File too large"]
    assert list(tmp_path.iterdir()) == []


def test_depth_zero_looks_at_the_initial_state() -> None:
    code, document = found("bmc", *SMALL, "--depth", "0")
    assert (code, document["verdict"]) == (0, "bounded")
    assert document["statistics"] == {"depth": 0}
