"""Strong Accuracy with the initial timeout 3Φ+Δ+1, ivy variant, whatever steps the processes start with.

verify-invariant examples/safe_timeout_ivy.py
fdverify cutoff --variant ivy --proofs examples/safe_timeout_ivy.py
"""

from safe_timeout import message_grows_old, trusted, waits_as_long_as_the_sender

from fdverify import Implies, Proof, State, Truth
from fdverify.detectors.chandra_toueg import ReceiverPc

proof = Proof("chandra-toueg", goal="strong-accuracy", variant="ivy", timeout="3*phi+delta+1")
proof.invariants(trusted, waits_as_long_as_the_sender, message_grows_old)


@proof.invariant
def not_too_long(s: State) -> Truth:
    """After a Receive the timeout is not reached by one more step."""
    return Implies(s.receiver_pc == ReceiverPc.Receive, s.waiting_time + 1 < s.timeout)
