"""A channel with a least and a largest delay, that may lose some messages in a row, and may deliver one twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fdverify.logic import And, If, Implies, Min, Not, Number, Or, Truth
from fdverify.models.system import (
    Ages,
    Choices,
    Flag,
    Integers,
    Phase,
    State,
    Subset,
    Update,
    Variable,
    update,
)
from fdverify.parts.guarantee import Guarantee, name_guarantee
from fdverify.parts.pausing_process import PausingProcess


def count_none(s: State) -> Number:
    return 0


@dataclass(frozen=True)
class LossyChannel:
    """A channel whose messages take at least ``least_delay`` rounds, and at most as many as the parameter ``delay``.

    Its variable ``NAME`` has the ages of the messages in transit, and ``NAME_lost`` the number of messages that were
    lost since the last one that was not.  That number is at most ``losses``.  Its choices are ``NAME_loses`` and
    ``NAME_delivered``; with ``duplicates`` also ``NAME_copied``, the messages that are delivered and yet stay.
    """

    name: str
    delay: str
    least_delay: Callable[[State], Number] = count_none
    losses: Callable[[State], Number] | None = None
    duplicates: bool = False
    encoding: str = "predicate"

    def messages(self, s: State) -> Any:
        """Return the ages of the messages in transit."""
        return s[self.name]

    def lost(self, s: State) -> Number:
        """Return the number of messages lost since the last one that was not."""
        return 0 if self.losses is None else s[self._lost]

    def most_losses(self, s: State) -> Number:
        """Return the largest number of messages that may be lost in a row."""
        return 0 if self.losses is None else self.losses(s)

    def hears(self, c: Choices) -> Truth:
        """Return whether a message is delivered."""
        copied = Not(c[self._copied].empty()) if self.duplicates else False
        return Or(Not(c[self._delivered].empty()), copied)

    def variables(self) -> tuple[Variable, ...]:
        buffer = Variable(self.name, Ages(self.encoding, bound=self.delay), initial=lambda s: frozenset())
        return (buffer,) if self.losses is None else (buffer, self._build_counter(self.losses))

    def carry(self, sends: Callable[[State], Truth]) -> Phase:
        """Build the phase in which messages grow older, and one joins them unless it is lost."""
        losses = self.losses

        def run_carry(s: State, c: Choices) -> Update:
            aged = self.messages(s).age()
            if losses is None:
                return update(**{self.name: aged.send(when=sends(s))})
            loses = c[self._loses]
            return update(
                **{
                    self.name: aged.send(when=And(sends(s), Not(loses))),
                    self._lost: If(loses, s[self._lost] + 1, If(sends(s), 0, s[self._lost])),
                }
            )

        if losses is None:
            return Phase(f"carry_{self.name}", run_carry)
        may_lose = Flag(self._loses, when=lambda s: And(sends(s), s[self._lost] < losses(s)))
        return Phase(f"carry_{self.name}", run_carry, (may_lose,))

    def hand_over(
        self,
        receives: Callable[[State], Truth],
        then: Callable[[State, Truth], Mapping[str, Any]],
    ) -> Phase:
        """Build the phase in which messages are delivered, if the receiver ``receives`` in this round.

        All that are as old as the largest delay are.  ``then`` gets the state and whether a message is delivered, and
        returns what that changes.
        """

        def run_hand_over(s: State, c: Choices) -> Update:
            delivered, least = c[self._delivered], self.least_delay(s)
            old_enough = Not(delivered.any(0, least - 1))
            if self.duplicates:
                old_enough = And(old_enough, Not(c[self._copied].any(0, least - 1)))
            due = And(receives(s), self.messages(s).has(s[self.delay]))
            return update(
                assume=And(old_enough, Implies(due, delivered.has(s[self.delay]))),
                **{self.name: self.messages(s).deliver(delivered)},
                **then(s, self.hears(c)),
            )

        taken = Subset(self._delivered, of=self.name, when=receives)
        copied = (Subset(self._copied, of=self.name, when=receives),) if self.duplicates else ()
        return Phase(f"hand_over_{self.name}", run_hand_over, (taken, *copied))

    def guarantees(self, receiver: PausingProcess) -> tuple[Guarantee, ...]:
        """Return the conjunct that a message of the largest delay waits only for a receiver that is paused."""

        def waits_for_receiver(s: State) -> Truth:
            return Implies(self.messages(s).has(s[self.delay]), Not(receiver.runs(s)))

        meaning = f"No message in {self.name} has the largest delay while {receiver.name} runs."
        return (name_guarantee(f"{self.name}_delivered", meaning, waits_for_receiver),)

    def guarantees_after_crash(self, sender: PausingProcess, receiver: PausingProcess) -> tuple[Guarantee, ...]:
        """Return the conjuncts about a sender that may crash: its messages grow old, and are soon delivered.

        They are for a receiver that does not crash.
        """

        def is_older_than_crash(s: State) -> Truth:
            return Not(self.messages(s).any(0, Min(sender.since_crash(s), s[self.delay] - 1)))

        def waits_for_receiver(s: State) -> Truth:
            overdue = sender.since_crash(s) + 1 - s[self.delay]
            return Implies(Not(self.messages(s).empty()), overdue < receiver.pause(s))

        grow_old = f"No message in {self.name} is younger than the crash."
        soon_empty = f"What is left in {self.name} is overdue for less long than {receiver.name} has been paused."
        return (
            name_guarantee(f"{self.name}_grow_old", grow_old, is_older_than_crash),
            name_guarantee(f"{self.name}_soon_empty", soon_empty, waits_for_receiver),
        )

    def _build_counter(self, losses: Callable[[State], Number]) -> Variable:
        return Variable(
            self._lost,
            Integers(),
            initial=lambda s: 0,
            range=lambda s: And(s[self._lost] >= 0, s[self._lost] <= losses(s)),
        )

    @property
    def _lost(self) -> str:
        return f"{self.name}_lost"

    @property
    def _loses(self) -> str:
        return f"{self.name}_loses"

    @property
    def _delivered(self) -> str:
        return f"{self.name}_delivered"

    @property
    def _copied(self) -> str:
        return f"{self.name}_copied"
