"""A model in a user's file has the same commands as the shipped one, with its own parameters, options, properties."""

import json
from pathlib import Path

import itf_py
import pytest

from tests.cli.script import COMMANDS, found, run, table_cells
from tests.sampling import every

QUEUE = '''
"""A queue of jobs: one may arrive and one may be served in each round."""

from fdverify.logic import And, If, Or
from fdverify.models.model import Model, Option
from fdverify.models.system import Flag, Integers, Parameter, Phase, Property, System, Variable, update


def serve(s, c):
    return update(jobs=If(c.serves, s.jobs - 1, s.jobs))


def build(limit, start, lossy):
    first = int(start)

    def arrive(s, c):
        room = s.jobs < s.limit
        return update(jobs=If(And(c.arrives, Or(room, not lossy)), s.jobs + 1, s.jobs))

    return System(
        name="queue",
        options={"start": start, "lossy": str(lossy).lower()},
        parameters=(Parameter("limit", 1, limit),),
        variables=(Variable("jobs", Integers(), initial=lambda s: first, range=lambda s: s.jobs >= 0),),
        phases=(
            Phase("arrive", arrive, (Flag("arrives"),)),
            Phase("serve", serve, (Flag("serves", when=lambda s: s.jobs > 0),)),
        ),
        properties=(
            Property("fits", lambda s: s.jobs <= s.limit, "no more jobs than there is room for"),
            Property("never-full", lambda s: s.jobs < s.limit, "there is always room"),
        ),
    )


BOUNDED = Model(
    name="queue",
    summary="a bounded queue",
    parameters=(Parameter("limit", 1, None, "how many jobs there is room for"),),
    options=(
        Option("start", "how many jobs there are at first", "0", metavar="JOBS"),
        Option("lossy", "whether a full queue drops what arrives", True),
    ),
    default_property="fits",
    build=build,
)
'''
DETECTORS_OWN = ("--delta", "--phi", "--variant", "--timeout", "--buffer", "--crash")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "queues.py").write_text(QUEUE)
    return tmp_path


def test_explore_proves(folder: Path) -> None:
    code, document = found("explore", "queues.py:BOUNDED", "--limit", "5", "--start", "2", cwd=folder)
    assert (code, document["verdict"]) == (0, "proved")
    assert document["statistics"]["states"] == 6
    assert document["model"] == "queue"
    assert document["variant"] is None
    assert document["options"] == {"start": "2", "lossy": "true"}
    assert document["parameters"] == {"limit": 5}
    assert document["property"] == "fits"


@pytest.mark.parametrize(
    "arguments",
    [
        ("queues.py:BOUNDED", "--property", "never-full", "--limit", "5", "--start", "2"),
        ("--property", "never-full", "--limit", "5", "--start", "2", "queues.py:BOUNDED"),
        ("--property=never-full", "queues.py:BOUNDED", "--limit=5", "--start=2"),
    ],
)
def test_explore_refutes(folder: Path, arguments: tuple[str, ...]) -> None:
    code, document = found("explore", *arguments, cwd=folder)
    assert (code, document["verdict"]) == (1, "violated")
    steps = document["trace"]["steps"]
    assert [step["state"] for step in steps] == [{"jobs": jobs} for jobs in (2, 3, 4, 5)]
    assert [step["choices"] for step in steps[1:]] == [{"arrives": True, "serves": False}] * 3
    assert document["trace"]["parameters"] == {"limit": 5}


@pytest.mark.parametrize("where", ["at the top", "where it is built"])
def test_what_a_file_prints_is_not_part_of_the_document(folder: Path, where: str) -> None:
    says = 'print("hello")'
    places = {"at the top": (QUEUE, QUEUE + says), "where it is built": ("    first =", f"    {says}\n    first =")}
    (folder / "queues.py").write_text(QUEUE.replace(*places[where]))
    outcome = run("explore", "queues.py:BOUNDED", "--limit", "5", "--json", cwd=folder)
    assert outcome.code == 0
    assert json.loads(outcome.stdout)["verdict"] == "proved"
    assert "hello" in outcome.stderr


def test_switch(folder: Path) -> None:
    common = ("explore", "queues.py:BOUNDED", "--limit", "5", "--start", "5")
    assert found(*common, "--lossy", cwd=folder)[0] == 0
    code, document = found(*common, "--no-lossy", "--subrounds", cwd=folder)
    assert code == 1
    assert document["options"]["lossy"] == "false"
    first, second = document["trace"]["steps"]
    assert (first["phase"], first["state"]) == (None, {"jobs": 5})
    assert (second["phase"], second["state"], second["choices"]) == ("arrive", {"jobs": 6}, {"arrives": True})


def test_bmc_with_symbolic_limit(folder: Path) -> None:
    common = ("bmc", "queues.py:BOUNDED", "--start", "2", "--property", "never-full")
    code, document = found(*common, "--limit", "symbolic", "--depth", "4", cwd=folder)
    assert (code, document["verdict"]) == (1, "violated")
    assert document["parameters"] == {"limit": "symbolic"}
    assert document["trace"]["parameters"] == {"limit": 1}
    assert [step["state"] for step in document["trace"]["steps"]] == [{"jobs": 2}]

    code, document = found(*common, "--limit", "7", "--depth", "4", cwd=folder)
    assert (code, document["verdict"]) == (0, "bounded")


def test_bmc_table_and_itf(folder: Path) -> None:
    arguments = ("bmc", "queues.py:BOUNDED", "--limit", "3", "--property", "never-full", "--show", "limit-jobs")
    outcome = run(*arguments, "--itf", "run.itf.json", cwd=folder)
    assert outcome.code == 1
    assert "queue, start 0, lossy true" in outcome.stdout
    assert table_cells(outcome.stdout) == [
        ["0", "", "0", "3"],
        ["1", "arrives", "1*", "2*"],
        ["2", "arrives", "2*", "1*"],
        ["3", "arrives", "3*", "0*"],
    ]
    read = itf_py.trace_from_json(json.loads((folder / "run.itf.json").read_text()))
    assert [state.values for state in read.states] == [{"limit": 3, "jobs": jobs} for jobs in range(4)]


def test_induct_for_every_limit(folder: Path) -> None:
    code, document = found("induct", "queues.py:BOUNDED", cwd=folder)
    assert (code, document["verdict"]) == (0, "proved")
    assert document["parameters"] == {"limit": "symbolic"}
    assert document["statistics"] == {"k": 1}
    assert [obligation["verdict"] for obligation in document["obligations"]] == ["proved"] * 3


def test_induct_refutes(folder: Path) -> None:
    code, document = found("induct", "queues.py:BOUNDED", "--limit", "2", "--no-lossy", cwd=folder)
    assert (code, document["verdict"]) == (1, "violated")
    assert [step["state"]["jobs"] for step in document["trace"]["steps"]] == [0, 1, 2, 3]


def test_simulate(folder: Path) -> None:
    arguments = ("simulate", "queues.py:BOUNDED", "--limit", "3", "--start", "1", "--depth", "25", "--seed", "4")
    code, document = found(*arguments, cwd=folder)
    assert (code, document["verdict"]) == (0, "bounded")
    steps = document["trace"]["steps"]
    assert len(steps) == 26
    jobs = steps[0]["state"]["jobs"]
    assert jobs == 1
    for step in steps[1:]:
        jobs = min(jobs + step["choices"]["arrives"], 3)
        assert jobs > 0 or not step["choices"]["serves"]
        jobs -= step["choices"]["serves"]
        assert step["state"] == {"jobs": jobs}


@pytest.mark.parametrize("command", every(3, COMMANDS))
def test_help_is_of_the_model(folder: Path, command: str) -> None:
    outcome = run(command, "queues.py:BOUNDED", "--help", cwd=folder)
    assert (outcome.code, outcome.stderr) == (0, "")
    for text in ("--limit N|symbolic", "how many jobs there is room for", "--start JOBS", "--lossy / --no-lossy"):
        assert text in outcome.stdout
    for option in DETECTORS_OWN:
        assert option not in outcome.stdout


def test_help_of_the_shipped_model_is_its_own(folder: Path) -> None:
    shipped = run("bmc", "chandra-toueg", "--help", cwd=folder).stdout
    assert all(option in shipped for option in DETECTORS_OWN)
    assert "--limit" not in shipped.replace("--time-limit", "")


@pytest.mark.parametrize(("option", "value"), [("--variant", "tla"), ("--delta", "2"), ("--timeout", "3")])
def test_options_of_the_detector_are_refused(folder: Path, option: str, value: str) -> None:
    outcome = run("explore", "queues.py:BOUNDED", "--limit", "3", option, value, cwd=folder)
    assert (outcome.code, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith(f"error: No such option: {option}")


@pytest.mark.parametrize(
    ("arguments", "part"),
    every(
        2,
        [
            (("--limit", "0"), "--limit must be at least 1, got 0"),
            (("--limit", "3", "--property", "strong-accuracy"), "queue has no property strong-accuracy"),
            (("--limit", "3", "--start", "few"), "queues.py:14: ValueError: "),
            (("--limit", "3", "--show", "delta"), "unknown name delta"),
        ],
    ),
)
def test_bad_input(folder: Path, arguments: tuple[str, ...], part: str) -> None:
    outcome = run("explore", "queues.py:BOUNDED", *arguments, cwd=folder)
    assert (outcome.code, outcome.stdout) == (2, "")
    assert part in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1


def test_file_in_another_folder(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    code, _ = found("explore", f"{folder / 'queues.py'}:BOUNDED", "--limit", "3", cwd=elsewhere)
    assert code == 0
