"""The Chandra-Toueg failure detector with one sender and one receiver."""

from fdverify.detectors.chandra_toueg.round_phases import (
    VARIANTS,
    Computation,
    ReceiverPc,
    SenderPc,
    crashed,
    is_receiving,
    receiver_runs,
    sender_correct,
    suspected,
)
from fdverify.detectors.chandra_toueg.two_process_system import (
    CHANDRA_TOUEG,
    build_chandra_toueg,
    computed,
)

__all__ = [
    "CHANDRA_TOUEG",
    "VARIANTS",
    "Computation",
    "ReceiverPc",
    "SenderPc",
    "build_chandra_toueg",
    "computed",
    "crashed",
    "is_receiving",
    "receiver_runs",
    "sender_correct",
    "suspected",
]
