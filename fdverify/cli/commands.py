"""The commands: what each one is for, and the options it has of its own.

Options that every command shares, and those of the model, are added in :mod:`fdverify.cli.app`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Setting:
    """An option that is an argument of the engine."""

    flag: str
    argument: str
    default: Any
    meaning: str
    least: int | None = None
    file: bool = False


@dataclass(frozen=True)
class Command:
    name: str
    help: str
    settings: tuple[Setting, ...]
    examples: tuple[str, ...]
    shows_subrounds: bool = True
    liveness: bool = False
    """Whether its properties are about whole runs."""


COMMANDS = (
    Command(
        "explore",
        "Visit every reachable state for fixed parameters: proved, or a shortest counterexample.",
        (
            Setting("--subrounds/--rounds", "subrounds", False, "make a phase a step, as the TLA+ module has it"),
            Setting("--depth", "depth", None, "stop after so many steps; the verdict is then bounded", 0),
        ),
        (
            "fdverify explore --delta 2 --phi 4",
            "fdverify explore examples/own_property.py:DETECTOR --delta 2 --phi 4 --property waits-3-phi",
        ),
        shows_subrounds=False,
    ),
    Command(
        "bmc",
        "Search runs of growing length for a violation; parameters may be symbolic.",
        (Setting("--depth", "depth", 100, "how many rounds a run may have", 0),),
        (
            "fdverify bmc --timeout 'phi+delta+2'",
            "fdverify bmc --delta 3 --phi symbolic --timeout '3*phi' --show timeout-waiting_time --itf run.itf.json",
        ),
    ),
    Command(
        "induct",
        "Prove by k-induction, from the property, the variables' ranges and the conjuncts of a proof file.",
        (
            Setting("--max-k", "max_k", 60, "the largest k to try", 1),
            Setting("--lemmas", "lemmas", None, "a proof file whose conjuncts are proved along", file=True),
        ),
        (
            "fdverify induct --delta 1 --phi 1",
            "fdverify induct --variant ivy --lemmas invariants/strong_accuracy.py",
        ),
    ),
    Command(
        "live",
        "Visit every reachable state for fixed parameters and search for a fair run that breaks a property for ever.",
        (Setting("--unfair", "unfair", False, "also runs that starve a process or a message"),),
        (
            "fdverify live --delta 1 --phi 2 --timeout 1",
            "fdverify live --delta 1 --phi 1 --timeout 1 --crash --property strong-completeness",
        ),
        liveness=True,
    ),
    Command(
        "simulate",
        "Show one random run for fixed parameters.",
        (
            Setting("--depth", "rounds", 30, "how many rounds to run", 0),
            Setting("--seed", "seed", 0, "the same seed gives the same run"),
        ),
        ("fdverify simulate --delta 2 --phi 2 --depth 10 --seed 7",),
    ),
)
