"""Small control flow automata whose verdicts hang on what each process has received, and when."""

from __future__ import annotations

from collections.abc import Mapping

from fdverify.threshold.flow import ControlFlow
from fdverify.threshold.flow.control_flow import Edge

REACHED = "[]<>(FAIR) -> <>(D != 0)"


def paths(*steps: str) -> tuple[Edge, ...]:
    """Edges of steps, each written as its operations; ``r <= m`` is a reception."""
    edges: list[Edge] = []
    for number, step in enumerate(steps):
        operations = [_operation(text.strip()) for text in step.split(";")]
        nodes = ["qI", *(f"n{number}_{at}" for at in range(1, len(operations))), "qF"]
        edges += [(nodes[at], operation, nodes[at + 1]) for at, operation in enumerate(operations)]
    return tuple(edges)


def _operation(text: str) -> str:
    if text.startswith("receive "):
        counter, _, bound = text.removeprefix("receive ").partition(" <= ")
        return f"{counter} := e where {counter} <= e <= {bound}"
    return text


def flow(
    *steps: str,
    spec: str,
    due: Mapping[str, str] | None = None,
    assumptions: tuple[str, ...] = ("N >= 1",),
    left: tuple[str, ...] = (),
) -> ControlFlow:
    return ControlFlow(
        name="Case",
        parameters=("N", "T", "F"),
        assumptions=assumptions,
        processes="N",
        statuses=("V", "S", "E", "D"),
        initial=("V",),
        shared=("m", "k"),
        edges=paths(*steps),
        due=due or {"r": "m"},
        left=left,
        specifications={"s": spec},
    )


TWO_COUNTERS = flow(
    "sv == V; inc m; inc k; sv := S",
    "sv == S; receive r <= m",
    "sv == S; receive q <= k",
    "sv == S; receive r <= m; receive q <= k; r >= 1 && q >= 1; sv := D",
    spec=REACHED,
    due={"r": "m", "q": "k"},
    left=("V",),
)
ENTERED_BY_RECEIVING = flow(
    "sv == V; receive r <= m; inc m; sv := S",
    "sv == S; receive r <= m; r >= N - T; sv := D",
    spec=REACHED,
    left=("V",),
)
TWO_BOUNDS = flow(
    "sv == V; receive r <= m + F; r >= 2; sv := S",
    "sv == S; receive r <= m; sv := D",
    spec="[](D == 0)",
    assumptions=("N >= 1", "F == 2"),
)

HOLDS: dict[str, ControlFlow] = {
    "entered by a receiving step": ENTERED_BY_RECEIVING,
    "two bounds": TWO_BOUNDS,
    "two bounds, the larger one from the start": flow(
        "sv == V; receive r <= 3; r >= 3; sv := S",
        "sv == S; receive r <= m + 1; sv := E",
        "sv == E; receive r <= m + 2; sv := D",
        spec="[](D == 0)",
    ),
    "more than is allowed later": flow(
        "sv == V; receive r <= F; r >= T; sv := S",
        "sv == S; receive r <= F; r < T; sv := D",
        spec="[](D == 0)",
    ),
    "more than is allowed two steps later": flow(
        "sv == V; receive r <= F; r >= 2; sv := S",
        "sv == S; sv := E",
        "sv == E; receive r <= F; r < 2; sv := D",
        spec="[](D == 0)",
    ),
    "a larger number than a parameter": flow(
        "sv == V; receive r <= F; r >= T + 1; sv := S",
        "sv == S; receive r <= F; r < N; sv := D",
        spec="[](D == 0)",
        assumptions=("N >= 1", "T >= N"),
    ),
    "what is sent in the step after receiving": flow(
        "sv == V; receive r <= m; inc m; inc m; sv := S",
        "sv == S; receive r <= m; r >= 1; sv := D",
        spec=REACHED,
        left=("V",),
    ),
    "nothing is received where nobody waits": flow(
        "sv == V; inc m; sv := S",
        "sv == S; receive r <= m; r >= 1; sv := D",
        spec=REACHED,
        left=("V",),
    ),
    "two counters of which one is never received": flow(
        "sv == V; inc m; inc k; sv := S",
        "sv == S; receive r <= m",
        "sv == S; receive r <= m; receive q <= k; r >= 1 && q >= 1; sv := D",
        spec=REACHED,
        due={"r": "m", "q": "k"},
        left=("V",),
    ),
}
BROKEN: dict[str, ControlFlow] = {
    "two counters": TWO_COUNTERS,
    "two counters, one after the other": flow(
        "sv == V; inc m; inc k; sv := S",
        "sv == S; receive r <= m; sv := E",
        "sv == E; receive q <= k",
        "sv == E; receive r <= m",
        "sv == E; receive q <= k; q >= 1 && q < 0; sv := D",
        spec=REACHED,
        due={"r": "m", "q": "k"},
        left=("V", "S"),
    ),
    "three counters": flow(
        "sv == V; inc m; sv := S",
        "sv == S; receive r <= m",
        "sv == S; receive q <= m",
        "sv == S; receive p <= m",
        "sv == S; receive r <= m; receive q <= m; receive p <= m; r >= 1 && q >= 1 && p >= 1; sv := D",
        spec=REACHED,
        due={"r": "m", "q": "m", "p": "m"},
        left=("V",),
    ),
    "two bounds, the smaller one first": flow(
        "sv == V; receive r <= m; sv := S",
        "sv == S; receive r <= m + F; r >= 2; sv := D",
        spec="[](D == 0)",
        assumptions=("N >= 1", "F == 2"),
    ),
    "as little as is needed": flow(
        "sv == V; receive r <= m + 5; sv := S",
        "sv == S; receive r <= m; sv := D",
        spec="[](D == 0)",
    ),
    "less than is allowed later": flow(
        "sv == V; receive r <= F; r >= T; sv := S",
        "sv == S; receive r <= F; r < T + 1; sv := D",
        spec="[](D == 0)",
    ),
    "what is sent in the step before receiving": flow(
        "sv == V; inc m; receive r <= m; sv := S",
        "sv == S; receive r <= m; r < 1",
        "sv == S; receive r <= m; r >= 2; sv := D",
        spec="[](S == 0)",
    ),
    "a bound that may be negative": flow(
        "sv == V; inc m; sv := S",
        "sv == S; receive r <= m - F; sv := D",
        spec=REACHED,
        due={"r": "m - F"},
        left=("V",),
    ),
}
EITHER: dict[str, ControlFlow] = {
    "fair at some time": flow(
        "sv == V; inc m; sv := S",
        "sv == S; receive r <= m",
        "sv == S; receive r <= m; r < 1; sv := D",
        spec="[](FAIR && S != 0 -> [](D == 0))",
    ),
    "fair at all times, while something is sent": flow(
        "sv == V; inc m; sv := D",
        "sv == D; receive r <= m",
        "sv == V; receive r <= m",
        spec="[](FAIR) -> [](D == 0)",
    ),
    "fair from then on, while something is sent": flow(
        "sv == V; sv := S",
        "sv == S; receive r <= m",
        "sv == S; inc m; sv := D",
        "sv == D; receive r <= m",
        spec="[](S != 0 -> !([](FAIR) && <>(D != 0)))",
    ),
    "fair from the start": flow(
        "sv == V; receive r <= m + 1",
        "sv == V; sv := D",
        spec="FAIR -> [](D == 0)",
        due={"r": "m + 1"},
    ),
    "never fair": flow("sv == V; inc m; sv := S", "sv == S; receive r <= m", spec="<>(S != 0 && FAIR)"),
    "fair in a loop": flow(
        "sv == V; inc m; sv := S",
        "sv == S; receive r <= m",
        "sv == S; receive r <= m; r < 1; sv := E",
        "sv == E; sv := S",
        spec="[]<>(FAIR) -> <>[](E == 0)",
        left=("V",),
    ),
    "entered by receiving what is due in the end": flow(
        "sv == V; receive r <= m + F; inc m; sv := S",
        "sv == S; receive r <= m; r >= N + 1; sv := D",
        spec=REACHED,
        left=("V",),
    ),
}
"""What may be refused, but must not be answered wrongly."""
