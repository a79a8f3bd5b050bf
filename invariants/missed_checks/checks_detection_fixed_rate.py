"""A crash is noticed within max(Δ,P-1)+(k-1)max(P,T+1)+T rounds, if a check is due a period after the last began."""

from _exchange import prove_checks_go_on

from fdverify import Proof
from fdverify.detectors.missed_checks import FIXED_RATE, CheckParts

proof = Proof("missed-checks", goal="detection", task=FIXED_RATE, crash=True, timeout="any")
prove_checks_go_on(proof, CheckParts(FIXED_RATE, crash=True))
