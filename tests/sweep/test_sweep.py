"""A map says of each instance what the explorer says of it alone, and remembers only what is still true."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from fdverify.detectors.chandra_toueg import CHANDRA_TOUEG
from fdverify.engines.explore import explore
from fdverify.errors import UsageError
from fdverify.model_check.check_request import CheckRequest
from fdverify.sweep import sweep as surveying
from fdverify.sweep.cell_check import PACKAGE, CellAnswer, CellHandler, digest_sources
from fdverify.sweep.parameter_grid import build_grid
from fdverify.sweep.sweep import SweepRequest, SweepSettings, run_sweep
from fdverify.sweep.sweep_result import ParameterMap, find_frontier
from fdverify.verdict import Verdict
from fdverify.workers.backends import WorkerSettings
from fdverify.workers.executor import TaskOutcome
from tests.sampling import choose, every

LEAST = "3*phi + 3*(delta//3) + min(delta%3, 1)*min(phi-1, 1)"
"""The least timeout of the tla variant with which strong accuracy holds."""
SMALL = {"delta": range(0, 4), "phi": range(1, 4)}
LARGE = choose(full={"delta": range(0, 13), "phi": range(1, 9)}, sample={"delta": range(0, 5), "phi": range(1, 4)})

COUNTER = """
import os

from fdverify.logic import If
from fdverify.models.model import Model, Option
from fdverify.models.system import Flag, Integers, Parameter, Phase, Property, System, Variable, update


made = {"os": os}
exec("def end(): os._exit(1)", made)
end = made["end"]


def build(limit, steps, dies):
    def count(s, c):
        from most import MOST

        if dies == str(limit):
            end()
        return update(assume=s.x < s.steps, x=If(c.go, s.x + 1, s.x))

    def small(s):
        from most import MOST

        return s.x <= MOST

    return System(
        name="counter",
        options={"dies": dies},
        parameters=(Parameter("limit", 0, limit), Parameter("steps", 0, steps)),
        variables=(Variable("x", Integers(), initial=lambda s: 0),),
        phases=(Phase("count", count, (Flag("go"),)),),
        properties=(Property("small", small, "x is small"),),
    )


MODEL = Model(
    "counter",
    "counts",
    (Parameter("limit", 0, None), Parameter("steps", 0, None)),
    (Option("dies", "where it kills its process", ""),),
    "small",
    build,
)
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def counter(tmp_path: Path) -> str:
    (tmp_path / "counter.py").write_text(COUNTER)
    (tmp_path / "most.py").write_text("MOST = 3\n")
    return f"{tmp_path / 'counter.py'}:MODEL"


def detector(ranges: Mapping[str, range], *timeouts: str, **chosen: str) -> SweepRequest:
    defaults = {option.name: option.default for option in CHANDRA_TOUEG.options}
    options = [{**defaults, **chosen, "timeout": timeout} for timeout in timeouts]
    return SweepRequest("chandra-toueg", "strong-accuracy", build_grid(ranges), options)


def made(question: SweepRequest, jobs: int = 1, **settings: bool | float) -> ParameterMap:
    chosen = SweepSettings(WorkerSettings(jobs), **settings)  # type: ignore[arg-type]
    return run_sweep(question, chosen, lambda done, total: None)


def verdicts(found: ParameterMap, panel: int = 0) -> dict[tuple[int, ...], tuple[Verdict | None, int | None]]:
    cells = found.panels[panel].cells
    return {tuple(cell.parameters.values()): (cell.verdict, cell.rounds) for cell in cells}


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["tla", "ivy"])
def test_cells_are_what_the_explorer_says(variant: str) -> None:
    timeouts = ("3*phi", "3*phi+delta-1")
    found = made(detector(SMALL, *timeouts, variant=variant), jobs=2)
    for panel, timeout in enumerate(timeouts):
        for (delta, phi), (verdict, rounds) in verdicts(found, panel).items():
            system = CHANDRA_TOUEG.instantiate({"delta": delta, "phi": phi}, {"variant": variant, "timeout": timeout})
            alone = explore(system, system.find_property("strong-accuracy"))
            assert (verdict, rounds) == (alone.verdict, None if alone.run is None else len(alone.run.rounds))
    assert {cell.verdict for panel in found.panels for cell in panel.cells} == {
        Verdict.PROVED,
        Verdict.VIOLATED,
    }


@pytest.mark.slow
def test_the_least_timeout_is_on_the_frontier() -> None:
    found = made(detector(LARGE, LEAST, f"{LEAST} - 1"), jobs=2)
    safe, less = ({verdict for verdict, _ in verdicts(found, panel).values()} for panel in (0, 1))
    assert (safe, less) == ({Verdict.PROVED}, {Verdict.VIOLATED})
    assert found.exit_code == 0


def test_frontier_is_between_proved_and_violated() -> None:
    found = made(detector({"delta": range(0, 4), "phi": range(1, 3)}, "3*phi"))
    assert [cell.verdict == Verdict.PROVED for cell in found.panels[0].cells] == [
        *(True, True, True, False),
        *(True, False, False, False),
    ]
    border = find_frontier(found.panels[0])
    assert border.columns == {(2, 0), (0, 1)}
    assert border.rows == {(1, 0), (2, 0)}


def test_what_is_no_instance() -> None:
    found = made(detector(SMALL, "3*phi-6"))
    for (_, phi), (verdict, _) in verdicts(found).items():
        assert (verdict is None) == (phi < 3)
    nothing = next(iter(found.panels[0].cells))
    assert nothing.detail == "initial_timeout = 3*phi-6 must be at least 1, got -3"
    assert (found.computed, found.exit_code) == (4, 0)


@pytest.mark.slow
def test_nothing_is_computed_twice(cache: Path) -> None:
    first = made(detector(SMALL, "3*phi"), jobs=2)
    assert (first.computed, first.stored) == (12, 0)
    again = made(detector(SMALL, "3*phi"))
    assert (again.computed, again.stored) == (0, 12)
    assert again.panels == first.panels
    wider = made(detector({"delta": range(2, 6), "phi": range(1, 4)}, "3*phi"))
    assert (wider.computed, wider.stored) == (6, 6)
    aside = made(detector(SMALL, "3*phi"), cache=False)
    assert (aside.computed, aside.stored) == (12, 0)
    assert aside.panels == first.panels


@pytest.mark.parametrize(
    "change",
    [
        lambda question: replace(question, claim="eventually-strong-accuracy"),
        lambda question: replace(question, options=[{**question.options[0], "variant": "ivy"}]),
        lambda question: replace(question, options=[{**question.options[0], "timeout": "3*phi+0"}]),
        lambda question: replace(question, options=[{**question.options[0], "crash": True}]),
    ],
)
def test_another_question_is_not_answered_by_this_one(change: Callable[[SweepRequest], SweepRequest]) -> None:
    question = detector({"delta": range(1, 2), "phi": range(1, 2)}, "3*phi")
    made(question)
    assert made(question).stored == 1
    assert made(change(question)).stored == 0


@pytest.mark.parametrize(
    "damage",
    every(
        3,
        [
            lambda text: text.replace("violated", "proved"),
            lambda text: text.replace("proved", "violated"),
            lambda text: text[:-20],
            lambda text: "",
            lambda text: text.splitlines()[0],
            lambda text: text + "more\n",
            lambda text: "\x00" * len(text),
        ],
    ),
)
def test_damaged_entries_are_computed_again(cache: Path, damage: Callable[[str], str]) -> None:
    question = detector({"delta": range(2, 4), "phi": range(1, 2)}, "3*phi")
    first = made(question)
    files = [path for path in (cache / "fdverify" / "map").rglob("*") if path.is_file()]
    assert len(files) == 2
    before = [file.read_text() for file in files]
    for file, text in zip(files, before, strict=True):
        file.write_text(damage(text))
    again = made(question)
    assert again.panels == first.panels
    assert again.computed == sum(damage(text) != text for text in before) > 0
    assert made(question).stored == 2


def test_entries_of_one_instance_are_not_taken_for_another(cache: Path) -> None:
    question = detector({"delta": range(2, 4), "phi": range(1, 2)}, "3*phi")
    made(question)
    one, other = (path for path in (cache / "fdverify" / "map").rglob("*") if path.is_file())
    one.write_text(other.read_text())
    again = made(question)
    assert again.computed == 1
    assert [cell.verdict for cell in again.panels[0].cells] == [Verdict.PROVED, Verdict.VIOLATED]


def test_a_folder_that_cannot_be_written_is_no_reason_to_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    assert made(detector({"delta": range(0, 1), "phi": range(1, 2)}, "3*phi")).computed == 1


def counting(reference: str, steps: range, dies: str = "") -> SweepRequest:
    return SweepRequest(reference, "small", build_grid({"limit": range(0, 3), "steps": steps}), [{"dies": dies}])


def test_what_a_model_imports_late_is_part_of_it(counter: str, tmp_path: Path) -> None:
    question = counting(counter, range(9, 10))
    first = made(question)
    assert set(verdicts(first).values()) == {(Verdict.VIOLATED, 4)}
    assert made(question).stored == 3
    (tmp_path / "most.py").write_text("MOST = 5\n")
    changed = made(question)
    assert (changed.computed, changed.stored) == (3, 0)
    assert set(verdicts(changed).values()) == {(Verdict.VIOLATED, 6)}
    (tmp_path / "counter.py").write_text(COUNTER + "\n# changed\n")
    assert made(question).computed == 3
    assert made(question).computed == 0


def test_dead_ends_are_neither_proved_nor_violated(counter: str) -> None:
    found = made(counting(counter, range(2, 3)))
    assert set(verdicts(found).values()) == {(Verdict.VACUOUS, 2)}
    assert found.exit_code == 4
    assert made(counting(counter, range(2, 3))).stored == 3


def test_a_worker_that_dies_leaves_its_instance_unknown(counter: str) -> None:
    for _ in range(2):
        found = made(counting(counter, range(9, 10), dies="1"), jobs=2)
        assert [verdict for verdict, _ in verdicts(found).values()] == [
            Verdict.VIOLATED,
            Verdict.UNKNOWN,
            Verdict.VIOLATED,
        ]
        assert found.exit_code == 3
    assert (found.computed, found.stored) == (1, 2)


def test_time_is_up(cache: Path) -> None:
    question = detector({"delta": range(0, 2), "phi": range(1, 2)}, "3*phi")
    found = made(question, time_limit=1e-6)
    assert {cell.verdict for cell in found.panels[0].cells} == {Verdict.UNKNOWN}
    assert {cell.detail for cell in found.panels[0].cells} == {
        "the author's functions were not compared: the time limit of 1e-06 s was reached"
    }
    assert found.exit_code == 3
    assert not (cache / "fdverify" / "map").exists()
    assert made(question).computed == 2


@pytest.mark.parametrize("there", [None, "another"])
@pytest.mark.parametrize("name", [PACKAGE, "counter.py"])
def test_answers_about_something_else_are_refused(
    name: str, there: str | None, counter: str, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker on another machine may have another version of the tool or of the file."""
    source = name if name == PACKAGE else str(tmp_path / name)

    def elsewhere(
        work: Mapping[int, CheckRequest], workers: WorkerSettings, time_limit: float | None, told: CellHandler
    ) -> None:
        known = {**digest_sources(), source: there}
        run = {name: digest for name, digest in known.items() if digest is not None}
        told(0, TaskOutcome(value=CellAnswer(Verdict.PROVED, "", None, run)))

    monkeypatch.setattr(surveying, "check_cells", elsewhere)
    with pytest.raises(UsageError, match="another fdverify" if name == PACKAGE else "has changed"):
        made(counting(counter, range(9, 10)))
    assert not (cache / "fdverify" / "map").exists()


def test_axes() -> None:
    ranges = {"a": range(1, 2), "b": range(2, 4), "c": range(3, 4)}
    grid = build_grid(ranges)
    assert grid.across.name == "a"
    assert grid.down is not None
    assert grid.down.name == "b"
    assert grid.fixed == {"c": 3}
    assert list(grid.enumerate_positions()) == [(0, 0), (0, 1)]
    assert grid.get_parameters((0, 1)) == {"a": 1, "b": 3, "c": 3}
    assert build_grid({"a": range(0, 3)}).down is None
    for wrong in ({}, {name: range(0, 2) for name in "abc"}):
        with pytest.raises(UsageError):
            build_grid(wrong)
