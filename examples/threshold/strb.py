"""Reliable broadcast in Python: the automaton of strb.ta without its self-loops."""

from fdverify import build_automaton, move

FAIR = "<>[](V1 == 0 && (V0 == 0 || x < T + 1) && (V0 + V1 + SE == 0 || x < N - T))"

broadcast = build_automaton(
    "STRB",
    parameters=("N", "T", "F"),
    shared=("x",),
    assumptions=("N > 3 * T", "T >= F", "T >= 1"),
    locations=("V0", "V1", "SE", "AC"),
    initial=("V0 + V1 == N - F", "SE == 0", "AC == 0", "x == 0"),
    rules=(
        move("V1", "SE", x=1),
        move("V0", "SE", "x >= T + 1 - F", x=1),
        move("V0", "AC", "x >= N - T - F", x=1),
        move("V1", "AC", "x >= N - T - F", x=1),
        move("SE", "AC", "x >= N - T - F"),
    ),
    specifications={
        "unforgeability": "V1 == 0 -> [](AC == 0)",
        "correctness": f"{FAIR} -> (V0 == 0 -> <>(AC != 0))",
        "relay": f"{FAIR} -> [](AC != 0 -> <>(V0 + V1 + SE == 0))",
    },
)

if __name__ == "__main__":
    from fdverify.threshold.check_specification import check

    for specification in broadcast.specifications:
        print(f"{specification.name}: {check(broadcast, specification).verdict}")
