"""The published tables: every row, by the explorer and by the solver, in the encoding that the row names."""

import csv
from pathlib import Path

import pytest

from fdverify.detectors.chandra_toueg import build_chandra_toueg
from fdverify.engines.bmc import bmc
from fdverify.engines.explore import explore
from fdverify.engines.kinduction import k_induction
from fdverify.models.system import System
from fdverify.runs.run import replay_run
from fdverify.verdict import Verdict
from tests.sampling import choose, every

DATA = Path(__file__).parent.parent / "data"
Row = dict[str, str]


def table(name: str) -> list[Row]:
    with (DATA / name).open() as file:
        return list(csv.DictReader(file))


def system(row: Row) -> System:
    return build_chandra_toueg(int(row["delta"]), int(row["phi"]), timeout=row["initial_timeout"], buffer=row["buffer"])


def label(row: Row) -> str:
    return f"{row['delta']}-{row['phi']}-{row['buffer']}"


HOLDS = table("table1_holds.csv")
VIOLATED = table("table2_violated.csv")
LARGE = 20


def test_the_tables_are_there() -> None:
    assert len(HOLDS) == 6
    assert len(VIOLATED) == 5


@pytest.mark.parametrize("row", HOLDS, ids=label)
def test_a_row_of_table_1_holds_by_exploration(row: Row) -> None:
    model = system(row)
    result = explore(model, model.find_property("strong-accuracy"), subrounds=True)
    assert result.verdict is Verdict.PROVED
    if (row["delta"], row["phi"]) == ("4", "5"):
        # Printed beside Φ = 5 are the figures of Φ = 6; the next test shows that.
        assert result.statistics == {"states": 28492, "depth": 225}
    else:
        assert thousands(result.statistics["states"]) == row["tlc_states"]
        assert str(result.statistics["depth"]) == row["tlc_depth"]


def test_the_figures_printed_for_phi_5_are_those_of_phi_6() -> None:
    model = build_chandra_toueg(4, 6)
    result = explore(model, model.find_property("strong-accuracy"), subrounds=True)
    printed = next(row for row in HOLDS if row["phi"] == "5")
    assert thousands(result.statistics["states"]) == printed["tlc_states"]
    assert str(result.statistics["depth"]) == printed["tlc_depth"]


@pytest.mark.parametrize("row", every(8, HOLDS), ids=label)
def test_a_row_of_table_1_holds_by_k_induction(row: Row) -> None:
    model = system(row)
    result = k_induction(model, model.find_property("strong-accuracy"), max_k=60)
    assert result.verdict is Verdict.PROVED
    assert [o.verdict for o in result.obligations] == [Verdict.PROVED] * 3
    assert result.statistics["k"] == {("2", "4"): 18, ("4", "4"): 20, ("4", "5"): 24}[row["delta"], row["phi"]]


@pytest.mark.parametrize(
    "row", choose(full=VIOLATED, sample=[row for row in VIOLATED if row["delta"] != str(LARGE)]), ids=label
)
def test_a_row_of_table_2_is_violated_by_exploration(row: Row) -> None:
    model = system(row)
    large = int(row["delta"]) == LARGE
    result = explore(model, model.find_property("strong-accuracy"), subrounds=not large)
    assert result.verdict is Verdict.VIOLATED
    assert result.run is not None
    assert len(result.run.rounds) == (24 if large else 6)
    last = replay_run(model, result.run).last
    assert last.suspected


@pytest.mark.parametrize("row", VIOLATED, ids=label)
def test_a_row_of_table_2_is_violated_by_bounded_model_checking(row: Row) -> None:
    model = system(row)
    result = bmc(model, model.find_property("strong-accuracy"), depth=100)
    assert result.verdict is Verdict.VIOLATED
    assert result.run is not None
    # Apalache counts sub-rounds: 42 and 168 are seven times these.
    assert 7 * len(result.run.rounds) == int(row["apalache_depth"])
    assert replay_run(model, result.run).last.suspected


def thousands(number: int) -> str:
    return f"{number / 1000:.1f}K"
