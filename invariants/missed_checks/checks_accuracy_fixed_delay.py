"""A correct target is never suspected from (L+1)² checks and 2Δ+G on, if one is due a period after the last ended."""

from _exchange import prove_misses_are_losses

from fdverify import Proof
from fdverify.detectors.missed_checks import FIXED_DELAY, CheckParts

proof = Proof("missed-checks", goal="strong-accuracy", task=FIXED_DELAY, timeout="any")
prove_misses_are_losses(proof, CheckParts(FIXED_DELAY))
