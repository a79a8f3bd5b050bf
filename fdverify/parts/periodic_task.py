"""Periodic tasks of a process, at a fixed rate or with a fixed delay; what is due waits for the process to run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from fdverify.logic import And, If, Iff, Implies, Max, Not, Number, Or, Truth
from fdverify.models.system import Choices, Integers, Labels, Phase, State, Update, Variable, update
from fdverify.parts.guarantee import Guarantee, name_guarantee
from fdverify.parts.pausing_process import PausingProcess


class TaskStep(IntEnum):
    """What a task does in a round."""

    Rests = 0
    Due = 1
    Runs = 2


@dataclass(frozen=True)
class PeriodicTask(ABC):
    """A task of ``process`` with a period; it is due for the first time in the round ``first``, by default 1.

    Its variables are ``NAME_step``, and ``NAME_wait``, the number of rounds until it is due.
    """

    name: str
    process: PausingProcess
    period: Callable[[State], Number]
    first: Callable[[State], Number] = lambda s: 1

    @abstractmethod
    def overdue(self, s: State) -> Number:
        """Return how long a task that is due has waited for its process, in rounds."""

    @abstractmethod
    def since(self, s: State) -> Number:
        """Return the rounds since the moment from which the gap to the next run is counted."""

    @abstractmethod
    def gap(self, s: State) -> Number:
        """Return how far apart two of these moments are at most."""

    @abstractmethod
    def lateness(self, s: State) -> Number:
        """Return how much later than such a moment a run is at most."""

    @abstractmethod
    def _take_turn(self, s: State) -> Update:
        """Return what happens to a task of a process that has not crashed."""

    @abstractmethod
    def _wait_fits(self, s: State) -> Truth:
        """Return whether the wait fits the step."""

    def runs(self, s: State) -> Truth:
        """Return whether it runs in this round; call this after its phase."""
        return s[self._step] == TaskStep.Runs

    def is_due(self, s: State) -> Truth:
        """Return whether it is due, but its process is paused."""
        return s[self._step] == TaskStep.Due

    def variables(self) -> tuple[Variable, ...]:
        return (
            Variable(self._step, Labels(TaskStep), initial=lambda s: TaskStep.Rests),
            Variable(self._wait, Integers(), initial=self.first, range=self._wait_fits),
        )

    def phases(self) -> tuple[Phase, ...]:
        """Build its phase, which comes after those of its process."""
        return (Phase(f"run_{self.name}", self._run),)

    def guarantees(self) -> tuple[Guarantee, ...]:
        """Return the conjunct that a task is due only while its process is paused, and no longer than the pause."""

        def waits_for_its_process(s: State) -> Truth:
            return Implies(self.is_due(s), And(self.overdue(s) >= 0, self.overdue(s) < self.process.pause(s)))

        meaning = f"{self.name} is due for less long than {self.process.name} has been paused."
        return (name_guarantee(f"{self.name}_overdue", meaning, waits_for_its_process),)

    def _run(self, s: State, c: Choices) -> Update:
        turn = self._take_turn(s)
        correct = self.process.correct(s)
        return update(
            **{
                self._step: If(correct, turn.changes[self._step], TaskStep.Rests),
                self._wait: If(correct, turn.changes[self._wait], self.period(s)),
            }
        )

    @property
    def _step(self) -> str:
        return f"{self.name}_step"

    @property
    def _wait(self) -> str:
        return f"{self.name}_wait"


@dataclass(frozen=True)
class FixedDelayTask(PeriodicTask):
    """A task that is due again one period after its last run, so a pause delays all later runs."""

    def overdue(self, s: State) -> Number:
        overdue: Number = -s[self._wait]
        return overdue

    def since(self, s: State) -> Number:
        """Return the rounds since its last run, once it has run."""
        return self.period(s) - s[self._wait]

    def gap(self, s: State) -> Number:
        return self.period(s) + self.process.pause_bound(s)

    def lateness(self, s: State) -> Number:
        return 0

    def _take_turn(self, s: State) -> Update:
        due, runs = s[self._wait] <= 1, self.process.runs(s)
        return update(
            **{
                self._step: If(due, If(runs, TaskStep.Runs, TaskStep.Due), TaskStep.Rests),
                self._wait: If(And(due, runs), self.period(s), s[self._wait] - 1),
            }
        )

    def _wait_fits(self, s: State) -> Truth:
        wait = s[self._wait]
        return And(wait <= Max(self.period(s), self.first(s)), Iff(wait <= 0, self.is_due(s)))


@dataclass(frozen=True)
class FixedRateTask(PeriodicTask):
    """A task that is due at each tick of a grid, one period apart, whenever it ran before.

    All ticks that a pause covers are made up for by one run when the process runs again; with ``skips`` they are
    never made up for.
    """

    skips: bool = False

    def overdue(self, s: State) -> Number:
        """Return the rounds since the last tick."""
        return self.period(s) - s[self._wait]

    def since(self, s: State) -> Number:
        """Return the rounds since the tick of its last run, if all pauses are shorter than the period."""
        return self.period(s) - s[self._wait] + If(self.is_due(s), self.period(s), 0)

    def gap(self, s: State) -> Number:
        """Return the period: with shorter pauses, each tick has a run of its own."""
        return self.period(s)

    def lateness(self, s: State) -> Number:
        return self.process.pause_bound(s)

    def guarantees(self) -> tuple[Guarantee, ...]:
        """Return what every task guarantees; a task that skips is never due."""
        return () if self.skips else super().guarantees()

    def _take_turn(self, s: State) -> Update:
        tick, runs = s[self._wait] <= 1, self.process.runs(s)
        missed: Truth = False if self.skips else self.is_due(s)
        due = Or(tick, missed)
        waits = TaskStep.Rests if self.skips else TaskStep.Due
        return update(
            **{
                self._step: If(due, If(runs, TaskStep.Runs, waits), TaskStep.Rests),
                self._wait: If(tick, self.period(s), s[self._wait] - 1),
            }
        )

    def _wait_fits(self, s: State) -> Truth:
        wait = s[self._wait]
        ticked = Implies(Not(s[self._step] == TaskStep.Rests), wait <= self.period(s))
        return And(wait >= 1, wait <= Max(self.period(s), self.first(s)), ticked)
