"""Runs of every length, for all parameters, as one formula.

When thresholds are reached within a stretch is open, unless they are *tracked*.  A guard is therefore taken to be true
if it can be, at the best time for each of its thresholds: the formula has all runs, and perhaps others.  Tracked
thresholds are reached at the end of a stretch, so a rule that needs one is taken in a later stretch; if it matters
whether one is not yet reached, it is reached by a single step between two stretches.  With all thresholds tracked,
every rule of a stretch can be taken at any time of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import z3

from fdverify.threshold.claims.thresholds import REACHED, Threshold
from fdverify.threshold.formula import Comparison, Formula
from fdverify.threshold.runs.legs import Leg, Legs, lasts
from fdverify.threshold.runs.problem import Problem
from fdverify.threshold.runs.terms import Values, is_reached, truth, truth_by


class Runs(Legs):
    """All runs of a problem, in as many stretches as tracked thresholds and moments can require."""

    def __init__(self, problem: Problem, tracked: Sequence[Threshold], phases: int) -> None:
        super().__init__(problem, phases)
        self.tracked = tracked
        later = len(problem.shape.moments) - 1
        # After the last moment the run need not go on, unless something is said of its end.
        goes_on = bool(problem.shape.at_last or problem.shape.again)
        if later or goes_on:
            self._lay_out(len(tracked) + later + goes_on)
        self._place_moments()
        self.close()

    def _lay_out(self, number: int) -> None:
        falling = [each for each in self.tracked if self.problem.thresholds[each] != {REACHED}]
        for at in range(number):
            if at > 0 and falling:
                self.step()
            for _ in range(max(1, self.phases)):
                leg = self.stretch(self.problem.automaton.rules, self._possible)
                for threshold in falling:
                    self.facts.append(is_reached(threshold, leg.before) == is_reached(threshold, leg.after))

    def _possible(self, guard: Formula, leg: Leg) -> Any:
        """Whether a guard may be true at some time of a stretch."""

        def best(comparison: Comparison) -> Values:
            threshold = Threshold(comparison.left, comparison.right)
            rises = comparison.operator == REACHED and threshold not in self.tracked
            return leg.after if rises else leg.before

        return truth_by(guard, best)

    def _place_moments(self) -> None:
        """Each moment is at one of the configurations."""
        shape = self.problem.shape
        configurations = [self.start, *(leg.after for leg in self.legs)]
        over = [[z3.BoolVal(True)] * len(configurations)]  # of each moment, whether it is not after each of these
        for place, moment in enumerate(shape.moments[1:], start=1):
            here = [z3.Bool(f"moment {place}@{at}") for at in range(len(configurations))]
            self.facts += [z3.Implies(now, then) for now, then in pairwise(here)]
            self.facts += [z3.Implies(now, then) for now, then in zip(here, over[moment.after or 0], strict=True)]
            self.facts.append(here[-1])
            over.append(here)
        for moment, here, claims in zip(shape.moments, over, self.problem.lasting, strict=True):
            before = z3.BoolVal(False)
            for now, values in zip(here, configurations, strict=True):
                comes = z3.And(now, z3.Not(before))
                self.facts += [z3.Implies(comes, truth(formula, values)) for formula in moment.holds]
                self.facts += [z3.Implies(now, lasts(claim, values)) for claim in claims]
                before = now
            for leg, now in zip(self.legs, here, strict=False):
                if not leg.single:  # of a single step, both ends say it all
                    for claim in claims:
                        self.keep(leg, now, claim, self._possible(claim.unless, leg))
