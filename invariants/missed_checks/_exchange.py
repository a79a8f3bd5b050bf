"""What happens to a check: a message each way, lost or in time, and after a crash no answer."""

from fdverify import And, Implies, Min, Not, Or, Proof, State, Truth
from fdverify.detectors.missed_checks import (
    CheckParts,
    CheckStep,
    compute_safe_timeout,
    compute_safe_tolerance,
)


def is_waiting(s: State) -> Truth:
    waiting: Truth = s.check_step == CheckStep.Waits
    return waiting


def prove_one_message(proof: Proof, parts: CheckParts) -> None:
    """Add the conjuncts that a check has one message in transit at most."""
    proof.invariants(*parts.pings.guarantees(parts.target), *parts.pongs.guarantees(parts.checker))

    @proof.invariant
    def one_message(s: State) -> Truth:
        """A message is in transit only while the checker waits, and only one way."""
        return And(
            Or(s.pings.empty(), s.pongs.empty()),
            s.pongs.single(),
            Implies(Not(is_waiting(s)), And(s.pings.empty(), s.pongs.empty())),
        )

    @proof.invariant
    def ping_of_check(s: State) -> Truth:
        """A ping is as old as the check."""
        of_another_age = Or(s.pings.any(0, Min(s.elapsed, s.delta) - 1), s.pings.any(s.elapsed + 1, s.delta))
        return Not(of_another_age)


def prove_misses_are_losses(proof: Proof, parts: CheckParts) -> None:
    """Add the conjuncts from which accuracy follows, and what they assume of the parameters."""
    prove_one_message(proof, parts)

    def accounted(s: State) -> int:
        """The misses that lost messages account for."""
        losses: int = s.pongs_lost * (s.losses + 1) + s.pings_lost
        return losses

    @proof.assumption
    def enough_time(s: State) -> Truth:
        """The timeout is long enough for a message each way, and a pause of the target."""
        enough: Truth = s.initial_timeout >= compute_safe_timeout(s)
        return enough

    @proof.assumption
    def enough_checks(s: State) -> Truth:
        """More misses are tolerated than losses can cause."""
        enough: Truth = s.tolerance >= compute_safe_tolerance(s)
        return enough

    @proof.invariant
    def ping_in_time(s: State) -> Truth:
        """A ping is overdue only while the target is paused."""
        return Or(s.pings.empty(), s.elapsed < s.delta + s.target_paused)

    @proof.invariant
    def pong_in_time(s: State) -> Truth:
        """A pong was sent when the ping had taken as long as it may, at the latest."""
        return Not(s.pongs.any(0, s.elapsed - s.delta - s.pause - 1))

    @proof.invariant
    def misses_are_losses(s: State) -> Truth:
        """The misses are no more than the losses account for; a check under way may still be one of them."""
        resting = s.misses <= accounted(s)
        asked = And(s.pings_lost == 0, s.misses <= accounted(s) + s.losses)
        lost = s.misses + 1 <= accounted(s)
        none_lost = s.misses <= s.losses * (s.losses + 1) + s.losses
        return And(
            none_lost,
            Implies(Not(is_waiting(s)), resting),
            Implies(And(is_waiting(s), Not(s.pings.empty())), asked),
            Implies(And(is_waiting(s), s.pings.empty(), s.pongs.empty()), lost),
        )


def prove_checks_go_on(proof: Proof, parts: CheckParts) -> None:
    """Add the conjuncts from which it follows how late a crash is noticed."""
    prove_one_message(proof, parts)
    proof.invariants(*parts.pongs.guarantees_after_crash(parts.target, parts.checker))

    @proof.invariant
    def begun_before_crash(s: State) -> Truth:
        """A check that is answered began before the crash."""
        return Or(s.pongs.empty(), s.elapsed > s.target_since_crash)

    @proof.invariant
    def given_up_in_time(s: State) -> Truth:
        """A check under way is not older than the timeout."""
        return Implies(is_waiting(s), s.elapsed < s.timeout)

    @proof.invariant
    def next_check_in_time(s: State) -> Truth:
        """The check after m misses begins m cycles after the first one that is missed, at the latest."""
        latest = parts.latest_first_check(s) + s.misses * parts.cycle(s)
        since = s.target_since_crash
        begun, begins = since - s.elapsed <= latest, since + s.check_wait <= latest
        return Or(parts.is_suspected(s), And(Implies(is_waiting(s), begun), Implies(Not(is_waiting(s)), begins)))
