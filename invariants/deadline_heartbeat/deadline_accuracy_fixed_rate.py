"""A correct sender is never suspected from (L+1)P+G+Δ-d on, if heartbeats are due at a fixed rate."""

from _silence import prove_silence_is_short

from fdverify import Proof
from fdverify.detectors.deadline_heartbeat import FIXED_RATE, DeadlineParts

proof = Proof(
    "deadline-heartbeat",
    goal="strong-accuracy",
    task=FIXED_RATE,
    timeout="(losses+1)*period+pause+delta-soonest",
)
prove_silence_is_short(proof, DeadlineParts(FIXED_RATE))
