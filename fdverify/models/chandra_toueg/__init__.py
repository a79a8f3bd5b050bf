"""The Chandra-Toueg failure detector with one sender and one receiver."""

from fdverify.models.chandra_toueg.model import CHANDRA_TOUEG, chandra_toueg, computed
from fdverify.models.chandra_toueg.phases import (
    VARIANTS,
    Computation,
    ReceiverPc,
    SenderPc,
    crashed,
    receiver_runs,
    receiving,
    sender_correct,
    suspected,
)

__all__ = [
    "CHANDRA_TOUEG",
    "VARIANTS",
    "Computation",
    "ReceiverPc",
    "SenderPc",
    "chandra_toueg",
    "computed",
    "crashed",
    "receiver_runs",
    "receiving",
    "sender_correct",
    "suspected",
]
