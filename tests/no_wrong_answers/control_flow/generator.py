"""Random control flow automata: what they receive, compare, send and become is drawn at random."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from fdverify.threshold.flow import ControlFlow
from fdverify.threshold.flow.control_flow import Edge
from tests.threshold.test_dialog import FLOWS

STATUSES = ("A", "B", "C", "D")
SPECIFICATIONS = {
    "safe": ("true", "[](D == 0)"),
    "safe_after": ("<>(C != 0)", "[](C != 0 -> [](D == 0))"),
    "safe_together": ("true", "[](B == 0 || D == 0)"),
    "safe_count": ("true", "[](m < N || D == 0)"),
    "reached": ("[]<>(FAIR)", "[]<>(FAIR) -> <>(D != 0)"),
    "reached_lasting": ("<>[](FAIR)", "<>[](FAIR) -> <>(D != 0)"),
    "left": ("[]<>(FAIR) && <>(B != 0)", "[]<>(FAIR) -> [](B != 0 -> <>(B == 0))"),
    "left_lasting": ("<>[](FAIR)", "<>[](FAIR) -> <>[](A + B == 0)"),
    "all_or_none": ("[]<>(FAIR) && <>(D != 0)", "[]<>(FAIR) -> [](D != 0 -> <>(A + B + C == 0))"),
    "all_or_none_lasting": ("<>[](FAIR) && <>(D != 0)", "<>[](FAIR) -> [](D != 0 -> <>(A + B + C == 0))"),
    "settled": ("[]<>(FAIR)", "[]<>(FAIR) -> (<>[](B == 0) || <>[](C == 0))"),
    "now": ("<>(FAIR)", "[](FAIR -> D == 0 || m < N)"),
    "some_time": ("true", "<>(FAIR || D != 0)"),
    "always_fair": ("[](FAIR)", "[](FAIR) -> [](D == 0)"),
    "fair_from_then": ("<>(C != 0)", "[](C != 0 -> !([](FAIR)))"),
    "fair_first": ("FAIR", "FAIR -> [](D == 0)"),
    "fair_once": ("<>(FAIR && m >= 1)", "[](FAIR && m >= 1 -> [](D == 0))"),
    "sent": ("[]<>(FAIR)", "[]<>(FAIR) -> <>(m >= 1)"),
}
"""With what a run must do for the specification to say something."""

BROADCASTS = {
    "unforg": ("<>(V1 + SE + AC == 0)", "[](V1 + SE + AC == 0 -> [](AC == 0))"),
    "corr": ("[]<>(FAIR) && <>(V0 + SE + AC == 0)", "[]<>(FAIR) -> [](V0 + SE + AC == 0 -> <>(AC != 0))"),
    "relay": ("[]<>(FAIR) && <>(AC != 0)", "[]<>(FAIR) -> [](AC != 0 -> <>(V0 + V1 + SE == 0))"),
    "relay_lasting": ("<>[](FAIR) && <>(AC != 0)", "<>[](FAIR) -> [](AC != 0 -> <>(V0 + V1 + SE == 0))"),
}
PREMISES = {name: premise for name, (premise, _) in (SPECIFICATIONS | BROADCASTS).items()}
SAFETY = ("safe", "safe_after", "safe_together", "safe_count", "unforg")
FAIR_AGAIN = ("reached", "left", "all_or_none", "settled", "sent", "corr", "relay")
FAIR_LASTING = ("reached_lasting", "left_lasting", "all_or_none_lasting", "relay_lasting")

_BOUNDS = ("m", "m", "m", "m + F", "m + 1", "m - F", "2 * m", "m + 2")
_DUE = ("m", "m", "m", "m + F", "m - F", "0", "m - 1")
_LEAST = ("1", "2", "T", "T + 1", "N - T", "N", "0")


_CHANGES = (
    ("rcvd <= e <= nsnt", "rcvd <= e <= nsnt + 1"),
    ("nsnt + F", "nsnt"),
    ("T + 1 <= rcvd", "T <= rcvd"),
    ("T + 1 <= rcvd", "T + 2 <= rcvd"),
    ("rcvd < T + 1", "rcvd < T + 2"),
    ("N - T <= rcvd", "N <= rcvd"),
    ("rcvd < N", "rcvd < N + 1"),
    ("rcvd < N - T", "0 <= rcvd"),
    ("To + 1 <= rcvd", "1 <= rcvd"),
    ("sv == V0", "sv == V1"),
    ("sv == SE", "sv != V0"),
    ("sv := SE", "sv := AC"),
    ("sv := AC", "sv := SE"),
    ("inc nsnt", "sv != AC"),
)


@dataclass(frozen=True)
class Drawn:
    flow: ControlFlow
    parameters: dict[str, int]
    specification: str


def draw(seed: int) -> Drawn:
    """One automaton, parameters at which it is small, and one of its specifications."""
    source = random.Random(seed)
    return _change(source) if source.random() < 0.3 else _build(source)


def _change(source: random.Random) -> Drawn:
    """A broadcast with some of its operations changed."""
    flow = source.choice(list(FLOWS.values()))
    edges = list(flow.edges)
    for _ in range(source.choice((0, 1, 1, 2, 3))):
        at = source.randrange(len(edges))
        before, operation, after = edges[at]
        for old, new in source.sample(_CHANGES, 3):
            operation = operation.replace(old, new, 1)
        edges[at] = before, operation, after
    if source.random() < 0.2:
        edges.remove(source.choice(edges))
    if source.random() < 0.2:
        edges += [("qI", "sv == AC", "stops"), ("stops", "sv == AC", "qF")]
    changed = replace(
        flow,
        assumptions=(),
        edges=tuple(edges),
        due={"rcvd": source.choice((flow.due["rcvd"], flow.due["rcvd"], "nsnt", "nsnt + 1", "nsnt - 1"))},
        left=source.choice((flow.left, flow.left, ("SE",), ())),
        specifications={name: text for name, (_, text) in BROADCASTS.items()},
    )
    parameters = {name: source.randint(0, 1) for name in flow.parameters} | {"N": source.randint(1, 3)}
    return _drawn(changed, parameters, source.choice(tuple(BROADCASTS)))


def _build(source: random.Random) -> Drawn:
    two = source.random() < 0.35
    shared = ("m", "k") if two and source.random() < 0.7 else ("m",)
    counters = {"r": "m", "q": "k" if "k" in shared else "m"} if two else {"r": "m"}
    due = {counter: source.choice(_DUE).replace("m", sent) for counter, sent in counters.items()}
    # Most automata have one bound for a counter, as is usual.
    usual = {counter: source.choice(_BOUNDS).replace("m", sent) for counter, sent in counters.items()}
    often = source.random() < 0.7
    edges: list[Edge] = []
    for path in range(source.randint(3, 7)):
        bounds = {
            counter: usual[counter] if often else source.choice(_BOUNDS).replace("m", sent)
            for counter, sent in counters.items()
        }
        edges += _path(source, path, bounds, shared)
    if source.random() < 0.75:
        edges += [edge for status in STATUSES for edge in _stay(source, status, usual)]
    flow = ControlFlow(
        name="Drawn",
        parameters=("N", "T", "F"),
        assumptions=(),
        processes="N",
        statuses=STATUSES,
        initial=source.choice((("A",), ("A",), ("A", "B"))),
        shared=shared,
        edges=tuple(edges),
        due=due,
        left=source.choice(((), ("A",), ("B",), ("A", "B"), ("A", "B", "C"))),
        specifications={name: text for name, (_, text) in SPECIFICATIONS.items()},
    )
    parameters = {"N": source.randint(1, 3), "T": source.randint(0, 2), "F": source.randint(0, 2)}
    return _drawn(flow, parameters, source.choice((*SAFETY[:4], *FAIR_AGAIN[:5], *FAIR_AGAIN[:3], *SPECIFICATIONS)))


def _drawn(flow: ControlFlow, parameters: dict[str, int], name: str) -> Drawn:
    return Drawn(replace(flow, specifications={name: flow.specifications[name]}), parameters, name)


def _path(source: random.Random, number: int, bounds: dict[str, str], shared: tuple[str, ...]) -> list[Edge]:
    """A step from one status to another, or to the same."""
    at, to = source.choice(STATUSES[:-1]), source.choice(STATUSES)
    if STATUSES.index(to) < STATUSES.index(at) and source.random() < 0.8:
        at, to = to, at
    operations = [f"sv == {at}"]
    received = [counter for counter in bounds if source.random() < 0.7]
    for counter in received:
        operations.append(f"{counter} := e where {counter} <= e <= {bounds[counter]}")
    if received and source.random() < 0.8:
        operations.append(_guard(source, received))
    if STATUSES.index(at) < STATUSES.index(to) and source.random() < 0.5:
        operations.insert(source.randint(1, len(operations)), f"inc {source.choice(shared)}")
    operations.append(f"sv := {to}")
    return _chain(f"p{number}", operations)


def _guard(source: random.Random, counters: list[str]) -> str:
    parts = [f"{source.choice(counters)} {source.choice(('>=', '>=', '<'))} {source.choice(_LEAST)}"]
    while source.random() < 0.35:
        parts.append(f"{source.choice(counters)} {source.choice(('>=', '<'))} {source.choice(_LEAST)}")
    return source.choice((" && ", " && ", " || ")).join(parts)


def _stay(source: random.Random, status: str, bounds: dict[str, str]) -> list[Edge]:
    """A step by which a process receives and keeps its status, for all counters or one for each."""
    kind = source.random()
    if kind < 0.15:
        return []
    groups = [list(bounds)] if kind < 0.7 else [[counter] for counter in bounds]
    found: list[Edge] = []
    for number, group in enumerate(groups):
        operations = [f"sv == {status}"]
        operations += [f"{counter} := e where {counter} <= e <= {bounds[counter]}" for counter in group]
        if source.random() < 0.3:
            operations.append(_guard(source, group))
        found += _chain(f"s{status}{number}", operations)
    return found


def _chain(name: str, operations: list[str]) -> list[Edge]:
    nodes = ["qI", *(f"{name}_{at}" for at in range(1, len(operations))), "qF"]
    return [(nodes[at], operation, nodes[at + 1]) for at, operation in enumerate(operations)]
