"""Measure Ivy, TLC and ByMC side by side with fdverify, and write docs/reference/peers.md.

Peers are not part of this package: environment variables say how they are called, and where their input files are.
Without them, fdverify is measured alone, and nothing is written.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from commands import ROOT, Cost, choose_best, describe_load, describe_machine, find_script, format_row, run_process

PAGE = ROOT / "docs" / "reference" / "peers.md"
FILES = "FDVERIFY_PEER_FILES"
"""The variable that names the folder of the peers' input files."""
PLACE = "{file}"
"""Stands in a peer's command for the name of the input file."""


@dataclass(frozen=True)
class Peer:
    """Another tool: the variable with its command, and what it prints when all is proved and when something is not.

    An exit code alone does not say that a peer has proved anything.
    """

    name: str
    variable: str
    example: str
    success: str
    failure: str


@dataclass(frozen=True)
class Target:
    """How many times as long the peer should take, by the wall and in CPU time, or how much CPU time we may take."""

    wall: float | None = None
    cpu: float | None = None
    own_cpu: float | None = None

    def describe(self) -> str:
        parts = (("wall ≥ {:g}", self.wall), ("CPU ≥ {:g}", self.cpu), ("ours ≤ {:g} s CPU", self.own_cpu))
        return ", ".join(text.format(value) for text, value in parts if value is not None)

    def is_missed(self, peer: Cost | None, ours: Cost | None) -> bool:
        """Tell whether what was measured misses the target; what was not measured misses nothing."""
        if ours is None:
            return False
        is_long = self.own_cpu is not None and ours.cpu > self.own_cpu
        if peer is None:
            return is_long
        return (
            is_long
            or (self.wall is not None and peer.wall < self.wall * ours.wall)
            or (self.cpu is not None and peer.cpu < self.cpu * ours.cpu)
        )


@dataclass(frozen=True)
class Contest:
    """The same work for a peer, in a file of its own, and for us."""

    what: str
    peer: Peer
    file: str
    ours: str
    target: Target


@dataclass(frozen=True)
class Side:
    """What one side of a contest took, or why there is no time."""

    cost: Cost | None
    problem: str = ""


@dataclass(frozen=True)
class ContestResult:
    contest: Contest
    peer: Side
    ours: Side


IVY = Peer("Ivy", "FDVERIFY_PEER_IVY", "ivy_check complete=fo {file}", "OK", "FAIL")
TLC = Peer(
    "TLC",
    "FDVERIFY_PEER_TLC",
    "java -XX:+UseParallelGC -cp /path/to/tla2tools.jar tlc2.TLC -workers auto {file}",
    "No error has been found",
    "Error:",
)
BYMC = Peer("ByMC", "FDVERIFY_PEER_BYMC", "/path/to/bymc/verifypa-schema {file} all", "holds", "counterexample")
PEERS = (IVY, TLC, BYMC)

CONTESTS = (
    *(
        Contest(proof, IVY, file, f"verify-invariant invariants/{proof}.py --no-cache", Target(wall=4, cpu=3))
        for proof, file in (
            ("strong_accuracy", "fd_sa_fnc.ivy"),
            ("eventually_strong_accuracy", "fd_esa_fnc.ivy"),
            ("strong_completeness_fixed_timeout", "fd_sc_fixed_timeout_fnc.ivy"),
            ("strong_completeness_big_timeout", "fd_sc_big_timeout_fnc.ivy"),
            ("strong_completeness_any_timeout", "fd_sc_fnc.ivy"),
        )
    ),
    *(
        Contest(
            f"explore (4,{phi}), sub-rounds",
            TLC,
            f"MC_sa_cntr_d4p{phi}.tla",
            f"fdverify explore --delta 4 --phi {phi} --subrounds",
            Target(cpu=ratio),
        )
        for phi, ratio in ((4, 5), (20, 9))
    ),
    Contest(
        "threshold check, reliable broadcast",
        BYMC,
        "strb.ta",
        "fdverify threshold check examples/threshold/strb.ta",
        Target(own_cpu=0.25),
    ),
)


def list_obstacles(contest: Contest, environment: Mapping[str, str]) -> list[str]:
    """List what is missing to measure a contest's peer, a line each."""
    peer, command, folder = contest.peer, environment.get(contest.peer.variable, ""), environment.get(FILES, "")
    lines = []
    if not command:
        lines.append(f"{peer.name} is not measured: set {peer.variable}, for example to '{peer.example}'")
    elif PLACE not in command:
        lines.append(f"{peer.name} is not measured: {peer.variable} has no {PLACE}, the place of the input file")
    if not folder:
        lines.append(f"no peer is measured: set {FILES} to the folder with the peers' input files")
    elif not Path(folder, contest.file).is_file():
        lines.append(f"{contest.what} is not measured with {peer.name}: there is no {contest.file} in {FILES}")
    return lines


def find_peer_command(contest: Contest, environment: Mapping[str, str]) -> list[str] | None:
    """Find the command of a contest's peer, or ``None`` if something is missing."""
    if list_obstacles(contest, environment):
        return None
    return [word.replace(PLACE, contest.file) for word in shlex.split(environment[contest.peer.variable])]


def find_own_command(contest: Contest) -> list[str]:
    name, *arguments = contest.ours.split()
    return [str(find_script(name)), *arguments]


def hold_contest(
    contest: Contest, peer_command: Sequence[str] | None, own_command: Sequence[str], files: Path, repeats: int
) -> ContestResult:
    """Measure both sides in turns, so that both have the same machine."""
    print(contest.what, file=sys.stderr)
    peer_runs, own_runs = list[Side](), list[Side]()
    for _ in range(repeats):
        if peer_command is not None:
            peer_runs.append(run_peer(contest.peer, peer_command, files))
        own_runs.append(run_own(own_command))
    peer = join_runs(peer_runs) if peer_runs else Side(None)
    return ContestResult(contest, peer, join_runs(own_runs))


def run_peer(peer: Peer, command: Sequence[str], files: Path) -> Side:
    """Run a peer in a copy of its files, which it may change."""
    with tempfile.TemporaryDirectory() as folder:
        workplace = Path(shutil.copytree(files, Path(folder, "files")))
        try:
            done = run_process(command, workplace)
        except OSError as error:
            return Side(None, f"failed: {command[0]}: {error.strerror}")
    printed = done.printed.decode(errors="replace")
    if done.code != 0:
        return Side(None, f"failed: exit code {done.code}")
    if peer.success not in printed or peer.failure in printed:
        return Side(None, f"failed: it does not say {peer.success}")
    return Side(done.cost)


def run_own(command: Sequence[str]) -> Side:
    """Run one of our commands, with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        done = run_process(command, cache=Path(folder))
    return Side(done.cost) if done.code == 0 else Side(None, f"failed: exit code {done.code}")


def join_runs(runs: Sequence[Side]) -> Side:
    """Join the runs of one side: the best of them, or the first failure."""
    failed = [run for run in runs if run.cost is None]
    return failed[0] if failed else Side(choose_best(run.cost for run in runs if run.cost is not None))


def write_table(results: Sequence[ContestResult]) -> list[str]:
    """Write the table of all contests; each cell has the wall time, and the CPU time in parentheses."""
    heads = ("work", "peer", "peer's time", "our time", "ratio", "target")
    lines = [format_row(heads), format_row("---" for _ in heads)]
    for result in results:
        contest, peer, ours = result.contest, result.peer, result.ours
        missed = ", missed" if contest.target.is_missed(peer.cost, ours.cost) else ""
        cells = (format_side(peer), format_side(ours), format_ratio(peer.cost, ours.cost))
        lines.append(format_row((contest.what, contest.peer.name, *cells, contest.target.describe() + missed)))
    return lines


def format_side(side: Side) -> str:
    return side.problem if side.cost is None else f"{side.cost.wall:.2f} ({side.cost.cpu:.2f})"


def format_ratio(peer: Cost | None, ours: Cost | None) -> str:
    if peer is None or ours is None:
        return ""
    return f"{peer.wall / ours.wall:.1f} ({peer.cpu / ours.cpu:.1f})"


def write_page(table: Sequence[str], load: Sequence[str], repeats: int) -> str:
    """Write the page: what was measured, and how to measure it again."""
    lines = [
        "# Peers",
        "",
        f"Written by `make peers`: the best of {repeats} runs of whole commands, a peer and fdverify in turns.",
        "Times are seconds by the wall, with the CPU seconds of all processes in parentheses.",
        "A ratio is the peer's time over ours.",
        "fdverify begins each run with an empty cache.",
        "",
        f"Machine: {describe_machine()}.",
        *load,
        "",
        *table,
        "",
        "## Measure it again",
        "",
        "The peers are called by commands in environment variables, with `{file}` in place of the input file:",
        "",
        "| peer | variable | for example |",
        "| --- | --- | --- |",
        *(format_row((peer.name, f"`{peer.variable}`", f"`{peer.example}`")) for peer in PEERS),
        "",
        f"`{FILES}` is the folder of the input files, each with the files that it includes.",
        "A peer runs in a copy of that folder.",
        "The `.ivy` files and `MC_sa_cntr_d4p4.tla` are those of the paper's authors (FORTE2021-FD); "
        "`MC_sa_cntr_d4p20.tla` and its `.cfg` are the same with 20 for Φ.",
        "`strb.ta` is `examples/threshold/strb.ta`.",
        "",
        "| work | peer | file | our command |",
        "| --- | --- | --- | --- |",
        *(
            format_row((contest.what, contest.peer.name, f"`{contest.file}`", f"`{contest.ours}`"))
            for contest in CONTESTS
        ),
        "",
        "A peer that is missing is named, and its rows have our time only.",
        "A peer that fails, or that does not say that all holds, has no time.",
    ]
    return "\n".join(lines) + "\n"


def parse_options() -> argparse.Namespace:
    variables = [f"  {peer.variable}: how to call {peer.name}, for example '{peer.example}'" for peer in PEERS]
    variables += [f"  {FILES}: the folder with the input files:"]
    variables += [f"    {contest.file}: {contest.what}" for contest in CONTESTS]
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="\n".join(["environment variables:", *variables]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--repeats", metavar="N", type=parse_repeats, default=3, help="the best of N runs (default: 3)")
    parser.add_argument(
        "--only", metavar="TEXT", default="", help="measure only work with this text in its name, and write nothing"
    )
    parser.add_argument("--page", metavar="FILE", type=Path, default=PAGE, help="the page to write")
    return parser.parse_args()


def parse_repeats(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return int(text)


def main() -> int:
    """Return 1 if one of our own commands failed."""
    options = parse_options()
    contests = [contest for contest in CONTESTS if options.only in contest.what]
    load, files = describe_load(), Path(os.environ.get(FILES, ""))
    for line in dict.fromkeys(line for contest in contests for line in list_obstacles(contest, os.environ)):
        print(line)
    results = [
        hold_contest(contest, find_peer_command(contest, os.environ), find_own_command(contest), files, options.repeats)
        for contest in contests
    ]
    table = write_table(results)
    if not options.only and any(result.peer.cost for result in results):
        options.page.write_text(write_page(table, load, options.repeats))
    print("\n".join([*load, *table]))
    return 1 if any(result.ours.cost is None for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
