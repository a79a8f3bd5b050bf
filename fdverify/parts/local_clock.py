"""A process's own clock, which may be fast now and then, and a stopwatch that is read on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fdverify.logic import And, If, Max, Number, Or, Truth
from fdverify.models.system import Choices, Flag, Integers, Phase, State, Update, Variable, update
from fdverify.parts.guarantee import Guarantee, name_guarantee


@dataclass(frozen=True)
class LocalClock:
    """A clock that advances by one tick in each round, and sometimes by two: then it gains a tick.

    It gains at most one tick in any ``steady`` rounds in a row, whenever it likes.  So over d rounds it advances by at
    least d and at most d + ⌈d / steady⌉, which is ⌈ρd⌉ with ρ = 1 + 1 / steady.  It goes on while its process is
    paused.  Its choice is ``NAME_gains``.  Its variable ``NAME_steady`` is ``steady`` after a round in which it gained,
    and then counts down to 0; it may gain again when 1 is left.
    """

    name: str
    steady: Callable[[State], Number]

    def ticks(self, s: State) -> Number:
        """Return by how many ticks it advances in this round; call this after its phase."""
        return If(s[self._steady] == self.steady(s), 2, 1)

    def until_gain(self, s: State) -> Number:
        """Return the number of rounds before the one in which it may gain again, counted from this one."""
        rounds: Number = s[self._steady]
        return rounds

    def variables(self) -> tuple[Variable, ...]:
        def fits(s: State) -> Truth:
            return And(s[self._steady] >= 0, s[self._steady] <= self.steady(s))

        return (Variable(self._steady, Integers(), initial=lambda s: 0, range=fits),)

    def phases(self) -> tuple[Phase, ...]:
        """Build its phase, which comes before those that read the clock."""

        def may_gain(s: State) -> Truth:
            return s[self._steady] <= 1

        def advance(s: State, c: Choices) -> Update:
            steady = If(c[self._gains], self.steady(s), Max(s[self._steady] - 1, 0))
            return update(**{self._steady: steady})

        return (Phase(f"advance_{self.name}", advance, (Flag(self._gains, when=may_gain),)),)

    @property
    def _steady(self) -> str:
        return f"{self.name}_steady"

    @property
    def _gains(self) -> str:
        return f"{self.name}_gains"


@dataclass(frozen=True)
class Stopwatch:
    """The ticks of ``clock`` since the stopwatch was last reset, in the variable ``NAME``.

    How far they lie above ``matters`` must not matter to the model.  The ghost ``NAME_rounds`` counts the rounds.
    """

    name: str
    clock: LocalClock
    matters: Callable[[State], Number]

    def elapsed(self, s: State) -> Number:
        """Return the ticks since it was reset."""
        ticks: Number = s[self.name]
        return ticks

    def rounds(self, s: State) -> Number:
        """Return the rounds since it was reset."""
        rounds: Number = s[self._rounds]
        return rounds

    def variables(self) -> tuple[Variable, ...]:
        return (
            Variable(self.name, Integers(), initial=lambda s: 0, range=lambda s: s[self.name] >= 0, cap=self.matters),
            Variable(
                self._rounds,
                Integers(),
                initial=lambda s: 0,
                range=lambda s: s[self._rounds] >= 0,
                ghost=True,
                clock=True,
            ),
        )

    def phases(self) -> tuple[Phase, ...]:
        """Build its phase, which comes after that of its clock."""

        def advance(s: State, c: Choices) -> Update:
            return update(**{self.name: s[self.name] + self.clock.ticks(s), self._rounds: s[self._rounds] + 1})

        return (Phase(f"advance_{self.name}", advance),)

    def reset(self, s: State, when: Truth) -> Mapping[str, Number]:
        """Return what changes if it is reset where ``when`` holds."""
        return {self.name: If(when, 0, s[self.name]), self._rounds: If(when, 0, s[self._rounds])}

    def guarantees(self) -> tuple[Guarantee, ...]:
        """Return the conjuncts that it is not slow, and not faster than its clock may be."""

        def is_not_slow(s: State) -> Truth:
            return self.elapsed(s) >= self.rounds(s)

        def is_not_fast(s: State) -> Truth:
            gained = self.elapsed(s) - self.rounds(s)
            least_rounds = gained * self.clock.steady(s) + 1 - self.clock.until_gain(s)
            return Or(gained == 0, self.rounds(s) >= least_rounds)

        not_slow = f"{self.name} has at least one tick a round."
        not_fast = f"{self.name} has gained at most as many ticks as {self.clock.name} can in its rounds."
        return (
            name_guarantee(f"{self.name}_not_slow", not_slow, is_not_slow),
            name_guarantee(f"{self.name}_not_fast", not_fast, is_not_fast),
        )

    @property
    def _rounds(self) -> str:
        return f"{self.name}_rounds"
