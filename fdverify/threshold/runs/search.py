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
from fdverify.smt.solver import ArithmeticSolver, SolverAnswer
from fdverify.threshold.claims.lasting_claims import LastingClaim
from fdverify.threshold.claims.thresholds import Context, evaluate_in_context
from fdverify.threshold.ltl_formula import Constant
from fdverify.threshold.runs.concretise import ConcreteRun, RunTooLong, concretise_run, minimise_run
from fdverify.threshold.runs.run_problem import (
    TOO_MANY_PHASES,
    DriverCallbacks,
    DriverOutcome,
    RunProblem,
    exceeds_phase_limit,
    has_enough_phases,
)
from fdverify.threshold.runs.segments import SymbolicRun, encode_lasting
from fdverify.threshold.runs.z3_terms import conjoin_terms, encode_formula, encode_reached


def run_search(problem: RunProblem, watch: DriverCallbacks) -> DriverOutcome:
    outcome = run_bounded_search(problem, watch, inf)
    assert outcome is not None, "an unlimited search ends with an outcome"
    return outcome


def run_bounded_search(problem: RunProblem, watch: DriverCallbacks, most: float) -> DriverOutcome | None:
    """Return the outcome, or None if the search visits more than ``most`` nodes."""
    phases = 0
    best: ConcreteRun | None = None
    while True:
        attempt = _ContextSearch(problem, phases, watch, most, best)
        try:
            attempt.run()
        except _SearchGaveUp as gave_up:
            return DriverOutcome("unknown", gave_up.reason, facts=gave_up.facts)
        except _NodeLimitReached:
            return None
        best = attempt.best
        if attempt.has_unordered_run and phases:
            raise InternalError("the steps of a run in phases cannot be put into an order")
        # Divided into phases, an unordered run may have an order, and it may have fewer processes than the best run.
        if not attempt.has_unordered_run and (best is not None or not phases or has_enough_phases(problem, phases)):
            return DriverOutcome("none") if best is None else DriverOutcome("found", run=best)
        phases = phases * 2 or 1
        if exceeds_phase_limit(phases):
            return DriverOutcome("unknown", TOO_MANY_PHASES)


class _SearchGaveUp(Exception):
    """A solver could not decide the facts, or a second solver did not confirm the answer."""

    def __init__(self, reason: str, facts: Iterable[Any]) -> None:
        super().__init__(reason)
        self.reason = reason
        self.facts = tuple(facts)


class _NodeLimitReached(Exception):
    """The limit on the number of nodes was reached."""


class _ContextSearch:
    def __init__(
        self, problem: RunProblem, phases: int, watch: DriverCallbacks, most: float, best: ConcreteRun | None
    ) -> None:
        self.best = best
        self.has_unordered_run = False
        """Whether the steps of some run could not be put into an order."""
        self._problem = problem
        self._watch = watch
        self._run = SymbolicRun(problem, phases)
        self._solver = ArithmeticSolver()
        self._asserted = 0
        self._visited = 0
        self._node_limit = most
        self._limits = [] if best is None else [self._encode_fewer_processes(best)]
        """Constraints on a run that is better than the best one."""

    def run(self) -> None:
        self._begin_moment(0)
        self._visit_contexts(frozenset({0}))

    def _visit_node(self, context: Context, started: frozenset[int]) -> None:
        """Explore the runs that are now in this context and have passed these moments."""
        shape = self._problem.shape
        self._visited += 1
        self._watch.report(f"node {self._visited}, {sum(context.values())} of {len(context)} thresholds reached")
        if self._visited > self._node_limit:
            raise _NodeLimitReached
        with self._open_scope():
            self._append_stretches(context, started)
            if self._ask_solver().status == "unsat":
                return
            if len(started) == len(shape.moments):
                self._close_run()
                if not shape.eventually_always and not shape.infinitely_often:
                    return
            for number, moment in enumerate(shape.moments):
                if number not in started and (moment.after or 0) in started:
                    with self._open_scope():
                        self._begin_moment(number)
                        if self._ask_solver().status == "sat":
                            self._visit_node(context, started | {number})
            if not all(context.values()):
                with self._open_scope():
                    self._run.append_step()
                    self._require_lasting(started)
                    self._run.facts.append(z3.Not(self._encode_context(context)))
                    self._visit_contexts(started)

    def _append_stretches(self, context: Context, started: frozenset[int]) -> None:
        """Append stretches that do not change the context."""
        rules = [
            rule
            for rule in self._problem.automaton.rules
            if evaluate_in_context(rule.guard, context) != Constant(False)
        ]
        for _ in range(max(1, self._run.phases)):
            segment = self._run.append_stretch(
                rules, lambda guard, segment: encode_formula(evaluate_in_context(guard, context), segment.before)
            )
            self._run.facts.append(self._encode_context(context))
            for claim in self._list_lasting_claims(started):
                unless = encode_formula(evaluate_in_context(claim.unless, context), segment.before)
                self._run.require_lasting(segment, z3.BoolVal(True), claim, unless)
            self._require_lasting(started)

    def _begin_moment(self, moment: int) -> None:
        """Require the moment to be at the current configuration."""
        self._run.facts += [
            encode_formula(formula, self._run.end) for formula in self._problem.shape.moments[moment].holds
        ]
        self._require_lasting(frozenset({moment}))

    def _require_lasting(self, started: frozenset[int]) -> None:
        """Require the lasting claims of these moments to hold in the current configuration."""
        self._run.facts += [encode_lasting(claim, self._run.end) for claim in self._list_lasting_claims(started)]

    def _list_lasting_claims(self, started: frozenset[int]) -> list[LastingClaim]:
        return [claim for moment in sorted(started) for claim in self._problem.lasting_claims[moment]]

    def _encode_context(self, context: Context) -> Any:
        """Encode that the current configuration is in the context."""
        end = self._run.end
        return conjoin_terms(
            [
                encode_reached(threshold, end) if known else z3.Not(encode_reached(threshold, end))
                for threshold, known in context.items()
            ]
        )

    def _visit_contexts(self, started: frozenset[int]) -> None:
        """Visit each context in which the current configuration can be."""
        with self._open_scope():
            while (answer := self._ask_solver()).status == "sat":
                end = self._run.end
                context = {
                    threshold: bool(answer.get_value(encode_reached(threshold, end)))
                    for threshold in self._problem.thresholds
                }
                here = self._encode_context(context)
                with self._open_scope():
                    self._run.facts.append(here)
                    self._visit_node(context, started)
                self._run.facts.append(z3.Not(here))

    def _close_run(self) -> None:
        """Try to end the run here; if it can end, minimise and concretise it, and keep it as the best run."""
        with self._open_scope():
            self._run.close()
            answer = self._ask_solver()
            if answer.status == "unsat":
                return
            answer = minimise_run(self._run, self._solver, answer, 0)
            run = concretise_run(self._run, answer)
            if isinstance(run, RunTooLong):
                raise _SearchGaveUp(str(run), ())
            if not isinstance(run, ConcreteRun):
                self.has_unordered_run = True
                return
            self.best = run
            self._limits = [self._encode_fewer_processes(run)]

    def _encode_fewer_processes(self, run: ConcreteRun) -> Any:
        return self._run.processes < sum(run.start[location.name] for location in self._problem.automaton.locations)

    def _ask_solver(self) -> SolverAnswer:
        self._assert_new_facts()
        answer = self._solver.ask(*self._limits)
        facts = [*self._run.facts, *self._limits]
        if answer.status == "unknown":
            raise _SearchGaveUp(f"the solver gave up: {answer.reason}", facts)
        doubt = self._watch.confirm(facts, answer.status)
        if doubt is not None:
            raise _SearchGaveUp(doubt, facts)
        return answer

    def _assert_new_facts(self) -> None:
        self._solver.add(self._run.facts[self._asserted :])
        self._asserted = len(self._run.facts)

    @contextmanager
    def _open_scope(self) -> Iterator[None]:
        """Open a scope: facts and segments added inside are dropped at its end."""
        self._assert_new_facts()
        self._solver.push()
        facts, segments = len(self._run.facts), len(self._run.segments)
        yield
        del self._run.facts[facts:], self._run.segments[segments:]
        self._run.loop = None
        self._asserted = facts
        self._solver.pop()
