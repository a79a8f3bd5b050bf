"""Control flow automata as authors declare them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fdverify.errors import UsageError, suggest_name
from fdverify.threshold.automaton_names import (
    check_name,
    check_names,
    check_table,
    check_texts,
    format_for_message,
)

Edge = tuple[str, str, str]
"""Source, operation, target."""

STATUS = "sv"
NEW_VALUE = "e"
FAIR = "FAIR"


@dataclass(frozen=True)
class ControlFlow:
    """The step of a process: a path from ``start`` to ``end`` through edges that form no cycle.

    An operation is one of ``sv := STATUS``, ``inc SHARED``, ``COUNTER := e where COUNTER <= e <= BOUND``, or a guard
    made of ``sv == STATUS`` and comparisons of a counter with parameters.  Counters and shared variables start at 0.
    """

    name: str
    parameters: Sequence[str]
    assumptions: Sequence[str]
    """The resilience condition."""
    processes: str
    """How many processes are modelled."""
    statuses: Sequence[str]
    initial: Sequence[str]
    """Statuses in which processes start."""
    shared: Sequence[str]
    edges: Sequence[Edge]
    due: Mapping[str, str]
    """For each counter, the amount that is due: FAIR says that every process has received it."""
    left: Sequence[str] = ()
    """Statuses that processes must leave: FAIR says that no process has one of them."""
    specifications: Mapping[str, str] = field(default_factory=dict)
    """As in the text of threshold automata, with FAIR; a status stands for the number of processes that have it."""
    about: str = ""
    start: str = "qI"
    end: str = "qF"


def check_flow(flow: ControlFlow) -> None:
    """Refuse malformed fields, and names that are declared twice or not at all, before any text is parsed."""
    check_name("a control flow automaton", flow.name, "control flow automaton")
    for kind in ("parameters", "assumptions", "statuses", "initial", "shared", "left"):
        check_texts(flow.name, kind, getattr(flow, kind))
    for kind in ("due", "specifications"):
        check_table(flow.name, kind, getattr(flow, kind))
    check_texts(flow.name, "one of processes, start, end and about", [flow.processes, flow.start, flow.end, flow.about])
    for edge in flow.edges:
        if isinstance(edge, str) or len(edge) != 3 or not all(isinstance(part, str) for part in edge):
            raise UsageError(f"{flow.name}: {format_for_message(repr(edge))} is not an edge", "(from, operation, to)")
    check_names(
        flow.name,
        (
            ("word of control flow automata", (STATUS, NEW_VALUE, FAIR)),
            ("parameter", flow.parameters),
            ("shared variable", flow.shared),
            ("status", flow.statuses),
            ("counter", flow.due),
        ),
    )
    for name in flow.specifications:
        check_name(flow.name, name, "specification")
    for kind, names in (("initial", flow.initial), ("left", flow.left)):
        _check_statuses(flow, kind, names)
    if not flow.initial:
        raise UsageError(f"{flow.name}: no status is initial")
    if flow.start == flow.end:
        raise UsageError(f"{flow.name}: a step starts and ends at {format_for_message(flow.start)}")


def _check_statuses(flow: ControlFlow, kind: str, names: Sequence[str]) -> None:
    for place, name in enumerate(names):
        if name not in flow.statuses:
            raise UsageError(
                f"{flow.name}: {kind}: there is no status {format_for_message(name)}", suggest_name(name, flow.statuses)
            )
        if name in names[:place]:
            raise UsageError(f"{flow.name}: {kind}: {name} is named twice")
