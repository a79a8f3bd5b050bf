"""The bounds that the liveness proofs print, against every run: none is exceeded, and how close the worst one comes."""

import csv
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import cache
from itertools import product
from typing import Any

import networkx as nx
import pytest

from fdverify.detectors.chandra_toueg import crashed, sender_correct
from fdverify.detectors.model_catalogue import find_model
from fdverify.engines.live import live
from fdverify.logic import And, Truth
from fdverify.models.expression import parse_expression
from fdverify.models.model import OptionValue
from fdverify.models.system import Property, State, System
from fdverify.runs.run import confirm_violation
from fdverify.verdict import Verdict
from tests.engines.test_live import ACCURACY, COMPLETENESS, graph
from tests.liveness.worst_runs import (
    INSTANCES,
    ROOT,
    TABLE,
    Bounds,
    Instance,
    Worst,
    at,
    bounds_at,
    bounds_of,
    detector,
    every_run,
    measured,
    printed_bounds,
    row,
    with_counters,
    within,
    worst,
)
from tests.sampling import every


def label(instance: tuple[str | int, ...]) -> str:
    return "-".join(map(str, instance))


@cache
def recorded() -> dict[Instance, Worst]:
    """The table, once its bounds have been found to be those that are printed."""
    with TABLE.open() as file:
        rows = list(csv.DictReader(file))
    found: dict[Instance, Worst] = {}
    for each in rows:
        instance = each["variant"], int(each["delta"]), int(each["phi"]), int(each["initial_timeout"])
        found[instance] = Worst(**{name: int(each[name]) for name in Worst.__dataclass_fields__})
        assert each == row(instance, found[instance])
    assert len(found) == len(rows)
    return found


def slack(variant: str, quantity: str) -> Iterator[int]:
    """How far the worst run stays below a bound, for each instance in which it does what the bound is about."""
    for instance, found in recorded().items():
        value: int = asdict(found)[quantity]
        if instance[0] == variant and value > 0:
            yield asdict(bounds_at(instance))[quantity] - value


def test_every_instance_is_recorded() -> None:
    assert list(recorded()) == INSTANCES
    assert len(INSTANCES) == 2 * 4 * 3 * 8


@pytest.mark.parametrize("variant", ["tla", "ivy"])
def test_what_is_printed_is_what_is_confirmed(variant: str) -> None:
    formulas = {name: str(formula) for name, formula in vars(printed_bounds(variant)).items()}
    assert formulas == {
        "wrong_suspicions": "max(0, 6*phi + delta - initial_timeout)",
        "longest": "6*phi + delta - timeout - 1",
        "detection": "6*phi + delta + max(initial_timeout, 6*phi + delta)*phi",
        "largest_timeout": "max(initial_timeout, 6*phi + delta)",
    }


@pytest.mark.parametrize(
    ("variant", "quantity", "closest", "furthest"),
    [
        ("tla", "wrong_suspicions", 3, 11),
        ("ivy", "wrong_suspicions", 2, 10),
        ("tla", "longest", 1, 6),
        ("ivy", "longest", 0, 5),
        ("tla", "detection", 2, 35),
        ("ivy", "detection", 3, 35),
        ("tla", "largest_timeout", 0, 11),
        ("ivy", "largest_timeout", 0, 10),
    ],
)
def test_so_close_comes_the_worst_run(variant: str, quantity: str, closest: int, furthest: int) -> None:
    assert min(slack(variant, quantity)) == closest
    assert max(slack(variant, quantity)) == furthest


def both_properties(system: System) -> Property:
    """From some time on and for good both are true: that is so if and only if it is so of each."""
    accuracy, completeness = (system.find_liveness_property(name) for name in (ACCURACY, COMPLETENESS))
    return Property("both", lambda s: And(accuracy.holds(s), completeness.holds(s)), "both hold")


@pytest.mark.parametrize("instance", every(19, INSTANCES), ids=label)
def test_both_properties_hold(instance: Instance) -> None:
    system = detector(instance)
    assert live(system, both_properties(system)).verdict is Verdict.PROVED


@pytest.mark.parametrize("instance", every(19, INSTANCES), ids=label)
def test_no_run_exceeds_a_bound_and_the_worst_is_as_recorded(instance: Instance) -> None:
    assert measured(instance) == recorded()[instance]


def longest_paths(system: System) -> Worst:
    """The worst run by longest paths between the interpreter's states: nothing is counted on the way."""
    found = graph(system)
    rounds: Any = nx.DiGraph((name, end) for name, (_, ends) in found.items() for end in ends)
    wrong = {name for name, (s, _) in found.items() if s.suspected and sender_correct(s)}
    after_crash = rounds.subgraph(name for name, (s, _) in found.items() if crashed(s))
    unsuspected = {name for name in after_crash if not found[name][0].suspected}
    undetected = set(nx.multi_source_dijkstra_path_length(after_crash.reverse(), unsuspected))
    return Worst(
        wrong_suspicions=most_begun(rounds, wrong),
        longest=len(nx.dag_longest_path(rounds.subgraph(wrong))),
        detection=len(nx.dag_longest_path(after_crash.subgraph(undetected))),
        largest_timeout=max(s.timeout for s, _ in found.values()),
    )


def most_begun(rounds: Any, wrong: set[Any]) -> int:
    """On how many rounds of a path, at most, a wrong suspicion begins: on none that leads back to where it was."""
    parts = nx.condensation(rounds)
    part = parts.graph["mapping"]
    for before, after in rounds.edges:
        if before not in wrong and after in wrong:
            assert part[before] != part[after]
            parts.edges[part[before], part[after]]["begins"] = 1
    most: int = nx.dag_longest_path_length(parts, weight="begins", default_weight=0)
    return most


SMALL = [instance for instance in INSTANCES if instance[1] <= 2 and instance[2] <= 2 and instance[3] in (1, 2, 5)]


@pytest.mark.parametrize("instance", every(19, SMALL), ids=label)
def test_the_longest_paths_are_the_worst_runs(instance: Instance) -> None:
    assert longest_paths(detector(instance)) == recorded()[instance]


@pytest.mark.parametrize(("variant", "quantity"), every(5, product(("tla", "ivy"), Worst.__dataclass_fields__)))
def test_a_bound_below_the_worst_run_is_exceeded(variant: str, quantity: str) -> None:
    instance = variant, 1, 1, 1
    horizon = bounds_at(instance).detection
    too_small = parse_expression(str(asdict(recorded()[instance])[quantity] - 1), ())
    claim = within(replace(printed_bounds(variant), **{quantity: too_small}), horizon)
    exploration = every_run(with_counters(detector(instance)), claim, horizon)
    assert exploration.violation is not None
    assert confirm_violation(exploration.system, claim, exploration.reconstruct_run(exploration.violation)).rounds
    with pytest.raises(AssertionError, match="a bound is exceeded"):
        worst(exploration)


# The model, delta, phi, the first timeout, and when the bounds begin to hold.
Late = tuple[str, int, int, int, int]
LATE: list[Late] = list(product(("DELAYED", "LOSSY"), (0, 1), (1, 2), (1, 3), (0, 1, 3)))


def stable(s: State) -> Truth:
    begun: Truth = s.since_gst >= 0
    return begun


def settled(s: State) -> Truth:
    flag: Truth = s.settled
    return flag


def late_detector(late: Late) -> System:
    model, delta, phi, timeout, gst = late
    options: dict[str, OptionValue] = {"variant": "ivy", "crash": True, "timeout": str(timeout), "buffer": None}
    found = find_model(f"{ROOT}/examples/gst/_detector.py:{model}")
    return found.instantiate({"delta": delta, "phi": phi, "gst": gst}, options)


@cache
def late_bounds(model: str) -> Bounds:
    """As they are printed for an arbitrary time."""
    accuracy, completeness = (
        ROOT / "examples" / "gst" / f"{name}_{model.lower()}.py" for name in ("accuracy", "completeness")
    )
    return bounds_of(accuracy, completeness, parameters={}, options={})


@pytest.mark.parametrize("late", every(11, LATE), ids=label)
def test_both_properties_hold_if_the_bounds_begin_to_hold_late(late: Late) -> None:
    system = late_detector(late)
    assert live(system, both_properties(system)).verdict is Verdict.PROVED


@pytest.mark.parametrize("late", every(11, LATE), ids=label)
def test_no_run_exceeds_a_bound_once_they_hold(late: Late) -> None:
    model, delta, phi, timeout, gst = late
    bounds = late_bounds(model)
    # Before the bounds hold, the timeout grows by one a round at most.
    latest = State({"delta": delta, "phi": phi, "settled_timeout": timeout + gst})
    horizon = int(at(bounds.detection, latest))
    counting = with_counters(late_detector(late), stable, settled)
    found = worst(every_run(counting, within(bounds, horizon), horizon))
    assert found.detection > 0
    if gst == 0:
        assert found == recorded()["ivy", delta, phi, timeout]
