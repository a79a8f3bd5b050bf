"""Encoding of all runs, of every length and for all parameters, as one formula.

The formula leaves open when a threshold is reached within a stretch, unless the threshold is *tracked*.  Each untracked
threshold of a guard is evaluated at the start or the end of the stretch, whichever favours the guard, so the formula
over-approximates the runs.  A rule that needs a tracked threshold can be taken only in a stretch at whose start the
threshold is reached.  If a guard or a claim also needs a tracked threshold not to be reached, the threshold is constant
throughout each stretch and is reached by a single step between two stretches.  With all thresholds tracked, every rule
of a stretch can be taken at any time within it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import z3

from fdverify.threshold.claims.thresholds import REACHED, Threshold
from fdverify.threshold.ltl_formula import Formula, LinearComparison
from fdverify.threshold.runs.run_problem import RunProblem
from fdverify.threshold.runs.segments import Segment, SymbolicRun, encode_lasting
from fdverify.threshold.runs.z3_terms import Values, encode_formula, encode_formula_by, encode_reached


class RunEncoding(SymbolicRun):
    """All runs of a problem, with as many stretches as the tracked thresholds and the moments can require."""

    def __init__(self, problem: RunProblem, tracked: Sequence[Threshold], phases: int) -> None:
        super().__init__(problem, phases)
        self.tracked = tracked
        later = len(problem.shape.moments) - 1
        # After the last moment the run need not go on, unless the shape has prefix-independent claims.
        goes_on = bool(problem.shape.eventually_always or problem.shape.infinitely_often)
        if later or goes_on:
            self._append_segments(len(tracked) + later + goes_on)
        self._place_moments()
        self.close()

    def _append_segments(self, number: int) -> None:
        falling = [threshold for threshold in self.tracked if self.problem.thresholds[threshold] != {REACHED}]
        for index in range(number):
            if index > 0 and falling:
                self.append_step()
            for _ in range(max(1, self.phases)):
                segment = self.append_stretch(self.problem.automaton.rules, self._encode_possible)
                for threshold in falling:
                    self.facts.append(
                        encode_reached(threshold, segment.before) == encode_reached(threshold, segment.after)
                    )

    def _encode_possible(self, guard: Formula, segment: Segment) -> Any:
        """Encode that a guard may be true at some time of a stretch."""

        def choose_values(comparison: LinearComparison) -> Values:
            threshold = Threshold(comparison.left, comparison.right)
            rises = comparison.operator == REACHED and threshold not in self.tracked
            return segment.after if rises else segment.before

        return encode_formula_by(guard, choose_values)

    def _place_moments(self) -> None:
        """Encode that each moment is at one of the configurations between segments, and what holds there."""
        shape = self.problem.shape
        configurations = [self.start, *(segment.after for segment in self.segments)]
        started = [[z3.BoolVal(True)] * len(configurations)]  # for each moment, whether it has come by then
        for number, moment in enumerate(shape.moments[1:], start=1):
            flags = [z3.Bool(f"moment {number}@{index}") for index in range(len(configurations))]
            self.facts += [z3.Implies(now, then) for now, then in pairwise(flags)]
            self.facts += [z3.Implies(now, then) for now, then in zip(flags, started[moment.after or 0], strict=True)]
            self.facts.append(flags[-1])
            started.append(flags)
        for moment, flags, claims in zip(shape.moments, started, self.problem.lasting_claims, strict=True):
            before = z3.BoolVal(False)
            for now, values in zip(flags, configurations, strict=True):
                comes = z3.And(now, z3.Not(before))
                self.facts += [z3.Implies(comes, encode_formula(formula, values)) for formula in moment.holds]
                self.facts += [z3.Implies(now, encode_lasting(claim, values)) for claim in claims]
                before = now
            for segment, now in zip(self.segments, flags, strict=False):
                if not segment.single:  # a single step has no configurations but its two ends
                    for claim in claims:
                        self.require_lasting(segment, now, claim, self._encode_possible(claim.unless, segment))
