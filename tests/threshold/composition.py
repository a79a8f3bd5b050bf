"""Control flow automata composed of so many processes, walked through configuration by configuration.

An oracle for their translation: it reads the operations by itself, keeps what every process has received, and knows
nothing of thresholds.  A run may stay where it is; what is fair is said of configurations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from types import CodeType
from typing import Any

from fdverify.threshold.flow import ControlFlow
from tests.threshold.oracle.expressions import ExpressionReader, truth
from tests.threshold.oracle.formulas import Compared, Formula, Sum, true_at
from tests.threshold.oracle.tableau import pushed, some_run

Process = tuple[str, tuple[int, ...]]
"""A status, and what was received of each counter."""

State = tuple[tuple[Process, ...], tuple[int, ...]]
"""The processes in some order, as it does not matter who is who, and the shared variables."""

MOST_STATES = 2_500


class TooLarge(Exception):
    """There are more configurations than it is worth to list."""


FAIR = Compared(Sum((("fair", 1),), -1), "==")


@cache
def code(text: str) -> CodeType:
    spelled = re.sub(r"!(?!=)", " not ", text.replace("&&", " and ").replace("||", " or "))
    return compile(spelled.strip(), text, "eval")


def value(text: str, names: Mapping[str, Any]) -> Any:
    return eval(code(text), {}, dict(names))


class Composition:
    def __init__(self, flow: ControlFlow, parameters: Mapping[str, int]) -> None:
        self.flow = flow
        self.counters = tuple(flow.due)
        self.fixed = {**parameters, **{status: status for status in flow.statuses}}
        self.processes = value(flow.processes, self.fixed)
        self.known: dict[tuple[Process, tuple[int, ...]], set[tuple[Process, tuple[int, ...]]]] = {}

    def holds(self, specification: str) -> bool:
        return not self.has_run(self.flow.specifications[specification], satisfies=False)

    def has_run(self, formula: str, satisfies: bool = True) -> bool:
        """Whether some run satisfies a formula, or does not."""
        reader = ExpressionReader(formula)
        reader.macros["FAIR"] = FAIR
        claims: list[Formula] = []
        wanted = pushed(truth(reader.implication()), satisfies, claims)
        states, successors, initial = self.explored
        true = []
        for state in states:
            values = self.counted(state)
            true.append(frozenset(at for at, claim in enumerate(claims) if true_at(claim, values)))
        return some_run(wanted, successors, true, range(initial))

    @cached_property
    def explored(self) -> tuple[list[State], list[list[int]], int]:
        states = list(dict.fromkeys(self.starts(self.processes)))
        places = {state: place for place, state in enumerate(states)}
        initial, successors = len(states), []
        for place, state in enumerate(states):  # which grows
            reached = {place}
            for after in self.after(state):
                if after not in places:
                    places[after] = len(states)
                    states.append(after)
                    if len(states) > MOST_STATES:
                        raise TooLarge
                reached.add(places[after])
            successors.append(sorted(reached))
        return states, successors, initial

    def starts(self, processes: int) -> Iterator[State]:
        if processes == 0:
            yield (), (0,) * len(self.flow.shared)
            return
        for others, shared in self.starts(processes - 1):
            for status in self.flow.initial:
                yield tuple(sorted((*others, (status, (0,) * len(self.counters))))), shared

    def after(self, state: State) -> Iterator[State]:
        """What a step of one process can lead to."""
        processes, shared = state
        for mover in set(processes):
            others = list(processes)
            others.remove(mover)
            for moved, sent in self.steps(mover, shared):
                yield tuple(sorted((*others, moved))), sent

    def steps(self, mover: Process, shared: tuple[int, ...]) -> set[tuple[Process, tuple[int, ...]]]:
        """What a process can become, and make of the shared variables."""
        if (mover, shared) not in self.known:
            names = {"sv": mover[0]} | dict(zip(self.counters, mover[1], strict=True))
            names |= dict(zip(self.flow.shared, shared, strict=True))
            self.known[mover, shared] = {
                (
                    (end["sv"], tuple(end[counter] for counter in self.counters)),
                    tuple(end[name] for name in self.flow.shared),
                )
                for end in self.along(self.flow.start, names)
            }
        return self.known[mover, shared]

    def along(self, node: str, names: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if node == self.flow.end:
            yield names
        for source, operation, target in self.flow.edges:
            if source == node:
                for after in self.done(operation, names):
                    yield from self.along(target, after)

    def done(self, operation: str, names: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if operation.startswith("inc "):
            name = operation.removeprefix("inc ")
            yield names | {name: names[name] + 1}
        elif operation.startswith("sv := "):
            yield names | {"sv": operation.removeprefix("sv := ")}
        elif ":=" in operation:
            counter, bound = operation.split(" := ")[0], operation.rpartition("<=")[2]
            for received in range(names[counter], value(bound, self.fixed | names) + 1):
                yield names | {counter: received}
        elif value(operation, self.fixed | names):
            yield names

    def counted(self, state: State) -> dict[str, int]:
        """How many processes have each status, and whether all is received."""
        processes, shared = state
        sent = self.fixed | dict(zip(self.flow.shared, shared, strict=True))
        counts = {status: sum(one == status for one, _ in processes) for status in self.flow.statuses}
        received = all(
            amount >= value(self.flow.due[counter], sent)
            for _, amounts in processes
            for counter, amount in zip(self.counters, amounts, strict=True)
        )
        numbers = {name: number for name, number in sent.items() if isinstance(number, int)}
        return numbers | counts | {"fair": int(received and not any(counts[status] for status in self.flow.left))}
