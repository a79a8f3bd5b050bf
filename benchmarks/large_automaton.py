"""A threshold automaton of a given size, as large consensus algorithms have: processes vote for 0 or 1, hear, decide.

Each process passes through four layers of locations: it gathers, votes, listens, and decides for what has enough votes.
Where it goes within the layers, and what it must have heard to go there, is random.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

LAYERS = (("gather", 30), ("voted", 30), ("heard", 36))
"""Layers of locations between the two where processes start and the two where they decide, of a hundred in all."""

GUARDS = (
    "x0 >= T + 1 - F",
    "x1 >= T + 1 - F",
    "x0 >= N - T - F",
    "x1 >= N - T - F",
    "x0 + x1 >= N - T - F",
    "x0 + x1 >= 2 * T + 1 - F",
    "y >= T + 1 - F",
    "y >= N - T - F",
    "y < T + 1",
    "y < N - T",
)
"""Each of these guards some rule."""

EVIDENCE_OF_1 = {GUARDS[1], GUARDS[3]}
"""What holds only after a correct process has voted for 1."""


def large_automaton(locations: int = 100, rules: int = 1300, seed: int = 1) -> str:
    """The text of an automaton, always the same for a seed, whose specifications hold."""
    source = random.Random(seed)
    gather, voted, heard = (
        [f"{name}{at}" for at in range(share * (locations - 4) // 96)] for name, share in LAYERS
    )
    texts: dict[str, None] = {}

    def rule(start: str, end: str, guard: str = "true", add: str = "") -> None:
        action = f"{add}' == {add} + 1;" if add else ""
        texts[f"{start} -> {end} when ({guard}) do {{ {action} }};"] = None

    def later(layer: Sequence[str], at: int) -> str:
        return source.choice(layer[at + 1 :])

    believes_1 = {name: at % 2 == 1 for layer in (gather, voted, heard) for at, name in enumerate(layer)}

    def ends(layer: Sequence[str], start: str) -> str:
        """Who does not believe in 1 goes on so; for the other way there must be evidence."""
        return source.choice([name for name in layer if believes_1[name] == believes_1[start]])

    for start, first in (("V0", 0), ("V1", 1)):
        for name in gather[first::2]:
            rule(start, name)
    for name in gather:
        rule(name, ends(voted, name), add=f"x{int(believes_1[name])}")
    for name in voted:
        rule(name, ends(heard, name), add="y")
    for name in heard:
        rule(name, "D0", "x0 >= N - T - F")
        rule(name, "D1", "x1 >= N - T - F")
    for guard in GUARDS:
        rule(heard[0], heard[2], guard)
    while len(texts) < rules:
        layer, following = source.choice(((gather, voted), (voted, heard), (heard, heard)))
        at = source.randrange(len(layer) - 1)
        start = layer[at]
        guard = source.choice((*GUARDS, "true"))
        evidence = guard in EVIDENCE_OF_1
        if layer is gather:
            end = source.choice(following) if evidence else ends(following, start)
            rule(start, end, guard, f"x{int(believes_1[end])}")
        elif layer is voted:
            end = source.choice(following) if evidence else ends(following, start)
            rule(start, end, guard, source.choice(("", "y")))
        else:
            end = later(layer, at)
            if evidence or believes_1[end] == believes_1[start]:
                rule(start, end, guard)
    names = ["V0", "V1", *gather, *voted, *heard, "D0", "D1"]
    numbered = "\n".join(f"    {number}: {text}" for number, text in enumerate(texts))
    moving = [f"{name} == 0" for name in ("V0", "V1", *gather, *voted)]
    decided = " && ".join(f"{name} == 0" for name in heard)
    fair = f"{' && '.join(moving)} && ({decided} || (x0 < N - T && x1 < N - T))"
    return f"""skel Large {{
  local pc;
  shared x0, x1, y;
  parameters N, T, F;
  assumptions {{ N > 3 * T; T >= F; T >= 1; }}
  locations {{ {" ".join(f"{name}: [{at}];" for at, name in enumerate(names))} }}
  inits {{ V0 + V1 == N - F; {" ".join(f"{name} == 0;" for name in names[2:])} x0 == 0; x1 == 0; y == 0; }}
  rules {{
{numbered}
  }}
  specifications {{
    unforgeability: V1 == 0 -> [](D1 == 0);
    agreement: [](D0 == 0 || D1 == 0);
    correctness: <>[]({fair}) -> (V0 == 0 -> <>(D1 != 0));
  }}
}}
"""
