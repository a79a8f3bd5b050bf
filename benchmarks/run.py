"""Measure and write docs/reference/performance.md, and say what became slower than on the page that was there.

Commands are measured by their wall time, CPU time and memory, two choices as ratios.  With ``--large``, explorations of
a hundred million states are measured, too; they take minutes and 4 GB of memory.  With ``--beside FOLDER``, the other
commands of another checkout are run in turns with ours, and what is called slower is slower than there.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from unittest.mock import patch

from commands import (
    ROOT,
    MeasuredCommand,
    describe_commit,
    describe_document,
    describe_load,
    describe_machine,
    find_script,
    measure_command,
)
from comparison import (
    Row,
    build_row,
    compare_in_turns,
    compare_rows,
    describe_comparison,
    describe_turns,
    list_slower,
    read_baseline,
    write_rows,
)
from plugin import measure_plugin
from threshold import measure_drivers
from watch import measure_watch

from fdverify.detectors.chandra_toueg import build_chandra_toueg
from fdverify.engines.bmc import bmc
from fdverify.engines.explore import explore
from fdverify.models.system import System
from fdverify.runs.concrete_interpreter import build_initial_state, enumerate_outcomes, observe_state
from fdverify.smt.solver import FreshSolver

PAGE = ROOT / "docs" / "reference" / "performance.md"
REPEATS = 3


def describe_run(run: MeasuredCommand) -> str:
    """Describe what a command has found."""
    return describe_document(run.document)


def describe_exploration(run: MeasuredCommand) -> str:
    """Describe an exploration, with its speed and its memory above that of an exploration of next to nothing."""
    least = measure_command("fdverify", ["explore", "--delta", "0", "--phi", "1"], repeats=1).cost.memory
    states = run.document["statistics"]["states"]
    speed, size = states / run.cost.wall / 1e6, (run.cost.memory - least) * 2**20 / states
    return f"{describe_run(run)}, {speed:.2f} million states a second, {size:.0f} bytes a state"


@dataclass(frozen=True)
class TimedCommand:
    """A command, how long it may take, and what the paper's tools took for the same question.

    It begins with an empty cache, unless a run before it made everything ``known``.  One with a ``limit`` is run once,
    and given up after so many seconds.
    """

    what: str
    arguments: str
    target: str = ""
    published: str = ""
    command: str = "fdverify"
    known: bool = False
    limit: int | None = None
    describe: Callable[[MeasuredCommand], str] = describe_run
    repeats: int = REPEATS


SAFETY = (
    ("strong_accuracy", "Ivy 4 s"),
    ("eventually_strong_accuracy", "Ivy 4 s"),
    ("strong_completeness_fixed_timeout", "Ivy 8 s"),
    ("strong_completeness_big_timeout", "Ivy 22 s"),
    ("strong_completeness_any_timeout", "Ivy 44 s"),
)
FIVE = " ".join(f"invariants/{proof}.py" for proof, _ in SAFETY)
LIVENESS = ("asynchronous_completeness", "eventual_trust", "lasting_suspicion")
EIGHT = " ".join([FIVE, *(f"invariants/{proof}.py" for proof in LIVENESS)])
SIXTEEN = " ".join(f"invariants/{path.name}" for path in sorted((ROOT / "invariants").glob("[!_]*.py")))
SYMBOLIC_BMC = "bmc --delta symbolic --phi symbolic --timeout 6*phi+delta"
BMC_LIMIT = 60
LEAST_LINEAR = {"tla": "3*phi+delta", "ivy": "3*phi+delta+1"}

COMMANDS = (
    TimedCommand("start", "--help", "0.3 s"),
    TimedCommand(
        "explore (4,4), sub-rounds",
        "explore --delta 4 --phi 4 --subrounds",
        "1 s",
        "TLC 3 s, Apalache 12 min, FAST over 6 h",
    ),
    TimedCommand("explore (4,20), sub-rounds", "explore --delta 4 --phi 20 --subrounds"),
    TimedCommand("explore (4,40), rounds", "explore --delta 4 --phi 40", "10 s, 2 GB"),
    TimedCommand(
        "explore (4,80), rounds",
        "explore --delta 4 --phi 80",
        "1.2 million states a second, 32 bytes a state",
        describe=describe_exploration,
    ),
    TimedCommand(
        "explore (20,20), too short a timeout", "explore --delta 20 --phi 20 --timeout delta+1", "", "TLC over 6 h"
    ),
    TimedCommand(
        "bmc (20,20), too short a timeout",
        "bmc --delta 20 --phi 20 --timeout delta+1",
        "5 s",
        "TLC over 6 h, Apalache 75 min",
    ),
    TimedCommand(
        "bmc (4, any Φ), too short a timeout",
        "bmc --buffer bitvector --delta 4 --phi symbolic --timeout delta+1",
        "",
        "FAST crashed",
    ),
    TimedCommand("bmc (any Δ, any Φ), depth 20", f"{SYMBOLIC_BMC} --depth 20"),
    TimedCommand(
        f"bmc (any Δ, any Φ), depth 40, given up after {BMC_LIMIT} s",
        f"{SYMBOLIC_BMC} --depth 40",
        "30 s",
        limit=BMC_LIMIT,
    ),
    TimedCommand("induct (2,4)", "induct --delta 2 --phi 4", "", "TLC 3 s, Apalache 8 min, FAST 16 min"),
    TimedCommand("induct (4,4)", "induct --delta 4 --phi 4", "", "TLC 3 s, Apalache 12 min, FAST over 6 h"),
    TimedCommand("induct (4,5)", "induct --delta 4 --phi 5", "", "TLC 3 s, Apalache over 6 h, FAST over 6 h"),
    *(
        TimedCommand(f"{proof}, every Δ and Φ", f"invariants/{proof}.py --no-cache", "1 s", ivy, "verify-invariant")
        for proof, ivy in SAFETY
    ),
    TimedCommand("the five safety proofs", f"{FIVE} --no-cache", "4 s, 500 MB", "Ivy 82 s", "verify-invariant"),
    TimedCommand("the same and liveness", f"{EIGHT} --no-cache", "twice the five", "", "verify-invariant"),
    TimedCommand(
        "all proofs of Chandra-Toueg, the tight ones included",
        f"{SIXTEEN} --no-cache",
        "2.2 s, 4 s CPU",
        command="verify-invariant",
    ),
    TimedCommand(
        "strong_accuracy, nothing changed",
        "invariants/strong_accuracy.py",
        "0.2 s",
        command="verify-invariant",
        known=True,
    ),
    TimedCommand(
        "all proofs of Chandra-Toueg, nothing changed", SIXTEEN, "0.5 s", command="verify-invariant", known=True
    ),
    TimedCommand(
        "deadline heartbeat, four proofs", "invariants/deadline_heartbeat --no-cache", command="verify-invariant"
    ),
    TimedCommand("missed checks, four proofs", "invariants/missed_checks --no-cache", command="verify-invariant"),
    TimedCommand("liveness with an arbitrary GST", "examples/gst --no-cache", "15 s", "", "verify-invariant"),
    TimedCommand("ping-pong, four proofs", "examples/ping_pong --no-cache", "", "", "verify-invariant"),
    TimedCommand("a timeout that doubles, five proofs", "examples/doubling --no-cache", "", "", "verify-invariant"),
    *(
        TimedCommand(f"cutoff, {variant}, one solver", f"cutoff chandra-toueg --variant {variant}", "3 s")
        for variant in LEAST_LINEAR
    ),
    *(
        TimedCommand(
            f"cutoff, {variant}", f"cutoff chandra-toueg --variant {variant} --second-opinion cvc5", "10 s a lemma"
        )
        for variant in LEAST_LINEAR
    ),
    *(
        TimedCommand(f"bounds {about}, {variant}", f"bounds {about} --variant {variant}", target)
        for about, target in (("accuracy", "3 s"), ("detection", "6 s"))
        for variant in LEAST_LINEAR
    ),
    *(
        TimedCommand(
            f"infer, {variant}, {guard}", f"infer --variant {variant} --timeout {guard}", "3 s", "four weeks by hand"
        )
        for variant, least in LEAST_LINEAR.items()
        for guard in ("6*phi+delta", least)
    ),
    TimedCommand(
        "map 13 × 8, three timeouts",
        "map --delta 0..12 --phi 1..8 --timeout 3*phi --timeout 3*phi+delta --timeout 6*phi+delta --no-cache",
    ),
    TimedCommand("threshold check, reliable broadcast", "threshold check examples/threshold/strb.ta", "0.25 s CPU"),
)


LARGE = (
    TimedCommand("explore (4,186), rounds", "explore --delta 4 --phi 186", describe=describe_exploration, repeats=1),
    TimedCommand("explore (4,186), states in files", "explore --delta 4 --phi 186 --memory-limit 500MB", repeats=1),
)
OTHERS: dict[str, Callable[[], list[Row]]] = {"the pytest plugin": measure_plugin, "watching": measure_watch}


def measure_rows(only: Sequence[str], large: bool, beside: Path | None = None) -> list[Row]:
    """Measure everything whose name has one of these texts, or everything."""
    rows = []
    wanted = [(timed, beside) for timed in COMMANDS] + [(timed, None) for timed in (LARGE if large else ())]
    for timed, checkout in wanted:
        if is_wanted(timed.what, only):
            print(timed.what, file=sys.stderr)
            rows.append(measure_timed_command(timed, checkout))
    for name, measure in OTHERS.items():
        if is_wanted(name, only):
            print(name, file=sys.stderr)
            rows += measure()
    return rows


def is_wanted(name: str, only: Sequence[str]) -> bool:
    return not only or any(text in name for text in only)


def measure_timed_command(timed: TimedCommand, beside: Path | None = None) -> Row:
    """Measure a command; one that is given up has no times."""
    arguments = timed.arguments.split()
    if timed.limit is None:
        run = measure_command(timed.command, arguments, timed.repeats, timed.known, beside)
    else:
        run = measure_command(timed.command, [*arguments, "--time-limit", str(timed.limit)], 1, timed.known)
        if run.document["verdict"] == "unknown":
            return Row(timed.what, {}, None, timed.target, describe_run(run), timed.published, over=timed.limit)
    return build_row(timed.what, run.cost, timed.target, timed.describe(run), timed.published, run.before)


def count_states_singly(system: System) -> int:
    """Count reachable sub-round states by the interpreter alone, as the explorer's batches are compared with."""
    frontier = {tuple(observe_state(system, build_initial_state(system)).items()): build_initial_state(system)}
    seen = {(0, key) for key in frontier}
    at = 0
    while frontier:
        phase, at = system.phases[at], (at + 1) % len(system.phases)
        found = [after for state in frontier.values() for _, after in enumerate_outcomes(system, phase, state)]
        frontier = {}
        for state in found:
            key = tuple(observe_state(system, state).items())
            if (at, key) not in seen:
                seen.add((at, key))
                frontier[key] = state
    return len(seen)


def time_call(work: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    start = perf_counter()
    work()
    return perf_counter() - start


def measure_choices() -> list[str]:
    """Measure how much faster two choices make it: a row for each."""
    system = build_chandra_toueg(4, 4)
    claim = system.find_property("strong-accuracy")
    batches = time_call(lambda: explore(system, claim, subrounds=True))
    single = time_call(lambda: count_states_singly(system))
    short = build_chandra_toueg(20, 20, timeout="delta+1")
    words = time_call(lambda: bmc(short, claim, depth=24))
    with patch("fdverify.engines.bmc.BitvectorSolver", FreshSolver):
        integers = time_call(lambda: bmc(short, claim, depth=24))
    return [
        f"| states in batches instead of one at a time, explore (4,4) at sub-rounds | {single / batches:.1f} |",
        f"| integers as bit-vectors instead of linear arithmetic, bmc (20,20) | {integers / words:.1f} |",
    ]


def write_page(table: Sequence[str], comparison: Sequence[str]) -> str:
    """Measure what is not compared, and write the page."""
    print("two choices", file=sys.stderr)
    choices = measure_choices()
    print("threshold automata", file=sys.stderr)
    drivers = measure_drivers()
    lines = [
        "# Performance",
        "",
        f"Written by `make bench`: whole commands with process start, the best of {REPEATS} runs, each with an empty "
        "cache unless nothing changed.",
        "CPU is user and system time of all processes of a command; memory is that of the largest process.",
        "",
        "[Where the time goes](../explanation/speed.md) says which targets are missed, and why.",
        f"Machine: {describe_machine()}.",
        "The published figures are of other tools on another machine (a Core i7-6600U).",
        *comparison,
        "",
        *table,
        "",
        "How much faster two choices make it, each pair in one run:",
        "",
        "| choice | times |",
        "| --- | --- |",
        *choices,
        "",
        "Threshold automata for all parameters, by driver (`auto` begins with the query; see threshold.md), run once.",
        "For the generated automata the target is 60 s and 4 GB:",
        "",
        "| automaton | specification | found | auto | query | search |",
        "| --- | --- | --- | --- | --- | --- |",
        *drivers,
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only",
        metavar="TEXT",
        action="append",
        default=[],
        help="measure only what has this text in its name, and write no page; repeatable",
    )
    parser.add_argument("--large", action="store_true", help="explore a hundred million states, too")
    parser.add_argument("--beside", metavar="FOLDER", type=Path, help="run the commands of this checkout in turns, too")
    given = parser.parse_args()
    only: list[str] = given.only
    beside: Path | None = None if given.beside is None else given.beside.resolve()
    if beside is not None and not find_script("fdverify", beside).exists():
        parser.error(f"--beside {given.beside}: there is no {find_script('fdverify', given.beside)}")
    machine, baseline = describe_machine(), read_baseline(PAGE.read_text())
    load, rows = describe_load(), measure_rows(only, given.large, beside)
    if beside is None:
        changes = compare_rows(rows, baseline, machine)
        relation = describe_comparison(changes, baseline, machine)
    else:
        changes, relation = compare_in_turns(rows), describe_turns(describe_commit(beside))
    table = write_rows(rows, changes)
    comparison = [*load, *relation]
    if only:
        print("\n".join([*table, "", *comparison]))
    else:
        PAGE.write_text(write_page(table, comparison))
        print(PAGE.read_text())
    print("\n".join(["", *list_slower(changes)]))


if __name__ == "__main__":
    main()
