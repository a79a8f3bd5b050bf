"""Byzantine faults: a faulty process may send an echo to some processes and not to others."""

from _broadcast import ACCEPTS, ECHOES, broadcast

byz = broadcast(
    "BYZ",
    "Broadcast that tolerates T Byzantine faults of N > 3T; F are faulty, of which only messages are modelled.",
    parameters=("N", "T", "F"),
    assumptions=("N > 3 * T", "F <= T", "T >= 1"),
    processes="N - F",
    edges=(
        ("qI", "rcvd := e where rcvd <= e <= nsnt + F", "received"),
        ("received", "N - T <= rcvd", "enough"),
        ("received", "rcvd < N - T && (sv == V1 || (sv == V0 && T + 1 <= rcvd))", "echoes"),
        ("received", "rcvd < N - T && (sv == SE || (sv == V0 && rcvd < T + 1))", "qF"),
        *ACCEPTS,
        *ECHOES,
    ),
    due="nsnt",
)
