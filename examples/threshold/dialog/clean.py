"""Clean crashes: a process that crashes has sent its message to all processes, or to none."""

from _broadcast import ACCEPTS, ECHOES, broadcast

clean = broadcast(
    "CLEAN",
    "Broadcast that tolerates Tc clean crashes of N > Tc; Fc processes crash, of which Fnc before they have sent.\n"
    "   Who is told to broadcast echoes at once, before it receives anything.",
    parameters=("N", "Tc", "Fc", "Fnc"),
    assumptions=("N > Tc", "Fc <= Tc", "Fnc <= Fc", "Tc >= 1"),
    processes="N",
    edges=(
        ("qI", "sv == V1", "echoes"),
        ("qI", "sv != V1", "told"),
        ("told", "rcvd := e where rcvd <= e <= nsnt - Fnc", "received"),
        ("received", "N - Tc <= rcvd", "enough"),
        ("received", "rcvd < N - Tc && (sv == V0 || sv == SE)", "qF"),
        *ACCEPTS,
        *ECHOES,
    ),
    due="nsnt - Fnc",
)
