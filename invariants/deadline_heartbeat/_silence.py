"""Why a correct sender is not silent for long: what the proofs of accuracy share."""

from fdverify import And, Implies, Not, Proof, State, Truth
from fdverify.detectors.deadline_heartbeat import FIXED_RATE, DeadlineParts


def prove_silence_is_short(proof: Proof, parts: DeadlineParts) -> None:
    """Add the conjuncts from which accuracy follows, and what they assume of the parameters."""
    monitor, silence = parts.monitor, parts.silence

    @proof.assumption
    def short_delay(s: State) -> Truth:
        """The shortest delay is shorter than the period."""
        shorter: Truth = s.soonest < s.period
        return shorter

    if parts.task == FIXED_RATE:

        @proof.assumption
        def short_pauses(s: State) -> Truth:
            """The sender's pauses are shorter than the period."""
            shorter: Truth = s.pause < s.period
            return shorter

    proof.invariants(*parts.beat.guarantees(), *parts.channel.guarantees(monitor), *silence.guarantees())

    @proof.invariant
    def silence_is_short(s: State) -> Truth:
        """The silence is shorter than the longest, and than that with the pause while the monitor is paused."""
        longest = silence.longest(s)
        running = Implies(monitor.runs(s), silence.rounds(s) < longest)
        return And(running, silence.rounds(s) < longest + monitor.pause(s))

    @proof.invariant
    def trusted(s: State) -> Truth:
        """The sender is not suspected."""
        return Not(s.suspected)
