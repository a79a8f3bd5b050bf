"""Is there a run of a problem?  A search, depth first, through the orders in which thresholds and moments can come.

Each node is a way to a configuration whose context, the thresholds that are reached, is known, so that only rules are
left that can be taken.  What cannot be reached is not gone into: the solver is asked for the contexts that may follow,
and so for those orders only that the thresholds' numbers, and the rules, allow.
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
    found = search_among(problem, watch, inf)
    assert found is not None, "there is no end to infinitely many"
    return found


def search_among(problem: Problem, watch: Watch, most: float) -> Outcome | None:
    """The outcome, unless there are more than so many nodes."""
    phases = 0
    best: Found | None = None
    while True:
        search = _Search(problem, phases, watch, most, best)
        try:
            search.go()
        except _GaveUp as gave_up:
            return Outcome("unknown", gave_up.reason, facts=gave_up.facts)
        except _TooMany:
            return None
        best = search.best
        if search.without_order and phases:
            raise InternalError("a run of the solver, with all its phases, has no order")
        # A run without an order may have one in phases, and fewer processes than the best one.
        if not search.without_order and (best is not None or not phases or enough(problem, phases)):
            return Outcome("none") if best is None else Outcome("found", found=best)
        phases = phases * 2 or 1
        if too_many(phases):
            return Outcome("unknown", TOO_MANY)


class _GaveUp(Exception):
    """A solver does not know."""

    def __init__(self, reason: str, facts: Iterable[Any]) -> None:
        super().__init__(reason)
        self.reason = reason
        self.facts = tuple(facts)


class _TooMany(Exception):
    """There are more nodes than were to be visited."""


class _Search:
    def __init__(self, problem: Problem, phases: int, watch: Watch, most: float, best: Found | None) -> None:
        self.best = best
        self.without_order = False
        """Whether a run was found that could not be put into an order."""
        self._problem = problem
        self._watch = watch
        self._legs = Legs(problem, phases)
        self._solver = ArithmeticSolver()
        self._told = 0
        self._visited = 0
        self._most = most
        self._limits = [] if best is None else [self._fewer_than(best)]
        """What a run must be to be better than the best one."""

    def go(self) -> None:
        self._come(0)
        self._each_context(frozenset({0}))

    def _visit(self, context: Context, started: frozenset[int]) -> None:
        """On from a configuration in this context, after these moments."""
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
            for place, moment in enumerate(shape.moments):
                if place not in started and (moment.after or 0) in started:
                    with self._deeper():
                        self._come(place)
                        if self._ask().status == "sat":
                            self._visit(context, started | {place})
            if not all(context.values()):
                with self._deeper():
                    self._legs.step()
                    self._last(started)
                    self._legs.facts.append(z3.Not(self._in(context)))
                    self._each_context(started)

    def _stretch(self, context: Context, started: frozenset[int]) -> None:
        """Any number of steps that leave the context as it is."""
        rules = [rule for rule in self._problem.automaton.rules if settled(rule.guard, context) != Constant(False)]
        for _ in range(max(1, self._legs.phases)):
            leg = self._legs.stretch(rules, lambda guard, leg: truth(settled(guard, context), leg.before))
            self._legs.facts.append(self._in(context))
            for claim in self._lasting(started):
                self._legs.keep(leg, z3.BoolVal(True), claim, truth(settled(claim.unless, context), leg.before))
            self._last(started)

    def _come(self, moment: int) -> None:
        """The moment is now."""
        self._legs.facts += [truth(formula, self._legs.end) for formula in self._problem.shape.moments[moment].holds]
        self._last(frozenset({moment}))

    def _last(self, started: frozenset[int]) -> None:
        """What holds for good from these moments on holds now."""
        self._legs.facts += [lasts(claim, self._legs.end) for claim in self._lasting(started)]

    def _lasting(self, started: frozenset[int]) -> list[Lasting]:
        return [claim for place in sorted(started) for claim in self._problem.lasting[place]]

    def _in(self, context: Context) -> Any:
        """That the thresholds are now as the context says."""
        end = self._legs.end
        return all_of(
            [is_reached(each, end) if known else z3.Not(is_reached(each, end)) for each, known in context.items()]
        )

    def _each_context(self, started: frozenset[int]) -> None:
        """On in each context in which the run can be now."""
        with self._deeper():
            while (answer := self._ask()).status == "sat":
                end = self._legs.end
                context = {each: bool(answer.value(is_reached(each, end))) for each in self._problem.thresholds}
                here = self._in(context)
                with self._deeper():
                    self._legs.facts.append(here)
                    self._visit(context, started)
                self._legs.facts.append(z3.Not(here))

    def _end(self) -> None:
        """The run ends here, if it can; then one is looked for that has fewer processes or smaller parameters."""
        with self._deeper():
            self._legs.close()
            answer = self._ask()
            if answer.status == "unsat":
                return
            answer = smallest(self._legs, self._solver, answer, 0)
            found = realised(self._legs, answer)
            if isinstance(found, TooLong):
                raise _GaveUp(str(found), ())
            if not isinstance(found, Found):
                self.without_order = True
                return
            self.best = found
            self._limits = [self._fewer_than(found)]

    def _fewer_than(self, found: Found) -> Any:
        return self._legs.processes < sum(found.start[place.name] for place in self._problem.automaton.locations)

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
        """What is added inside is forgotten afterwards."""
        self._tell()
        self._solver.push()
        facts, legs = len(self._legs.facts), len(self._legs.legs)
        yield
        del self._legs.facts[facts:], self._legs.legs[legs:]
        self._legs.loop = None
        self._told = facts
        self._solver.pop()
