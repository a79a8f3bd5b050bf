"""Strong Completeness: every crash leads to a permanent suspicion, for every initial timeout.

tight_completeness.py bounds the detection time, and eventual_accuracy.py shows how far the timeout grows.  Their
conjuncts about the quiet clock and about a timeout of 1 are not needed here.
"""

import accuracy
import eventual_accuracy
import tight_completeness as tight
from _ping_pong import detected_by, least_safe_timeout
from _processes import crashed, suspected

from fdverify import Always, LeadsTo, Number, Proof, State

proof = Proof(
    "_ping_pong.py:PING_PONG", goal=LeadsTo(crashed, Always(suspected)), by="crash-clock", crash=True, timeout="any"
)


@proof.term
def safe_timeout(s: State) -> Number:
    """From this timeout on, a correct target is not suspected."""
    return least_safe_timeout(s)


@proof.term
def detection(s: State) -> Number:
    """So many rounds after the crash the target is suspected."""
    return detected_by(s)


proof.invariants(
    *(each for each in accuracy.proof.predicates() if each is not accuracy.trusted),
    eventual_accuracy.suspected_after_timeout,
    eventual_accuracy.suspected_at_compute,
    eventual_accuracy.grows_until_safe,
    tight.no_young_pong,
    tight.pong_left,
    tight.asks_again,
    tight.waits_since_ask,
    tight.trusts_no_longer,
)
