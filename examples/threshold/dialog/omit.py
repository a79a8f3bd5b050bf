"""Send omissions: the messages of a faulty process may be lost."""

from _broadcast import ACCEPTS, ECHOES, broadcast

omit = broadcast(
    "OMIT",
    "Broadcast that tolerates To send omissions of N > 2To; the messages of Fo faulty processes need not be received.",
    parameters=("N", "To", "Fo"),
    assumptions=("N > 2 * To", "Fo <= To", "To >= 1"),
    processes="N",
    edges=(
        ("qI", "rcvd := e where rcvd <= e <= nsnt", "received"),
        ("received", "To + 1 <= rcvd", "enough"),
        ("received", "rcvd < To + 1 && (sv == V1 || (sv == V0 && 1 <= rcvd))", "echoes"),
        ("received", "rcvd < To + 1 && (sv == SE || (sv == V0 && rcvd < 1))", "qF"),
        *ACCEPTS,
        *ECHOES,
    ),
    due="nsnt - Fo",
)
