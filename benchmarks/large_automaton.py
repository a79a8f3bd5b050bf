"""A threshold automaton of a given size, as large consensus algorithms have: processes vote for 0 or 1, hear, decide.

Each process passes through three layers of locations: it gathers, votes, and listens; then it decides for what has
enough votes.  Where it goes within the layers, and what it must have heard to go there, is random.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

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

EVIDENCE_OF_1 = (GUARDS[1], GUARDS[3])
"""What holds only after a correct process has voted for 1."""


def generate_automaton(locations: int = 100, rules: int = 1300, seed: int = 1) -> str:
    """Generate the text of an automaton, always the same for a seed, whose specifications hold but for the last one.

    Locations with odd numbers believe in 1.  Who believes in 1 goes on so; who does not needs evidence for that.
    """
    source = random.Random(seed)
    size = (locations - 4) // 3
    gather, voted = ([f"{name}{at}" for at in range(size)] for name in ("gather", "voted"))
    heard = [f"heard{at}" for at in range(locations - 4 - 2 * size)]
    believes = {name: at % 2 for layer in (gather, voted, heard) for at, name in enumerate(layer)}
    texts: dict[str, None] = {}

    def add_rule(start: str, end: str, guard: str, add: str = "") -> None:
        action = f"{add}' == {add} + 1;" if add else ""
        texts[f"{start} -> {end} when ({guard}) do {{ {action} }};"] = None

    def add_step(start: str, layer: Sequence[str], guard: str) -> None:
        """Add a rule to a layer; to vote is to count for what one believes, and to have heard may count in y."""
        change = believes[start] == 0 and guard in EVIDENCE_OF_1
        ends = [name for name in layer if change or believes[name] == believes[start]]
        if ends:
            end = source.choice(ends)
            votes, hears = start in gather, start in voted
            add_rule(start, end, guard, f"x{believes[end]}" if votes else source.choice(("", "y")) if hears else "")

    for start, first in (("V0", 0), ("V1", 1)):
        for name in gather[first::2]:
            add_rule(start, name, "true")
    for name in gather:
        add_step(name, voted, "true")
    for name in voted:
        add_step(name, heard, "true")
    for name in heard:
        add_rule(name, "D0", GUARDS[2])
        add_rule(name, "D1", GUARDS[3])
    for guard in GUARDS:
        add_rule(heard[0], heard[2], guard)
    while len(texts) < rules:
        at = source.randrange(len(heard))
        layer, following = source.choice(((gather, voted), (voted, heard), (heard, heard[at + 1 :])))
        add_step(layer[at % len(layer)], following, source.choice((*GUARDS, "true")))
    names = ["V0", "V1", *gather, *voted, *heard, "D0", "D1"]
    numbered = "\n".join(f"    {number}: {text}" for number, text in enumerate(texts))
    moved_on = " && ".join(f"{name} == 0" for name in ("V0", "V1", *gather, *voted))
    decided = " && ".join(f"{name} == 0" for name in heard)
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
    correctness: <>[]({moved_on} && ({decided} || (x0 < N - T && x1 < N - T))) -> (V0 == 0 -> <>(D1 != 0));
    relay: <>[]({moved_on} && ({decided} || (x0 < N - T && x1 < N - T))) -> [](D1 != 0 -> <>({decided}));
  }}
}}
"""
