"""Processes of a model: they repeat a cycle of steps, are idle for less than a bound, and may crash."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from fdverify.logic import And, If, Implies, Min, Not, Number, Or, Truth
from fdverify.models.system import Choices, Flag, Integers, Labels, Phase, State, Update, Variable, update


@dataclass(frozen=True)
class Process:
    """A process that is active or idle in each round; in an active round it takes the next step of its cycle.

    Its variables are ``NAME_pc``, the step of its last active round, and ``NAME_timer``, the number of rounds since
    then.  Its choice is ``NAME_active``.  It is idle only while its timer stays below ``bound``.
    """

    name: str
    cycle: tuple[IntEnum, ...]
    bound: Callable[[State], Number]
    crashed: IntEnum | None = None
    """Its program counter after a crash; ``None`` if it cannot crash."""

    def correct(self, s: State) -> Truth:
        """Return whether it has not crashed."""
        return True if self.crashed is None else Or(*(s[self._pc] == step for step in self.cycle))

    def is_active(self, s: State) -> Truth:
        """Return whether it is active in this round; call this after its scheduling, which resets its timer if so."""
        return And(s[self._timer] == 0, self.correct(s))

    def runs(self, s: State, step: IntEnum) -> Truth:
        """Return whether it is active in this round and takes this step."""
        return And(s[self._timer] == 0, s[self._pc] == step)

    def pc(self, starts: IntEnum) -> Variable:
        return Variable(self._pc, Labels(type(starts)), initial=lambda s: starts)

    def timer(self, timely: Callable[[State], Truth] = lambda s: True) -> Variable:
        def is_idle_in_bound(s: State) -> Truth:
            timer, bound = s[self._timer], self.bound(s)
            return And(timer >= 0, If(timely(s), timer < bound, timer <= bound))

        return Variable(self._timer, Integers(), initial=lambda s: 0, range=is_idle_in_bound)

    def build_active_flag(self) -> Flag:
        """Build the choice that schedules it."""
        return Flag(f"{self.name}_active", when=self.correct)

    def take_turn(self, s: State, c: Choices, timely: Truth = True, may_act: Truth = True) -> Update:
        """Let it take its next step if it may act, or idle; where it is not timely, it may idle without bound."""
        timer, active, correct = s[self._timer], c[f"{self.name}_active"], self.correct(s)
        idle = If(timely, timer + 1, Min(timer + 1, self.bound(s)))
        may_idle = Or(Not(timely), timer + 1 < self.bound(s))
        moved = {} if len(self.cycle) == 1 else {self._pc: If(active, self._find_next_step(s), s[self._pc])}
        return update(
            assume=Implies(correct, If(active, may_act, may_idle)),
            **{self._timer: If(And(correct, Not(active)), idle, 0)},
            **moved,
        )

    def schedule(self) -> Phase:
        return Phase(f"schedule_{self.name}", lambda s, c: self.take_turn(s, c), (self.build_active_flag(),))

    def crash(self, clock: str) -> Phase:
        """Build the phase in which it may crash at the start of a round; the clock counts the rounds since."""
        assert self.crashed is not None, "a process that may crash has a label for it"

        def run_crash(s: State, c: Choices) -> Update:
            return update(
                **{
                    self._pc: If(c.crash, self.crashed, s[self._pc]),
                    self._timer: If(c.crash, 0, s[self._timer]),
                    clock: If(c.crash, 0, If(self.correct(s), s[clock], s[clock] + 1)),
                }
            )

        return Phase("crash", run_crash, (Flag("crash", when=self.correct),))

    def crash_clock(self, clock: str) -> Variable:
        return Variable(
            clock,
            Integers(),
            initial=lambda s: -1,
            range=lambda s: If(self.correct(s), s[clock] == -1, s[clock] >= 0),
            ghost=True,
            clock=True,
        )

    def _find_next_step(self, s: State) -> Number:
        """Return the step after the last one."""
        following: Number = self.cycle[0]
        for step, after in zip(self.cycle[:-1], self.cycle[1:], strict=True):
            following = If(s[self._pc] == step, after, following)
        return following

    @property
    def _pc(self) -> str:
        return f"{self.name}_pc"

    @property
    def _timer(self) -> str:
        return f"{self.name}_timer"
