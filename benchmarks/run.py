"""Measure and write docs/reference/performance.md: commands by their wall time and memory, choices as ratios.

With ``--large``, explorations of a hundred million states are measured, too; they take minutes and 4 GB of memory.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from unittest.mock import patch

from commands import ROOT, machine, measured
from plugin import plugin_lines
from threshold import threshold_lines
from watch import watch_lines

from fdverify.detectors.chandra_toueg import build_chandra_toueg
from fdverify.engines.bmc import bmc
from fdverify.engines.explore import explore
from fdverify.models.system import System
from fdverify.runs.concrete_interpreter import build_initial_state, enumerate_outcomes, observe_state
from fdverify.smt.solver import FreshSolver

PAGE = ROOT / "docs" / "reference" / "performance.md"
REPEATS = 3


@dataclass(frozen=True)
class Timed:
    """A command, how long it may take, and what the paper's tools took for the same question."""

    what: str
    arguments: str
    target: str
    published: str = ""
    command: str = "fdverify"
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
LEAST_LINEAR = {"tla": "3*phi+delta", "ivy": "3*phi+delta+1"}

COMMANDS = (
    Timed("start", "--help", "0.3 s"),
    Timed(
        "explore (4,4), sub-rounds",
        "explore --delta 4 --phi 4 --subrounds",
        "1 s",
        "TLC 3 s, Apalache 12 min, FAST over 6 h",
    ),
    Timed("explore (4,40), rounds", "explore --delta 4 --phi 40", "10 s, 2 GB"),
    Timed("explore (4,80), rounds", "explore --delta 4 --phi 80", "7 s"),
    Timed("explore (20,20), too short a timeout", "explore --delta 20 --phi 20 --timeout delta+1", "", "TLC over 6 h"),
    Timed(
        "bmc (20,20), too short a timeout",
        "bmc --delta 20 --phi 20 --timeout delta+1",
        "5 s",
        "TLC over 6 h, Apalache 75 min",
    ),
    Timed(
        "bmc (4, any Φ), too short a timeout",
        "bmc --buffer bitvector --delta 4 --phi symbolic --timeout delta+1",
        "",
        "FAST crashed",
    ),
    Timed("induct (2,4)", "induct --delta 2 --phi 4", "", "TLC 3 s, Apalache 8 min, FAST 16 min"),
    Timed("induct (4,4)", "induct --delta 4 --phi 4", "", "TLC 3 s, Apalache 12 min, FAST over 6 h"),
    Timed("induct (4,5)", "induct --delta 4 --phi 5", "", "TLC 3 s, Apalache over 6 h, FAST over 6 h"),
    *(
        Timed(f"{proof}, every Δ and Φ", f"invariants/{proof}.py --no-cache", "1 s", ivy, "verify-invariant")
        for proof, ivy in SAFETY
    ),
    Timed("the five safety proofs", f"{FIVE} --no-cache", "4 s, 500 MB", "Ivy 82 s", "verify-invariant"),
    Timed("the same and liveness", f"{EIGHT} --no-cache", "twice the five", "", "verify-invariant"),
    Timed("all shipped proofs, the tight ones included", "invariants --no-cache", "", "", "verify-invariant"),
    Timed("all shipped proofs, cached", "invariants", "", "", "verify-invariant"),
    Timed("liveness with an arbitrary GST", "examples/gst --no-cache", "15 s", "", "verify-invariant"),
    Timed("ping-pong, four proofs", "examples/ping_pong --no-cache", "", "", "verify-invariant"),
    Timed("a timeout that doubles, five proofs", "examples/doubling --no-cache", "", "", "verify-invariant"),
    *(
        Timed(f"cutoff, {variant}", f"cutoff chandra-toueg --variant {variant} --second-opinion cvc5", "10 s a lemma")
        for variant in LEAST_LINEAR
    ),
    *(
        Timed(f"bounds {about}, {variant}", f"bounds {about} --variant {variant}", "45 s")
        for about in ("accuracy", "detection")
        for variant in LEAST_LINEAR
    ),
    *(
        Timed(
            f"infer, {variant}, {guard}", f"infer --variant {variant} --timeout {guard}", "60 s", "four weeks by hand"
        )
        for variant, least in LEAST_LINEAR.items()
        for guard in ("6*phi+delta", least)
    ),
    Timed(
        "map 13 × 8, three timeouts",
        "map --delta 0..12 --phi 1..8 --timeout 3*phi --timeout 3*phi+delta --timeout 6*phi+delta --no-cache",
        "",
    ),
)

LARGE = (
    Timed("explore (4,186), rounds", "explore --delta 4 --phi 186", "", repeats=1),
    Timed("explore (4,186), states in files", "explore --delta 4 --phi 186 --memory-limit 500MB", "", repeats=1),
)


def one_at_a_time(system: System) -> int:
    """Reachable sub-round states by the interpreter alone, as the explorer's batches are compared with."""
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


def seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def ratios() -> list[str]:
    system = build_chandra_toueg(4, 4)
    claim = system.find_property("strong-accuracy")
    batches = seconds(lambda: explore(system, claim, subrounds=True))
    single = seconds(lambda: one_at_a_time(system))
    short = build_chandra_toueg(20, 20, timeout="delta+1")
    words = seconds(lambda: bmc(short, claim, depth=24))
    with patch("fdverify.engines.bmc.BitvectorSolver", FreshSolver):
        integers = seconds(lambda: bmc(short, claim, depth=24))
    return [
        f"| states in batches instead of one at a time, explore (4,4) at sub-rounds | {single / batches:.1f} |",
        f"| integers as bit-vectors instead of linear arithmetic, bmc (20,20) | {integers / words:.1f} |",
    ]


def main() -> None:
    lines = [
        "# Performance",
        "",
        "Written by `make bench`: whole commands with process start, the best of "
        f"{REPEATS} runs; memory is the largest process.",
        "",
        f"Machine: {machine()}.  The published figures are of other tools on another machine (a Core i7-6600U).",
        "",
        "| what | seconds | MB | target | found | published |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for timed in (*COMMANDS, *(LARGE if "--large" in sys.argv[1:] else ())):
        print(timed.what, file=sys.stderr)
        run = measured(timed.command, timed.arguments.split(), timed.repeats)
        cells = [timed.what, f"{run.wall:.2f}", str(run.memory), timed.target, run.verdict, timed.published]
        lines.append(f"| {' | '.join(cell or '–' for cell in cells)} |")
    lines += [
        "",
        "How much faster two choices make it, each pair in one run:",
        "",
        "| choice | times |",
        "| --- | --- |",
    ]
    lines += ratios()
    print("the pytest plugin", file=sys.stderr)
    lines += ["", "The pytest plugin, whole runs of pytest:", "", "| what | seconds | more |", "| --- | --- | --- |"]
    lines += plugin_lines()
    print("watching", file=sys.stderr)
    lines += ["", "From a save to the answer:", "", "| what | seconds | more |", "| --- | --- | --- |", *watch_lines()]
    print("threshold automata", file=sys.stderr)
    lines += [
        "",
        "Threshold automata for all parameters, by driver (`auto` begins with the query; see threshold.md).",
        "For the generated automata the target is 60 s and 4 GB:",
        "",
        "| automaton | specification | found | auto | query | search |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    lines += threshold_lines()
    PAGE.write_text("\n".join(lines) + "\n")
    print(PAGE.read_text())


if __name__ == "__main__":
    main()
