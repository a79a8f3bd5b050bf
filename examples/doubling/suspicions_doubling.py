"""The timeouts with which a correct sender is suspected, for every initial timeout; they say how often it is.

At the k-th suspicion, the timeout has been doubled k-1 times.  Once something was heard, a Judge comes after an odd
number of steps.  A doubled timeout is even, so patience was lost at the Listen before, after less than Φ+Δ steps.  So
the sender is suspected once if the initial timeout t is not safe, and again for each n > 0 with 2ⁿ·t < Φ+Δ.
"""

from _heartbeats import Step
from _late_heartbeat import waited
from accuracy_doubling import correct_sender, heartbeat_grows_old, silent_sender, waits_no_longer
from detection_doubling import judges_at_once

from fdverify import And, If, Implies, Proof, State, Truth

proof = Proof("_doubling.py:DOUBLING", timeout="any")


def doubled(s: State) -> Truth:
    """The timeout has been doubled, so something was heard."""
    longer: Truth = s.timeout > s.initial_timeout
    return longer


def too_short(s: State) -> Truth:
    return s.timeout <= s.phi + s.delta - If(doubled(s), 1, 0)


@proof.goal
def wrong_with_short_timeouts(s: State) -> Truth:
    """A correct sender is suspected only with a timeout of at most Φ+Δ, or less than that if it was doubled."""
    return Implies(s.suspected, too_short(s))


proof.invariants(correct_sender, silent_sender, heartbeat_grows_old, waits_no_longer, judges_at_once)


@proof.invariant
def doubled_is_even(s: State) -> Truth:
    """A timeout that was doubled is even."""
    return Implies(doubled(s), s.timeout % 2 == 0)


@proof.invariant
def listens_in_twos(s: State) -> Truth:
    """Once something was heard, the monitor has taken an even number of steps at a Listen, while it has patience."""
    since_listen = If(s.step == Step.Judge, 1, 0)
    return Implies(And(doubled(s), s.left > 0), (waited(s) - since_listen) % 2 == 0)


@proof.invariant
def suspected_after_listening(s: State) -> Truth:
    """Who suspects lost patience at a Judge with the initial timeout, or at a Listen."""
    return Implies(s.suspected, too_short(s))
