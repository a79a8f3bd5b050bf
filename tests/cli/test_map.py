"""``fdverify map``: pictures, documents, refusals, and what becomes of a map that is stopped."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from fdverify.schemas import find_schema
from tests.cli.processes import heed_interrupts, in_session, wait_until
from tests.cli.script import ESCAPE, environment, odd_lines, run, run_script
from tests.cluster import Cluster
from tests.launch import script
from tests.sampling import choose, every

TIMEOUTS = ("--timeout", "3*phi", "--timeout", "3*phi+delta", "--timeout", "6*phi+delta")
RANGES = choose(full=("--delta", "0..12", "--phi", "1..8"), sample=("--delta", "0..4", "--phi", "1..3"))
CELLS = choose(full=13 * 8 * 3, sample=5 * 3 * 3)
SMALL = ("--delta", "0..3", "--phi", "1..2")
DETECTORS = f"{Path(__file__).parents[2] / 'examples' / 'gst' / '_detector.py'}:DELAYED"
LONG_ENOUGH = 300.0
SVG = "{http://www.w3.org/2000/svg}"

PICTURE = """\
strong-accuracy: a sender that has not crashed is not suspected
chandra-toueg, variant tla, crash false, buffer bitvector

timeout 3*phi
 phi
   2 ●│x x x
      └───┐
   1 ● ● ●│x
     0 1 2 3 delta

timeout 3*phi: violated at 4 of 8 instances; holds at phi 1: delta 0..2; phi 2: delta 0
the shortest run to a violation takes 6 rounds, at delta 3, phi 1

timeout 3*phi-3
 phi
   2 x x x x
   1 · · · ·
     0 1 2 3 delta

timeout 3*phi-3: violated at all 4 instances
the shortest run to a violation takes 6 rounds, at delta 0, phi 2

timeout 6*phi+delta
 phi
   2 ● ● ● ●
   1 ● ● ● ●
     0 1 2 3 delta

timeout 6*phi+delta: holds at all 8 instances

● proved   x violated   · no instance   │ frontier
"""
PICTURED = (*SMALL, "--timeout", "3*phi", "--timeout", "3*phi-3", "--timeout", "6*phi+delta")


BROKEN = """
from fdverify.models.model import Model
from fdverify.models.system import Flag, Integers, Parameter, Phase, Property, System, Variable


def tick(s, c):
    raise RuntimeError("out of order")


def build(limit):
    return System(
        name="clock",
        options={},
        parameters=(Parameter("limit", 1, limit),),
        variables=(Variable("ticks", Integers(), initial=lambda s: 0),),
        phases=(Phase("tick", tick, (Flag("go"),)),),
        properties=(Property("small", lambda s: s.ticks < 9, "the clock is young"),),
    )


MODEL = Model("clock", "a clock", (Parameter("limit", 1, None),), (), "small", build)
"""


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(XDG_CACHE_HOME=str(tmp_path / "cache"))


def entries(env: dict[str, str]) -> list[Path]:
    """The cells in the store."""
    folder = Path(env["XDG_CACHE_HOME"]) / "fdverify" / "map"
    return [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]


def picture(stdout: str) -> tuple[str, str]:
    """What is drawn, and the last line, which tells what was computed and how long it took."""
    drawn, _, last = stdout.rstrip("\n").rpartition("\n")
    return f"{drawn}\n", last


def document(*arguments: str, env: dict[str, str]) -> Any:
    outcome = run("map", *arguments, "--json", env=env)
    assert odd_lines(outcome.stderr) == []
    found = json.loads(outcome.stdout)
    assert found["exit_code"] == outcome.code
    return found


def test_picture(env: dict[str, str]) -> None:
    outcome = run("map", *PICTURED, env=env)
    assert (outcome.code, odd_lines(outcome.stderr)) == (0, [])
    drawn, last = picture(outcome.stdout)
    assert drawn == PICTURE
    assert last.startswith("20 computed, 0 from before, ")
    assert ESCAPE not in outcome.stdout


@pytest.mark.slow
@pytest.mark.parametrize("more", every(2, [("--jobs", "1"), ("-j", "3"), ("--no-cache",)]))
def test_picture_does_not_depend_on_how_it_is_made(env: dict[str, str], more: tuple[str, ...]) -> None:
    assert picture(run("map", *PICTURED, *more, env=env).stdout)[0] == PICTURE
    assert (entries(env) == []) == ("--no-cache" in more)


def test_one_picture_of_one_row(env: dict[str, str]) -> None:
    outcome = run("map", "--delta", "9..11", "--phi", "1", "--timeout", "13", env=env)
    assert picture(outcome.stdout)[0].splitlines() == [
        "strong-accuracy: a sender that has not crashed is not suspected",
        "chandra-toueg, variant tla, crash false, timeout 13, buffer bitvector",
        "",
        " phi",
        "   1  ●  ●  ●",
        "      9 10 11 delta",
        "",
        "holds at all 3 instances",
        "",
        "● proved",
    ]


@pytest.mark.slow
def test_every_option_of_the_model_may_be_repeated(env: dict[str, str]) -> None:
    found = document(*SMALL, *TIMEOUTS[:4], "--variant", "tla", "--variant", "ivy", env=env)
    assert [(panel["options"]["variant"], panel["options"]["timeout"]) for panel in found["panels"]] == [
        ("tla", "3*phi"),
        ("tla", "3*phi+delta"),
        ("ivy", "3*phi"),
        ("ivy", "3*phi+delta"),
    ]


def test_document(env: dict[str, str]) -> None:
    found = document(*PICTURED, env=env)
    shipped = json.loads(find_schema("map"))
    jsonschema.Draft202012Validator.check_schema(shipped)
    validator = jsonschema.Draft202012Validator(shipped)
    validator.validate(found)
    assert not validator.is_valid({**found, "panels": [{**found["panels"][0], "cells": [{"verdict": "perhaps"}]}]})
    assert found["statistics"] == {"computed": 20, "stored": 0}
    assert found["parameters"] == [
        {"name": "delta", "first": 0, "last": 3},
        {"name": "phi", "first": 1, "last": 2},
    ]
    first, second, _ = found["panels"]
    assert first["counts"] == {"proved": 4, "violated": 4, "vacuous": 0, "unknown": 0, "no-instance": 0}
    assert first["cells"][3] == {
        "parameters": {"delta": 3, "phi": 1},
        "verdict": "violated",
        "detail": "strong-accuracy is violated after 6 rounds",
        "rounds": 6,
    }
    assert second["cells"][0]["verdict"] is None
    assert document(*PICTURED, env=env)["statistics"] == {"computed": 0, "stored": 20}


@pytest.mark.slow
def test_drawing(env: dict[str, str], tmp_path: Path) -> None:
    outcome = run("map", *PICTURED, "--svg", str(tmp_path / "map.svg"), env=env)
    assert outcome.code == 0
    drawing = ElementTree.fromstring((tmp_path / "map.svg").read_bytes())
    texts = ["".join(text.itertext()) for text in drawing.iter(f"{SVG}text")]
    for text in (
        "timeout 3*phi-3",
        "violated at 4 of 8 instances",
        "delta",
        "phi",
        "proved",
        "no instance",
        "frontier",
    ):
        assert text in texts
    # The titles of cells, shown where a pointer rests, are in the order of the document.
    told = [title.text for title in drawing.iter(f"{SVG}title")][1:]
    assert told[3] == "delta 3, phi 1: strong-accuracy is violated after 6 rounds"
    assert len(told) == 24
    first, second, third = (path.attrib["d"] for path in drawing.iter(f"{SVG}path") if path.get("class") == "frontier")
    assert {*first.split("M")[1:]} == {"22 0v22", "66 22v22", "22 22h22", "44 22h22"}
    assert second == third == ""
    names = ("href", "src", "url(", "@import", "<script")
    assert not any(name in (tmp_path / "map.svg").read_text() for name in names), "it needs no other file"


@pytest.mark.slow
def test_a_model_of_ones_own(env: dict[str, str], tmp_path: Path) -> None:
    arguments = ("--gst", "0..2", "--delta", "1", "--phi", "1", "--timeout", "6*phi+delta")
    found = document(DETECTORS, *arguments, env=env)
    assert found["model"] == "gst-delayed"
    assert [cell["parameters"]["gst"] for cell in found["panels"][0]["cells"]] == [0, 1, 2]
    outcome = run("map", DETECTORS, "--gst", "0..2", "--delta", "0..1", "--phi", "1..2", env=env)
    assert outcome.code == 2
    assert "a map has two axes" in outcome.stderr


def test_help_is_of_the_model() -> None:
    outcome = run("map", DETECTORS, "--help")
    assert outcome.code == 0
    for part in (
        "--gst A..B|N",
        "--timeout",
        "--svg FILE",
        "--cluster",
        "--scheduler ADDRESS",
        "--tls-key FILE",
        "--no-cache",
        "Exit codes: 0 every",
    ):
        assert part in outcome.stdout


REFUSED = {
    "backwards": (("--delta", "12..0", "--phi", "1"), "--delta 12..0 is empty (hint: write 0..12)"),
    "no range": (("--delta", "few", "--phi", "1"), "--delta must be a range A..B or a number, got 'few'"),
    "three ends": (("--delta", "0..1..2", "--phi", "1"), "--delta must be a range"),
    "open range": (("--delta", "0..", "--phi", "1"), "--delta must be a range"),
    "symbolic": (("--delta", "symbolic", "--phi", "1"), "--delta must be a range"),
    "too small": (("--delta", "0..3", "--phi", "0..3"), "--phi must be at least 1, got 0"),
    "missing": (("--delta", "0..3"), "--phi is needed"),
    "unknown model": (("chandra-tweg", *SMALL), "did you mean chandra-toueg?"),
    "broken expression": ((*SMALL, "--timeout", "3*phi", "--timeout", "phi**"), "'phi**'"),
    "any timeout": ((*SMALL, "--timeout", "any"), "initial_timeout must be fixed"),
    "same timeout twice": ((*SMALL, "--timeout", "3", "--timeout", "3"), "--timeout 3 is given twice"),
    "unknown variant": ((*SMALL, "--variant", "tlaplus"), "--variant must be one of tla, ivy"),
    "unknown property": ((*SMALL, "--property", "strong-acuracy"), "did you mean strong-accuracy?"),
    "too many": (("--delta", "0..99999", "--phi", "1..99999"), "at most 10000 cells"),
    "unwritable": ((*SMALL, "--svg", "missing/map.svg"), "cannot write missing/map.svg"),
    "no time": ((*SMALL, "--time-limit", "0"), "--time-limit"),
    "no workers": ((*SMALL, "--jobs", "0"), "--jobs"),
    "two ways": ((*SMALL, "--jobs", "2", "--cluster", "127.0.0.1:1"), "give one of them"),
    "no address": ((*SMALL, "--cluster", "here"), "--cluster must be an address"),
    "former name": ((*SMALL, "--scheduler", "here"), "--cluster must be an address"),
    "a key without a cluster": ((*SMALL, "--tls-key", "my.key"), "--tls-key is for a cluster"),
    "a key that is missing": (
        (*SMALL, "--cluster", "tls://127.0.0.1:1", "--tls-key", "no.key"),
        "no such file: no.key",
    ),
    "a key for a cluster without TLS": (
        (*SMALL, "--cluster", "tcp://127.0.0.1:1", "--tls-key", "no.key"),
        "tcp://127.0.0.1:1 is an address without TLS (hint: tls://127.0.0.1:1)",
    ),
    "nobody there": (
        (*SMALL, "--cluster", "tcp://127.0.0.1:1"),
        "cannot reach a Dask scheduler at tcp://127.0.0.1:1",
    ),
    "a report over a key": (
        (*SMALL, "--cluster", "tls://127.0.0.1:1", "--tls-key", __file__, "--html", __file__),
        "a report is not written to",
    ),
}


@pytest.mark.parametrize("case", every(5, REFUSED))
def test_refuses(case: str, env: dict[str, str], tmp_path: Path) -> None:
    arguments, part = REFUSED[case]
    outcome = run("map", *arguments, cwd=tmp_path, env=env)
    assert (outcome.code, outcome.stdout) == (2, "")
    assert part in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_without_distributed(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "distributed.py").write_text("raise ImportError('not installed')\n")
    outcome = run_script("map", *SMALL, "--cluster", "tcp://127.0.0.1:1", env={**env, "PYTHONPATH": str(tmp_path)})
    assert (outcome.code, outcome.stdout) == (2, "")
    assert outcome.stderr == "error: --cluster needs distributed (hint: pip install 'fdverify[dask]')\n"


def test_unknown_is_no_success(env: dict[str, str]) -> None:
    outcome = run("map", *SMALL, "--time-limit", "1e-6", env=env)
    assert outcome.code == 3
    assert "unknown at all 8 instances" in outcome.stdout
    assert entries(env) == []


@contextmanager
def started(*arguments: str, env: dict[str, str]) -> Iterator["subprocess.Popen[str]"]:
    """The command in a session of its own, of which nothing is left afterwards."""
    process = subprocess.Popen(
        [script(), "map", *arguments],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )
    try:
        yield process
    finally:
        for left in in_session(process.pid):
            os.kill(left.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_killed_half_way_it_goes_on_where_it_was(env: dict[str, str], tmp_path: Path) -> None:
    arguments = (*RANGES, *TIMEOUTS, "--jobs", "2")
    with started(*arguments, env=env) as process:
        assert wait_until(lambda: len(entries(env)) >= CELLS // 3, LONG_ENOUGH)
        process.kill()
        process.wait()
        assert wait_until(lambda: in_session(process.pid) == [], LONG_ENOUGH)
    kept = len(entries(env))
    assert 0 < kept < CELLS
    second = run("map", *arguments, "--svg", str(tmp_path / "second.svg"), env=env)
    drawn, last = picture(second.stdout)
    assert last.startswith(f"{CELLS - kept} computed, {kept} from before, ")
    third = run("map", *arguments, "--svg", str(tmp_path / "third.svg"), env=env)
    assert picture(third.stdout)[1].startswith(f"0 computed, {CELLS} from before, ")
    whole = run("map", *arguments, "--no-cache", "--svg", str(tmp_path / "whole.svg"), env=env)
    assert drawn == picture(third.stdout)[0] == picture(whole.stdout)[0]
    drawings = {(tmp_path / f"{name}.svg").read_bytes() for name in ("second", "third", "whole")}
    assert len(drawings) == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_interrupted_it_keeps_what_is_done(env: dict[str, str]) -> None:
    with started("--delta", "4", "--phi", "1..400", "--jobs", "2", env=env) as process:
        assert wait_until(lambda: len(entries(env)) >= 4, LONG_ENOUGH)
        os.killpg(process.pid, signal.SIGINT)
        stdout, stderr = process.communicate(timeout=LONG_ENOUGH)
        assert (process.returncode, stdout) == (130, "")
        assert "Traceback" not in stderr
        assert in_session(process.pid) == []
    # Two workers take the cells in order: where four are done, at most two of the first six are not.
    again = document("--delta", "4", "--phi", "1..6", env=env)["statistics"]
    assert again["stored"] >= 4
    assert again["computed"] + again["stored"] == 6


@pytest.mark.slow
def test_a_cluster_draws_the_same(cluster: Cluster, env: dict[str, str]) -> None:
    outcome = run_script("map", *PICTURED, "--cluster", cluster.address, env=env)
    assert (outcome.code, odd_lines(outcome.stderr)) == (0, [])
    drawn, last = picture(outcome.stdout)
    assert drawn == PICTURE
    assert last.startswith("20 computed, 0 from before, ")
    # What the cluster has found is as good as what is found here.
    assert document(*PICTURED, env=env)["statistics"] == {"computed": 0, "stored": 20}


@pytest.mark.slow
def test_a_cluster_draws_a_large_map_the_same(cluster: Cluster, env: dict[str, str], tmp_path: Path) -> None:
    arguments = (*RANGES, *TIMEOUTS)
    other = environment(XDG_CACHE_HOME=str(tmp_path / "other"))
    far = run_script("map", *arguments, "--cluster", cluster.address, "--svg", str(tmp_path / "far.svg"), env=other)
    near = run("map", *arguments, "--jobs", "2", "--svg", str(tmp_path / "near.svg"), env=env)
    assert picture(far.stdout)[0] == picture(near.stdout)[0]
    assert (tmp_path / "far.svg").read_bytes() == (tmp_path / "near.svg").read_bytes()


@pytest.mark.slow
def test_a_cluster_and_a_model_of_ones_own(cluster: Cluster, env: dict[str, str]) -> None:
    file = Path(DETECTORS)
    arguments = ("--gst", "0..2", "--delta", "1", "--phi", "1", "--timeout", "6*phi+delta")
    outcome = run_script("map", file.name, *arguments, "--cluster", cluster.address, cwd=file.parent, env=env)
    assert outcome.code == 0
    assert "holds at all 3 instances" in outcome.stdout
    assert document(DETECTORS, *arguments, env=env)["statistics"] == {"computed": 0, "stored": 3}


@pytest.mark.slow
def test_a_cluster_has_time_limits(cluster: Cluster, env: dict[str, str]) -> None:
    outcome = run("map", *SMALL, "--time-limit", "1e-3", "--cluster", cluster.address, env=env)
    assert outcome.code == 3
    assert "unknown at all 8 instances" in outcome.stdout


@pytest.mark.slow
def test_a_cluster_tells_what_is_wrong_with_a_model(cluster: Cluster, env: dict[str, str], tmp_path: Path) -> None:
    """Phases are run here first, so that what is wrong with them is said before the cluster is asked."""
    (tmp_path / "broken.py").write_text(BROKEN)
    outcome = run_script(
        "map", "broken.py:MODEL", "--limit", "1..3", "--cluster", cluster.address, cwd=tmp_path, env=env
    )
    assert (outcome.code, outcome.stdout) == (2, "")
    assert outcome.stderr == "error: broken.py:7: RuntimeError: out of order\n"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_interrupted_while_a_cluster_works(cluster: Cluster, env: dict[str, str]) -> None:
    with started("--delta", "4", "--phi", "1..60", "--cluster", cluster.address, env=env) as process:
        assert wait_until(lambda: len(entries(env)) >= 2, LONG_ENOUGH)
        os.killpg(process.pid, signal.SIGINT)
        stdout, stderr = process.communicate(timeout=LONG_ENOUGH)
        assert (process.returncode, stdout) == (130, "")
        assert "Traceback" not in stderr
    assert wait_until(lambda: not cluster.list_interpreters(), LONG_ENOUGH), "what is under way there ends, too"
