"""The common part of four reliable broadcasts: statuses, the steps to echo and to accept, and specifications.

The statuses are V0 (not told to broadcast), V1 (told to broadcast), SE (has sent an echo) and AC (has accepted).
"""

from fdverify import ControlFlow, Edge

SOURCE = (
    "A. John, I. Konnov, U. Schmid, H. Veith, J. Widder: Starting a Dialog (2012), after Srikanth and Toueg (1987)."
)

ACCEPTS: tuple[Edge, ...] = (
    ("enough", "sv == V0 || sv == V1", "silent"),
    ("silent", "inc nsnt", "accepts"),
    ("enough", "sv == SE || sv == AC", "accepts"),
    ("accepts", "sv := AC", "qF"),
)
"""A process that accepts without having sent an echo sends it now."""

ECHOES: tuple[Edge, ...] = (
    ("echoes", "inc nsnt", "echoed"),
    ("echoed", "sv := SE", "qF"),
)


def broadcast(
    name: str,
    about: str,
    *,
    parameters: tuple[str, ...],
    assumptions: tuple[str, ...],
    processes: str,
    edges: tuple[Edge, ...],
    due: str,
) -> ControlFlow:
    return ControlFlow(
        name=name,
        about=f"{about}\n   {SOURCE}",
        parameters=parameters,
        assumptions=assumptions,
        processes=processes,
        statuses=("V0", "V1", "SE", "AC"),
        initial=("V0", "V1"),
        shared=("nsnt",),
        edges=edges,
        due={"rcvd": due},
        left=("V1",),
        specifications={
            "unforg": "[](V1 + SE + AC == 0 -> [](AC == 0))",
            "corr": "[]<>(FAIR) -> [](V0 + SE + AC == 0 -> <>(AC != 0))",
            "relay": "[]<>(FAIR) -> [](AC != 0 -> <>(V0 + V1 + SE == 0))",
        },
    )
