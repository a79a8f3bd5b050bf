"""What became slower than on the page before is marked, on the same machine and on another one."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from commands import Cost, choose_best, run_process
from comparison import (
    Baseline,
    Change,
    Row,
    build_row,
    compare_in_turns,
    compare_rows,
    describe_comparison,
    list_slower,
    read_baseline,
    write_rows,
)

HERE, ELSEWHERE = "a machine, 2 cores", "another machine, 8 cores"
ROWS = [build_row(f"work {number}", Cost(number, 2.0 * number, 50), "9 s", "proved") for number in range(1, 6)]


def page(rows: list[Row], machine: str = HERE) -> str:
    return "\n".join([f"Machine: {machine}.", "", *write_rows(rows, [])])


def slow_down(rows: list[Row], what: str, column: str, times: float) -> list[Row]:
    return [
        replace(row, times={**row.times, column: row.times[column] * times}) if row.what == what else row
        for row in rows
    ]


def find_slower(before: str, rows: list[Row], machine: str = HERE) -> list[tuple[str, str]]:
    changes = compare_rows(rows, read_baseline(before), machine)
    return [(change.what, change.column) for change in changes if change.is_slower]


def test_the_page_that_was_written_is_read_back() -> None:
    baseline = read_baseline(page(ROWS))
    assert baseline.machine == HERE
    assert baseline.figures["seconds"] == {row.what: row.times["seconds"] for row in ROWS}
    assert baseline.figures["CPU"] == {row.what: row.times["CPU"] for row in ROWS}


def test_a_page_without_cpu_times_is_read() -> None:
    before = (
        "Machine: M, 2 cores.  Published elsewhere.\n\n| what | seconds | MB |\n| --- | --- | --- |\n| a | 0.5 | 9 |"
    )
    assert read_baseline(before) == Baseline("M, 2 cores", {"seconds": {"a": 0.5}, "CPU": {}})


def test_other_tables_are_not_read() -> None:
    assert read_baseline("| choice | seconds |\n| --- | --- |\n| one | 7.0 |").figures["seconds"] == {}


def test_nothing_is_slower_than_itself() -> None:
    assert find_slower(page(ROWS), ROWS) == []


@pytest.mark.parametrize("column", ["seconds", "CPU"])
def test_a_row_that_takes_longer_by_either_time_is_marked(column: str) -> None:
    rows = slow_down(ROWS, "work 3", column, 1.2)
    assert find_slower(page(ROWS), rows) == [("work 3", column)]
    marked = [line for line in write_rows(rows, compare_rows(rows, read_baseline(page(ROWS)), HERE)) if "×" in line]
    assert len(marked) == 1
    assert marked[0].startswith("| work 3 |")
    assert marked[0].endswith(f"| {column} 1.20 × |")


def test_what_is_within_the_tolerance_or_faster_is_not_marked() -> None:
    assert find_slower(page(ROWS), slow_down(ROWS, "work 3", "seconds", 1.14)) == []
    assert find_slower(page(ROWS), slow_down(ROWS, "work 3", "seconds", 0.5)) == []


def test_a_hundredth_of_a_second_is_no_difference() -> None:
    assert not Change("start", "seconds", 0.05, 0.065, 1.0).is_slower
    assert Change("start", "seconds", 0.05, 0.08, 1.0).is_slower


def test_a_row_is_marked_on_another_machine_if_it_deviates_from_the_median() -> None:
    rows = [build_row(row.what, Cost(2 * row.times["seconds"], 3 * row.times["CPU"], 50)) for row in ROWS]
    assert find_slower(page(ROWS, ELSEWHERE), rows) == []
    assert find_slower(page(ROWS, ELSEWHERE), slow_down(rows, "work 4", "CPU", 1.3)) == [("work 4", "CPU")]
    assert len(find_slower(page(ROWS, HERE), rows)) == 2 * len(ROWS)


def test_a_comparison_between_machines_is_said_to_be_one() -> None:
    changes = compare_rows(ROWS, read_baseline(page(ROWS, ELSEWHERE)), HERE)
    said = " ".join(describe_comparison(changes, read_baseline(page(ROWS, ELSEWHERE)), HERE))
    assert ELSEWHERE in said
    assert "median" in said
    assert "median" not in " ".join(describe_comparison(changes, read_baseline(page(ROWS)), HERE))


def test_new_rows_and_rows_that_were_given_up_are_not_compared() -> None:
    given_up = Row("work 2", {}, target="9 s", found="unknown", over=60)
    assert "| work 2 | over 60 | – | – | 9 s | unknown | – | – |" in write_rows([given_up], [])
    rows = [given_up, build_row("new", Cost(99, 99, 9))]
    assert compare_rows(rows, read_baseline(page(ROWS)), HERE) == []
    assert compare_rows(ROWS[1:2], read_baseline(page(rows)), HERE) == []
    assert "Nothing was compared" in describe_comparison([], read_baseline(""), HERE)[0]


def test_another_checkout_is_compared_row_by_row() -> None:
    rows = [replace(row, before=row.times) for row in ROWS]
    rows[2] = build_row("work 3", Cost(4.5, 6.0, 50), before=Cost(3.0, 6.0, 50))
    rows[3] = replace(rows[3], before={})  # it does not work there
    changes = compare_in_turns(rows)
    assert [(change.what, change.column, change.ratio) for change in changes if change.is_slower] == [
        ("work 3", "seconds", 1.5)
    ]
    assert not [change for change in changes if change.what == "work 4"]
    head, _, *lines = write_rows(rows, changes)
    assert head.startswith("| what | seconds | CPU | seconds before | CPU before | MB |")
    assert lines[2] == "| work 3 | 4.50 | 6.00 | 3.00 | 6.00 | 50 | – | – | – | seconds 1.50 × |"
    assert lines[3] == "| work 4 | 4.00 | 8.00 | – | – | 50 | 9 s | proved | – | – |"
    assert read_baseline("\n".join([head, "| --- |", *lines])).figures["seconds"]["work 3"] == 4.5


def test_old_new_and_ratio_are_listed() -> None:
    changes = compare_rows(slow_down(ROWS, "work 3", "seconds", 1.5), read_baseline(page(ROWS)), HERE)
    head, *_, last = list_slower(changes)
    assert head == "1 of 10 figures became slower:"
    assert last == "| work 3 | seconds | 3.00 | 4.50 | 1.50 |"
    assert list_slower(compare_rows(ROWS, read_baseline(page(ROWS)), HERE)) == ["None of 10 figures became slower."]


def test_the_best_is_chosen_for_each_figure_and_the_worst_for_memory() -> None:
    assert choose_best([Cost(1.0, 4.0, 10), Cost(2.0, 3.0, 20)]) == Cost(1.0, 3.0, 20)


def test_the_time_of_a_childs_child_is_counted(tmp_path: Path) -> None:
    burn = "import time\nwhile time.process_time() < 0.2: pass"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}]); print('done'); sys.exit(3)"
    done = run_process([sys.executable, "-c", code], tmp_path)
    assert (done.code, done.printed) == (3, b"done\n")
    assert done.cost.cpu >= 0.2
