"""A process that pauses, again and again, but never longer than a bound at once; it may also crash for good."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fdverify.logic import And, If, Implies, Not, Number, Or, Truth
from fdverify.models.system import Choices, Flag, Flags, Integers, Phase, State, Update, Variable, update


@dataclass(frozen=True)
class PausingProcess:
    """A process that runs or pauses in each round; a pause lasts at most ``longest_pause`` rounds.

    Its variable ``NAME_paused`` has the number of rounds that its pause has lasted, which is 0 while it runs.  Its
    choice is ``NAME_pauses``.  After one round in which it runs it may pause again.  Without a ``longest_pause`` it
    never pauses, and has neither this variable nor this choice.  With ``crashes`` it may also crash
    at the start of a round: ``NAME_crashed`` says so, and the ghost ``NAME_since_crash`` counts the rounds since then;
    it is 0 in the first round in which the process does nothing, and -1 before.
    """

    name: str
    longest_pause: Callable[[State], Number] | None = None
    crashes: bool = False

    def correct(self, s: State) -> Truth:
        """Return whether it has not crashed."""
        return Not(s[self._crashed]) if self.crashes else True

    def runs(self, s: State) -> Truth:
        """Return whether it runs in this round; call this after its phases."""
        return And(self.correct(s), self.pause(s) == 0)

    def pause(self, s: State) -> Number:
        """Return how many rounds its pause has lasted."""
        return 0 if self.longest_pause is None else s[self._paused]

    def pause_bound(self, s: State) -> Number:
        """Return how many rounds a pause lasts at most."""
        return 0 if self.longest_pause is None else self.longest_pause(s)

    def since_crash(self, s: State) -> Number:
        """Return the number of rounds since its crash, or -1."""
        clock: Number = s[self.clock]
        return clock

    @property
    def clock(self) -> str:
        """The name of the ghost that counts the rounds since its crash."""
        return f"{self.name}_since_crash"

    def variables(self) -> tuple[Variable, ...]:
        paused = Variable(
            self._paused,
            Integers(),
            initial=lambda s: 0,
            range=lambda s: And(s[self._paused] >= 0, s[self._paused] <= self.pause_bound(s)),
        )
        pauses = () if self.longest_pause is None else (paused,)
        return (*pauses, *self._build_crash_variables()) if self.crashes else pauses

    def phases(self) -> tuple[Phase, ...]:
        """Build its phases, which come first in a round."""
        crash = Phase(f"crash_{self.name}", self._crash, (Flag(self._crash_choice, when=self.correct),))
        scheduling = Phase(f"schedule_{self.name}", self._schedule, (Flag(self._pauses, when=self.correct),))
        crashing = (crash,) if self.crashes else ()
        return crashing if self.longest_pause is None else (*crashing, scheduling)

    def _schedule(self, s: State, c: Choices) -> Update:
        lasts = s[self._paused] + 1
        return update(
            assume=Implies(c[self._pauses], lasts <= self.pause_bound(s)),
            **{self._paused: If(c[self._pauses], lasts, 0)},
        )

    def _crash(self, s: State, c: Choices) -> Update:
        over = Or(s[self._crashed], c[self._crash_choice])
        return update(**{self._crashed: over, self.clock: If(over, s[self.clock] + 1, -1)})

    def _build_crash_variables(self) -> tuple[Variable, Variable]:
        crashed = Variable(self._crashed, Flags(), initial=lambda s: False)
        clock = Variable(
            self.clock,
            Integers(),
            initial=lambda s: -1,
            range=lambda s: If(s[self._crashed], s[self.clock] >= 0, s[self.clock] == -1),
            ghost=True,
            clock=True,
        )
        return crashed, clock

    @property
    def _paused(self) -> str:
        return f"{self.name}_paused"

    @property
    def _pauses(self) -> str:
        return f"{self.name}_pauses"

    @property
    def _crashed(self) -> str:
        return f"{self.name}_crashed"

    @property
    def _crash_choice(self) -> str:
        return f"{self.name}_crashes"
