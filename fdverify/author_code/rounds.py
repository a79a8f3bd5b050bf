"""All functions of a system compared on the way through one round, phase after phase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fdverify.author_code.agreement import Agreement, Called
from fdverify.author_code.functions import DETECTOR_PARTS, author_function
from fdverify.author_code.parameters import check_assumptions, check_initial_values
from fdverify.author_code.points import Column, Points
from fdverify.author_code.recording import RecordingBook
from fdverify.author_code.samples import initial_points, instances, sampled_states, with_choices
from fdverify.author_code.site import Site, Symbols
from fdverify.engines.batch import truths
from fdverify.models.system import Ages, Labels, Phase, State, System
from fdverify.symbolic.unroll import Unrolling

_STATES = 320
"""In which functions are compared, of all instances together."""
_WITH_CHOICES = 384
_PLAIN_CALLS = 4800
"""Of all functions together, one state at a time."""
_FEWEST, _MOST = 40, 240


def compare_on_states(system: System, claims: Sequence[Called]) -> None:
    """Refuse a function of the system, or one of the claims, that means something else to one of the engines."""
    symbols = Unrolling(system, anywhere=True, book=RecordingBook())
    check_assumptions(system, State(symbols.parameters))
    found = instances(system)
    if not found:
        return  # there is no state at all, which is told elsewhere
    check_initial_values(system, found, State(symbols.parameters))
    Comparison(system, found, claims).run()


class Comparison:
    """The comparison at a few instances of a system."""

    def __init__(self, system: System, found: Sequence[System], claims: Sequence[Called]) -> None:
        self._system = system
        self._instances = found
        self._claims = claims
        self._random = np.random.default_rng(0)
        functions = len(claims) + sum(2 + len(phase.choices) for phase in system.phases)
        largest = max((each.fixed_values()[bound] for each in found for bound in system.age_bounds()), default=0)
        self._plain = max(_FEWEST, min(_MOST, _PLAIN_CALLS // functions)) // (1 + largest // 16) + 1

    def run(self) -> None:
        number = _STATES // len(self._instances)
        sampled = [sampled_states(each, number, self._random) for each in self._instances]
        anywhere = self._symbols(anywhere=True)
        self._check_ranges(anywhere, [outside for _, outside in sampled])
        inside = [within for within, _ in sampled]
        self._check_ranges(anywhere, inside)
        self._check_claims(anywhere, inside)
        last, ends = self._check_round(anywhere, inside)
        if last.has_constants():
            # Of a state with known values in it, engines ask claims too.
            self._check_claims(last, ends)
        start, initial = self._symbols(anywhere=False), [initial_points(each) for each in self._instances]
        self._check_claims(start, initial)
        self._check_round(start, initial)

    def _symbols(self, anywhere: bool) -> Symbols:
        book = RecordingBook()
        return Symbols(self._system, book, Unrolling(self._system, anywhere, book).states[0], 0)

    def _site(self, symbols: Symbols, groups: Sequence[Points]) -> Site:
        return Site(symbols, groups, self._plain)

    def _check_ranges(self, symbols: Symbols, groups: Sequence[Points]) -> None:
        site = self._site(symbols, groups)
        for variable in self._system.variables:
            for role, function in (("the range of", variable.range), ("the cap of", variable.cap)):
                if function is not None:
                    self._check(site, Called.of_state(role, variable.name, function))

    def _check_claims(self, symbols: Symbols, groups: Sequence[Points]) -> None:
        site = self._site(symbols, groups)
        detector = self._system.detector
        for claim in self._claims:
            self._check(site, claim)
        for fair in self._system.fairness:
            self._check(site, Called.of_state("fairness condition", fair.name, fair.holds))
        for part in DETECTOR_PARTS[:-1] if detector is not None else ():
            self._check(site, Called.of_state("the detector's", part, getattr(detector, part)))

    @staticmethod
    def _check(site: Site, called: Called) -> list[Mapping[str, Any]]:
        return Agreement(site, called).check() if site.size > 0 else []

    def _check_round(self, symbols: Symbols, groups: Sequence[Points]) -> tuple[Symbols, list[Points]]:
        """Compare phase after phase; the symbols and the states after the last one."""
        for phase in self._system.phases:
            groups = [group for group in groups if group.size > 0]
            if not groups:
                break
            symbols, groups = self._check_phase(phase, symbols, groups)
        return symbols, list(groups)

    def _check_phase(
        self, phase: Phase, symbols: Symbols, groups: Sequence[Points]
    ) -> tuple[Symbols, list[Points]]:
        before = self._site(symbols, groups)
        for choice in phase.choices:
            self._check(before, Called.of_state("the condition of", choice.name, choice.when))
        most = _WITH_CHOICES // len(groups)
        chosen = [with_choices(group, phase, most, self._random) for group in groups]
        choosing = symbols.choosing(phase.choices)
        site = self._site(choosing, chosen)
        after, _ = self._system.run_phase(phase, choosing.state, choosing.made.values())
        arrays = self._check(site, Called(author_function("phase", phase.name, phase.run), phase.run))
        detector = self._system.detector
        if detector is not None and phase.name == detector.receive:
            self._check(site, Called.of_choices("the detector's", "hears", detector.hears))
        ends = [self._after(group, found) for group, found in zip(site.groups, arrays, strict=True)]
        return symbols.named_anew(after), ends

    def _after(self, group: Points, found: Mapping[str, Any]) -> Points:
        """The states after a phase, where its choices were allowed."""
        allowed = truths(found["assume"], group.size)
        columns: dict[str, Column] = {}
        for variable in self._system.variables:
            name, column = variable.name, group.columns[variable.name]
            if isinstance(variable.sort, Ages):
                if f"{name}.has(0)" in found:
                    members = [found[f"{name}.has({age})"] for age in range(column.shape[1])]
                    columns[name] = np.stack([truths(member, group.size) for member in members], axis=1)
            elif name in found:
                columns[name] = np.broadcast_to(np.asarray(found[name]), (group.size,))
            if isinstance(variable.sort, Labels) and name in columns:
                allowed = allowed & np.isin(columns[name], [int(label) for label in variable.sort.names])
        kept = np.flatnonzero(allowed)
        most = _STATES // len(self._instances)
        if len(kept) > most:
            kept = np.sort(self._random.permutation(kept)[:most])
        return group.with_columns(columns).take(kept)
