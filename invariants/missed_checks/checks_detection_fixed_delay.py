"""A crash is noticed within Δ-1+k(P+T) rounds, if a check is due a period after the last one ended."""

from _exchange import prove_checks_go_on

from fdverify import Proof
from fdverify.detectors.missed_checks import FIXED_DELAY, CheckParts

proof = Proof("missed-checks", goal="detection", task=FIXED_DELAY, crash=True, timeout="any")
prove_checks_go_on(proof, CheckParts(FIXED_DELAY, crash=True))
