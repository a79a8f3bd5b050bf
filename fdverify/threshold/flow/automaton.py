"""Control flow automata as they are written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Edge = tuple[str, str, str]
"""From where, an operation, to where."""


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
    """Of each counter, what a process has received of it again and again, in fair runs."""
    left: Sequence[str] = ()
    """Statuses that processes do not keep for ever, in fair runs."""
    specifications: Mapping[str, str] = field(default_factory=dict)
    """As in the text of threshold automata, over how many processes have a status; FAIR says that all is received."""
    about: str = ""
    start: str = "qI"
    end: str = "qF"
