"""How far runs go: every run of a detector, with counters of its own, against the bounds that a proof prints.

As a program it prints the table in tests/data/worst_runs.csv.
"""

import csv
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path

from fdverify.detectors.chandra_toueg import build_chandra_toueg, crashed, sender_correct
from fdverify.engines.caps import can_see_past_caps
from fdverify.engines.explore import Exploration, choose_caps
from fdverify.liveness.argument import Argument
from fdverify.logic import And, If, Implies, Not, Number, Truth
from fdverify.models.expression import Expression, parse_expression
from fdverify.models.model import OptionValue
from fdverify.models.system import (
    Choices,
    Integers,
    Phase,
    Property,
    State,
    System,
    Update,
    Variable,
    is_always_true,
    update,
)
from fdverify.proofs.proof_files import load_proof
from fdverify.runs.run import confirm_violation
from fdverify.verdict import ignore_progress

ROOT = Path(__file__).parents[2]
INVARIANTS = ROOT / "invariants"
TABLE = ROOT / "tests" / "data" / "worst_runs.csv"
NAMES = {"delta", "phi", "gst", "initial_timeout", "settled_timeout", "timeout"}

Instance = tuple[str, int, int, int]
INSTANCES: list[Instance] = list(product(("tla", "ivy"), range(4), range(1, 4), range(1, 9)))


@dataclass(frozen=True)
class Bounds:
    """The formulas of two proofs, read from what is printed."""

    wrong_suspicions: Expression
    longest: Expression
    detection: Expression
    largest_timeout: Expression


@dataclass(frozen=True)
class Worst:
    """The largest numbers in any run."""

    wrong_suspicions: int
    longest: int
    detection: int
    largest_timeout: int


@cache
def printed_bounds(variant: str) -> Bounds:
    return bounds_of(
        INVARIANTS / "eventual_trust.py",
        INVARIANTS / "lasting_suspicion.py",
        parameters={},
        options={"variant": variant},
    )


def bounds_of(
    accuracy: Path, completeness: Path, parameters: Mapping[str, int], options: Mapping[str, OptionValue]
) -> Bounds:
    trust, suspicion = (_formulas(path, parameters, options) for path in (accuracy, completeness))
    assert str(trust["the timeout"]) == str(suspicion["the timeout"])
    return Bounds(trust["wrong suspicions"], trust["each lasts"], suspicion["detection"], trust["the timeout"])


def _formulas(
    path: Path, parameters: Mapping[str, int], options: Mapping[str, OptionValue]
) -> Mapping[str, Expression]:
    argument = load_proof(path).build_invariant(parameters, options).goal
    assert isinstance(argument, Argument)
    matches = {
        bound.of: re.match("at most (.+?)( rounds.*|, counted .*)?$", bound.formula) for bound in argument.bounds
    }
    return {of: parse_expression(match[1], NAMES) for of, match in matches.items() if match}


def at(formula: Expression, s: State) -> Number:
    return formula.evaluate(s.values())


def with_counters(
    system: System,
    stable: Callable[[State], Truth] = is_always_true,
    settled: Callable[[State], Truth] = is_always_true,
) -> System:
    """The same system, which at the end of each round counts what its runs do."""

    def count(s: State, c: Choices) -> Update:
        wrong = And(s.suspected, sender_correct(s), settled(s))
        return update(
            # After a crash there are none: what came before it was seen before it.
            begun=If(sender_correct(s), If(And(wrong, s.lasted == 0), s.begun + 1, s.begun), 0),
            lasted=If(wrong, s.lasted + 1, 0),
            since_crash=If(And(crashed(s), stable(s)), s.since_crash + 1, -1),
        )

    counters = (
        Variable("begun", Integers(), initial=lambda s: 0, ghost=True),
        Variable("lasted", Integers(), initial=lambda s: 0, ghost=True),
        Variable("since_crash", Integers(), initial=lambda s: -1, ghost=True, clock=True),
    )
    return replace(system, variables=(*system.variables, *counters), phases=(*system.phases, Phase("count", count)))


def within(bounds: Bounds, horizon: int) -> Property:
    """That no bound is exceeded, and that time is counted long enough to see that."""

    def holds(s: State) -> Truth:
        detection = at(bounds.detection, s)
        return And(
            s.begun <= at(bounds.wrong_suspicions, s),
            Implies(s.lasted > 0, s.lasted <= at(bounds.longest, s)),
            s.timeout <= at(bounds.largest_timeout, s),
            Implies(And(crashed(s), s.since_crash >= detection), s.suspected),
            detection <= horizon,
        )

    return Property("within-bounds", holds, "no bound is exceeded")


def every_run(counting: System, claim: Property, horizon: int) -> Exploration:
    """All reachable states, with clocks up to the horizon; up to the first that breaks the claim."""
    caps = choose_caps(counting, claim, horizon, depth=None)
    # With Python's integers: to show that the machine's suffice takes longer than these few states do.
    exploration = Exploration(counting, claim, caps, subrounds=False, exact=True)
    exploration.run(depth=None, report=ignore_progress)
    assert exploration.dead_end is None
    if exploration.violation is None:
        assert exploration.complete
        assert not can_see_past_caps(counting, claim, caps, exploration.compute_box())
    return exploration


def worst(exploration: Exploration) -> Worst:
    """What the counters came to; if a bound is exceeded, the run that does."""
    if exploration.violation is not None:
        run = confirm_violation(
            exploration.system, exploration.claim, exploration.reconstruct_run(exploration.violation)
        )
        raise AssertionError(f"a bound is exceeded by {run}")
    found = Worst(0, 0, 0, 0)
    for level in range(len(exploration.level_sizes)):
        s = exploration.batches.restore_state(exploration.get_level(level))
        assert (s.hlfsc == s.since_crash).all()
        undetected = s.since_crash[And(crashed(s), Not(s.suspected))]
        found = Worst(
            int(s.begun.max(initial=found.wrong_suspicions)),
            int(s.lasted.max(initial=found.longest)),
            int((undetected + 1).max(initial=found.detection)),
            int(s.timeout.max(initial=found.largest_timeout)),
        )
    return found


def detector(instance: Instance) -> System:
    variant, delta, phi, timeout = instance
    return build_chandra_toueg(delta, phi, variant=variant, crash=True, timeout=str(timeout))


def bounds_at(instance: Instance) -> Worst:
    """The numbers that the bounds come to; a suspicion may last longest with the first timeout."""
    variant, delta, phi, timeout = instance
    s = State({"delta": delta, "phi": phi, "initial_timeout": timeout, "timeout": timeout})
    bounds = printed_bounds(variant)
    formulas = (bounds.wrong_suspicions, bounds.longest, bounds.detection, bounds.largest_timeout)
    return Worst(*(max(0, formula.evaluate(s.values())) for formula in formulas))


def measured(instance: Instance) -> Worst:
    horizon = bounds_at(instance).detection
    return worst(every_run(with_counters(detector(instance)), within(printed_bounds(instance[0]), horizon), horizon))


def row(instance: Instance, found: Worst) -> dict[str, str]:
    columns = dict(zip(("variant", "delta", "phi", "initial_timeout"), map(str, instance), strict=True))
    bounds = asdict(bounds_at(instance))
    for name, value in asdict(found).items():
        columns |= {name: str(value), f"{name.removeprefix('largest_')}_bound": str(bounds[name])}
    return columns


def _rows() -> Iterator[dict[str, str]]:
    for instance in INSTANCES:
        yield row(instance, measured(instance))


if __name__ == "__main__":
    first, *others = _rows()
    writer = csv.DictWriter(sys.stdout, list(first), lineterminator="\n")
    writer.writeheader()
    writer.writerows([first, *others])
