"""A monitor that judges before it receives needs a timeout that is longer by its own pause and one round."""

from _silence import prove_silence_is_short

from fdverify import Proof
from fdverify.detectors.deadline_heartbeat import FIXED_DELAY, DeadlineParts

proof = Proof(
    "deadline-heartbeat",
    goal="strong-accuracy",
    task=FIXED_DELAY,
    judges="first",
    timeout="(losses+1)*(period+pause)+delta-soonest+stall+1",
)
prove_silence_is_short(proof, DeadlineParts(FIXED_DELAY))
