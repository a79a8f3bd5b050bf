"""The search driver: depth-first search over the orders in which thresholds are reached and moments come.

At each node the context is known: which thresholds are reached.  So only rules whose guards can hold there are encoded.
The solver is asked which contexts can follow, so only the orders that the rules and the thresholds allow are explored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from math import inf
from typing import Any

import z3

from fdverify.errors import InternalError
from fdverify.smt.solver import Answer, ArithmeticSolver
from fdverify.threshold.claims.lasting import Lasting
from fdverify.threshold.claims.thresholds import Context, settled
from fdverify.threshold.formula import Constant
from fdverify.threshold.runs.legs import Legs, lasts
from fdverify.threshold.runs.outcome import Outcome, Watch
from fdverify.threshold.runs.phases import TOO_MANY, enough, too_many
from fdverify.threshold.runs.problem import Problem
from fdverify.threshold.runs.realise import Found, TooLong, realised, smallest
from fdverify.threshold.runs.terms import all_of, is_reached, truth


def search(problem: Problem, watch: Watch) -> Outcome:
    outcome = search_among(problem, watch, inf)
    assert outcome is not None, "an unlimited search ends with an outcome"
    return outcome


def search_among(problem: Problem, watch: Watch, most: float) -> Outcome | None:
    """Return the outcome, or None if the search visits more than ``most`` nodes."""
    phases = 0
    best: Found | None = None
    while True:
        attempt = _Search(problem, phases, watch, most, best)
        try:
            attempt.go()
        except _GaveUp as gave_up:
            return Outcome("unknown", gave_up.reason, facts=gave_up.facts)
        except _TooMany:
            return None
        best = attempt.best
        if attempt.without_order and phases:
            raise InternalError("the steps of a run in phases cannot be put into an order")
        # Divided into phases, an unordered run may have an order, and it may have fewer processes than the best run.
        if not attempt.without_order and (best is not None or not phases or enough(problem, phases)):
            return Outcome("none") if best is None else Outcome("found", found=best)
        phases = phases * 2 or 1
        if too_many(phases):
            return Outcome("unknown", TOO_MANY)


class _GaveUp(Exception):
    """A solver could not decide the facts, or a second solver did not confirm the answer."""

    def __init__(self, reason: str, facts: Iterable[Any]) -> None:
        super().__init__(reason)
        self.reason = reason
        self.facts = tuple(facts)


class _TooMany(Exception):
    """The limit on the number of nodes was reached."""


class _Search:
    def __init__(self, problem: Problem, phases: int, watch: Watch, most: float, best: Found | None) -> None:
        self.best = best
        self.without_order = False
        """Whether the steps of some run could not be put into an order."""
        self._problem = problem
        self._watch = watch
        self._legs = Legs(problem, phases)
        self._solver = ArithmeticSolver()
        self._told = 0
        self._visited = 0
        self._most = most
        self._limits = [] if best is None else [self._fewer_than(best)]
        """Constraints on a run that is better than the best one."""

    def go(self) -> None:
        self._come(0)
        self._each_context(frozenset({0}))

    def _visit(self, context: Context, started: frozenset[int]) -> None:
        """Explore the runs that are now in this context and have passed these moments."""
        shape = self._problem.shape
        self._visited += 1
        self._watch.report(f"node {self._visited}, {sum(context.values())} of {len(context)} thresholds reached")
        if self._visited > self._most:
            raise _TooMany
        with self._deeper():
            self._stretch(context, started)
            if self._ask().status == "unsat":
                return
            if len(started) == len(shape.moments):
                self._end()
                if not shape.at_last and not shape.again:
                    return
            for number, moment in enumerate(shape.moments):
                if number not in started and (moment.after or 0) in started:
                    with self._deeper():
                        self._come(number)
                        if self._ask().status == "sat":
                            self._visit(context, started | {number})
            if not all(context.values()):
                with self._deeper():
                    self._legs.step()
                    self._last(started)
                    self._legs.facts.append(z3.Not(self._in(context)))
                    self._each_context(started)

    def _stretch(self, context: Context, started: frozenset[int]) -> None:
        """Append stretches that do not change the context."""
        rules = [rule for rule in self._problem.automaton.rules if settled(rule.guard, context) != Constant(False)]
        for _ in range(max(1, self._legs.phases)):
            segment = self._legs.stretch(rules, lambda guard, segment: truth(settled(guard, context), segment.before))
            self._legs.facts.append(self._in(context))
            for claim in self._lasting(started):
                unless = truth(settled(claim.unless, context), segment.before)
                self._legs.keep(segment, z3.BoolVal(True), claim, unless)
            self._last(started)

    def _come(self, moment: int) -> None:
        """Require the moment to be at the current configuration."""
        self._legs.facts += [truth(formula, self._legs.end) for formula in self._problem.shape.moments[moment].holds]
        self._last(frozenset({moment}))

    def _last(self, started: frozenset[int]) -> None:
        """Require the lasting claims of these moments to hold in the current configuration."""
        self._legs.facts += [lasts(claim, self._legs.end) for claim in self._lasting(started)]

    def _lasting(self, started: frozenset[int]) -> list[Lasting]:
        return [claim for moment in sorted(started) for claim in self._problem.lasting[moment]]

    def _in(self, context: Context) -> Any:
        """Encode that the current configuration is in the context."""
        end = self._legs.end
        return all_of(
            [
                is_reached(threshold, end) if known else z3.Not(is_reached(threshold, end))
                for threshold, known in context.items()
            ]
        )

    def _each_context(self, started: frozenset[int]) -> None:
        """Visit each context in which the current configuration can be."""
        with self._deeper():
            while (answer := self._ask()).status == "sat":
                end = self._legs.end
                context = {
                    threshold: bool(answer.value(is_reached(threshold, end))) for threshold in self._problem.thresholds
                }
                here = self._in(context)
                with self._deeper():
                    self._legs.facts.append(here)
                    self._visit(context, started)
                self._legs.facts.append(z3.Not(here))

    def _end(self) -> None:
        """Try to end the run here; if it can end, minimise and concretise it, and keep it as the best run."""
        with self._deeper():
            self._legs.close()
            answer = self._ask()
            if answer.status == "unsat":
                return
            answer = smallest(self._legs, self._solver, answer, 0)
            run = realised(self._legs, answer)
            if isinstance(run, TooLong):
                raise _GaveUp(str(run), ())
            if not isinstance(run, Found):
                self.without_order = True
                return
            self.best = run
            self._limits = [self._fewer_than(run)]

    def _fewer_than(self, run: Found) -> Any:
        return self._legs.processes < sum(run.start[location.name] for location in self._problem.automaton.locations)

    def _ask(self) -> Answer:
        self._tell()
        answer = self._solver.ask(*self._limits)
        facts = [*self._legs.facts, *self._limits]
        if answer.status == "unknown":
            raise _GaveUp(f"the solver gave up: {answer.reason}", facts)
        doubt = self._watch.confirm(facts, answer.status)
        if doubt is not None:
            raise _GaveUp(doubt, facts)
        return answer

    def _tell(self) -> None:
        self._solver.add(self._legs.facts[self._told :])
        self._told = len(self._legs.facts)

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        """Open a scope: facts and segments added inside are dropped at its end."""
        self._tell()
        self._solver.push()
        facts, segments = len(self._legs.facts), len(self._legs.legs)
        yield
        del self._legs.facts[facts:], self._legs.legs[segments:]
        self._legs.loop = None
        self._told = facts
        self._solver.pop()
