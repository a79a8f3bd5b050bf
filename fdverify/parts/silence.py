"""Silence: how long a receiver hears nothing from a task that sends through a lossy channel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fdverify.logic import And, If, Implies, Min, Not, Number, Or, Truth
from fdverify.models.system import Flags, Integers, State, Variable
from fdverify.parts.guarantee import Guarantee, name_guarantee
from fdverify.parts.lossy_channel import LossyChannel
from fdverify.parts.periodic_task import PeriodicTask


@dataclass(frozen=True)
class Silence:
    """The rounds since the last message of ``task`` was delivered by ``channel``.

    Its variables are ``NAME``, and ``NAME_begun``, which says that a first message was delivered: until then the
    silence is 0.  With ``registered`` it begins at the start, as if a message had been delivered then.  How far the
    silence lies above ``matters`` must not matter to the model.
    """

    name: str
    task: PeriodicTask
    channel: LossyChannel
    matters: Callable[[State], Number]
    registered: bool = False

    def rounds(self, s: State) -> Number:
        """Return how long the silence has lasted."""
        rounds: Number = s[self.name]
        return rounds

    def begun(self, s: State) -> Truth:
        """Return whether a first message was delivered."""
        return True if self.registered else s[self._begun]

    def longest(self, s: State) -> Number:
        """Return a number of rounds that the silence never reaches while the receiver runs and the sender is correct.

        With pauses of the sender as long as the period, a task at a fixed rate may be silent for longer.
        """
        runs = (self.channel.most_losses(s) + 1) * self.task.gap(s) + self.task.lateness(s)
        return runs + s[self.channel.delay] - self.channel.least_delay(s)

    def variables(self) -> tuple[Variable, ...]:
        def starts_with_first_message(s: State) -> Truth:
            return And(s[self.name] >= 0, Implies(Not(self.begun(s)), s[self.name] == 0))

        rounds = Variable(self.name, Integers(), initial=lambda s: 0, range=starts_with_first_message, cap=self.matters)
        return (rounds,) if self.registered else (rounds, Variable(self._begun, Flags(), initial=lambda s: False))

    def after(self, s: State, heard: Truth) -> Mapping[str, Number | Truth]:
        """Return what changes if a message is delivered, or none is, as ``LossyChannel.hand_over`` takes it."""
        begun = self.begun(s)
        rounds = {self.name: If(Or(heard, Not(begun)), 0, s[self.name] + 1)}
        return rounds if self.registered else {**rounds, self._begun: Or(begun, heard)}

    def guarantees(self) -> tuple[Guarantee, ...]:
        """Return the conjuncts from which it follows how long the silence is, while the sender is correct.

        They are for a shortest delay of at most one period, or less than one if the silence begins ``registered``.  At
        a fixed rate, they are for pauses of the sender that are shorter than the period.
        """
        channel = self.channel

        def since_sent(s: State) -> Number:
            """At most this long ago the last message that was not lost was due."""
            return channel.lost(s) * self.task.gap(s) + self.task.since(s)

        def is_youngest_under_way(s: State) -> Truth:
            sent = Or(self.begun(s), Not(channel.messages(s).empty()))
            return Implies(sent, Or(since_sent(s) >= channel.least_delay(s), channel.messages(s).any(0, since_sent(s))))

        def is_next_under_way(s: State) -> Truth:
            least_age = self.rounds(s) - self.longest(s) + s[channel.delay]
            is_last = self.rounds(s) + channel.least_delay(s) <= since_sent(s)
            is_next = channel.messages(s).any(Min(least_age, s[channel.delay]), s[channel.delay])
            return Implies(self.begun(s), Or(is_last, is_next))

        youngest = f"While the last message in {channel.name} is younger than the shortest delay, it is under way."
        following = f"Since {self.name} began no message was sent, or one is under way that is as old as can be told."
        return (
            name_guarantee(f"{self.name}_youngest", youngest, is_youngest_under_way),
            name_guarantee(f"{self.name}_next", following, is_next_under_way),
        )

    @property
    def _begun(self) -> str:
        return f"{self.name}_begun"
