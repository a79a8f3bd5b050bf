"""The two liveness proofs with an arbitrary GST: the conjuncts of invariants/, from GST on.

Before GST the timeout grows without bound, and at GST the receiver may have waited for any time.  So claims about
``waiting_time`` hold once a message has been delivered since GST, which settles it.  Claims about the quiet clock,
which restarts at GST, hold from GST on.
"""

from collections.abc import Callable
from functools import wraps
from pathlib import Path

from _detector import stable

from fdverify import Always, And, EventuallyAlways, Implies, LeadsTo, Max, Not, Proof, State, Truth, load_module
from fdverify.detectors.chandra_toueg import crashed, sender_correct, suspected

_INVARIANTS = Path(__file__).resolve().parents[2] / "invariants"
trust = load_module(_INVARIANTS / "eventual_trust.py")
suspicion = load_module(_INVARIANTS / "lasting_suspicion.py")


def accuracy(model: str) -> Proof:
    """Build the proof of Eventually Strong Accuracy."""
    proof = Proof(
        model,
        goal=EventuallyAlways("strong-accuracy"),
        by="timeout-guard",
        variant="ivy",
        crash=True,
        timeout="any",
    )
    proof.term(trust.safe_timeout)
    proof.term(trust.longest_quiet)
    _about_the_timeout(proof)
    return proof


def completeness(model: str) -> Proof:
    """Build the proof of Strong Completeness."""
    proof = Proof(
        model,
        goal=LeadsTo(crashed, Always(suspected)),
        by="crash-clock",
        variant="ivy",
        crash=True,
        timeout="any",
    )
    proof.term(suspicion.safe_timeout)
    proof.term(suspicion.detection)
    _about_the_timeout(proof)
    shared = {predicate.__name__ for predicate in trust.proof.predicates()}
    # All of them are about the crash clock, which runs only from GST on.
    proof.invariants(*(each for each in suspicion.proof.predicates() if each.__name__ not in shared))
    return proof


def _about_the_timeout(proof: Proof) -> None:
    proof.invariants(
        trust.suspected_after_timeout,
        _where(lambda s: s.settled, trust.waits_in_quiet),
        unsettled_timeout,
        settled_from_the_start,
        settled_since_gst,
        grows_from_the_first,
        grows_until_safe,
        *(
            _where(stable, conjunct)
            for conjunct in (
                trust.silent_sender,
                trust.message_grows_old,
                trust.old_message,
                trust.delivery_overdue,
            )
        ),
    )


def _where(condition: Callable[[State], Truth], conjunct: Callable[[State], Truth]) -> Callable[[State], Truth]:
    """Restrict a conjunct to states in which a condition holds."""

    @wraps(conjunct)
    def guarded(s: State) -> Truth:
        return Implies(condition(s), conjunct(s))

    return guarded


def unsettled_timeout(s: State) -> Truth:
    """Until the first delivery from GST on, the timeout that counts is the current one."""
    return Implies(Not(s.settled), s.settled_timeout == s.timeout)


def settled_from_the_start(s: State) -> Truth:
    """With GST at 0, the timeout that counts is the initial one."""
    return Implies(s.gst == 0, And(s.settled, s.settled_timeout == s.initial_timeout))


def settled_since_gst(s: State) -> Truth:
    """What is settled before GST is the initial state, with GST at 0."""
    initial = And(s.gst == 0, sender_correct(s), Not(s.suspected), s.waiting_time == 0, s.hquiet == 0)
    return Implies(And(s.settled, Not(stable(s))), initial)


def grows_from_the_first(s: State) -> Truth:
    """From the first delivery on, the timeout is never below what it was then."""
    return s.timeout >= s.settled_timeout


def grows_until_safe(s: State) -> Truth:
    """From the first delivery on, the timeout grows until it is safe, and no further."""
    return s.timeout <= Max(s.settled_timeout, trust.safe_timeout(s))
