"""Symmetric faults: a faulty process may send a wrong message, but sends the same one to all processes."""

from _broadcast import ACCEPTS, ECHOES, broadcast

symm = broadcast(
    "SYMM",
    "Broadcast that tolerates T symmetric faults of N > 2T; Fp processes are faulty, of which Fs echo to all, unasked.",
    parameters=("N", "T", "Fp", "Fs"),
    assumptions=("N > 2 * T", "Fp <= T", "Fs <= Fp", "T >= 1"),
    processes="N - Fp",
    edges=(
        ("qI", "rcvd := e where rcvd <= e <= nsnt + Fs", "received"),
        ("received", "T + 1 <= rcvd", "enough"),
        ("received", "rcvd < T + 1 && sv == V1", "echoes"),
        ("received", "rcvd < T + 1 && (sv == V0 || sv == SE)", "qF"),
        *ACCEPTS,
        *ECHOES,
    ),
    due="nsnt + Fs",
)
