"""The comparison of all functions of a system along one round, phase after phase."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import z3

from fdverify.author_code.agreement import Agreement
from fdverify.author_code.called import Called
from fdverify.author_code.draws import Draws
from fdverify.author_code.functions import DETECTOR_PARTS
from fdverify.author_code.literals import literals_in
from fdverify.author_code.ownership import is_own
from fdverify.author_code.parameters import check_assumptions, check_initial_values
from fdverify.author_code.points import Column, Points
from fdverify.author_code.recording import RecordingBook
from fdverify.author_code.samples import initial_points, instances, sampled_states, with_choices
from fdverify.author_code.site import Site, Symbols
from fdverify.engines.batch import truths
from fdverify.models.buffer import Buffer
from fdverify.models.system import Ages, Labels, Phase, State, System
from fdverify.symbolic.ages import ClaimedBuffer
from fdverify.symbolic.unroll import Unrolling
from fdverify.symbolic.values import Int, Value

_STATES = 300
"""The number of states in which functions are compared, over all instances."""
_ROUNDS = (3, 2, 1)
"""For each instance, the number of rounds within which reachable states are looked for."""
_WITH_CHOICES = 384
_PLAIN_CALLS = 480
"""The number of calls with plain values, over all functions."""
_FEWEST, _MOST = 24, 240


def compare_on_states(system: System, claims: Sequence[Called], everything: bool = False) -> None:
    """Refuse a function of the system, or a claim, whose meaning differs between engines.

    This package's own functions are left out, unless ``everything`` is true.
    """
    parameters = State(system.parameter_values({name: Int(z3.Int(name)) for name in system.arbitrary()}))
    check_assumptions(system, parameters)
    systems = instances(system)
    if not systems:
        return  # there is no state at all, which is reported elsewhere
    check_initial_values(system, systems, parameters)
    Comparison(system, systems, claims, everything).run()


class Comparison:
    """The comparison at a few instances of a system."""

    def __init__(
        self, system: System, systems: Sequence[System], claims: Sequence[Called], everything: bool = False
    ) -> None:
        self._system = system
        self._instances = systems
        self._everything = everything
        self._ranges = self._of_ranges()
        self._claims = [*(each for each in claims if self._wanted(each.author.function)), *self._of_system()]
        self._random = Draws(0)
        phases = [phase for phase in system.phases if self._concerns(phase)]
        functions = 1 + len(self._claims) + len(self._ranges) + sum(2 + len(phase.choices) for phase in phases)
        largest = max((each.fixed_values()[bound] for each in systems for bound in system.age_bounds()), default=0)
        self._plain = max(_FEWEST, min(_MOST, _PLAIN_CALLS // functions)) // (1 + largest // 16) + 1
        self._through_phases = bool(phases)

    def run(self) -> None:
        if not (self._claims or self._ranges or self._through_phases):
            return
        number = _STATES // len(self._instances)
        pairs = zip(self._instances, _ROUNDS, strict=False)
        literals = literals_in(self._functions())
        sampled = [sampled_states(each, number, rounds, literals, self._random) for each, rounds in pairs]
        anywhere, inside = self._symbols(anywhere=True), [in_range for in_range, _ in sampled]
        for groups in ([out_of_range for _, out_of_range in sampled], inside):
            self._check_all(anywhere, groups, self._ranges)
        self._check_all(anywhere, inside, self._claims, terms_again=False)
        if self._through_phases:
            self._check_round(anywhere, inside)
        start, initial = self._symbols(anywhere=False), [initial_points(each) for each in self._instances]
        self._check_once(start, initial)
        if self._through_phases:
            self._check_round(start, initial)
        last = self._after_round(anywhere)
        if last.has_constants():
            # Engines also evaluate claims in a state with known values in it.
            self._check_once(last, [_with_known(last, group) for group in inside])

    def _wanted(self, function: Callable[..., Any]) -> bool:
        return self._everything or not is_own(function)

    def _functions(self) -> Iterator[Callable[..., Any]]:
        """Yield the functions that are compared."""
        yield from (each.author.function for each in (*self._claims, *self._ranges))
        for phase in self._system.phases:
            yield from (function for function in _functions_of(phase) if self._wanted(function))

    def _symbols(self, anywhere: bool) -> Symbols:
        book = RecordingBook()
        return Symbols(self._system, book, Unrolling(self._system, anywhere, book).states[0])

    def _of_ranges(self) -> list[Called]:
        return [
            Called.of_state(role, variable.name, function)
            for variable in self._system.variables
            for role, function in (("the range of", variable.range), ("the cap of", variable.cap))
            if function is not None and self._wanted(function)
        ]

    def _of_system(self) -> list[Called]:
        """Build calls of the system's functions of the state, beside its phases."""
        system, detector = self._system, self._system.detector
        calls = [Called.of_state("fairness condition", fair.name, fair.holds) for fair in system.fairness]
        if detector is not None:
            parts = DETECTOR_PARTS[:-1]
            calls += [Called.of_state("the detector's", part, getattr(detector, part)) for part in parts]
        return [each for each in calls if self._wanted(each.author.function)]

    def _concerns(self, phase: Phase) -> bool:
        return any(self._wanted(function) for function in _functions_of(phase))

    def _check_all(
        self, symbols: Symbols, groups: Sequence[Points], functions: Sequence[Called], terms_again: bool = True
    ) -> None:
        site = Site(symbols, groups, self._plain)
        for function in functions if site.size > 0 else ():
            Agreement(site, function).check(terms_again)

    def _check_once(self, symbols: Symbols, groups: Sequence[Points]) -> None:
        site = Site(symbols, groups, _FEWEST)
        for function in self._claims:
            Agreement(site, function).check_once()

    def _check_round(self, symbols: Symbols, groups: Sequence[Points]) -> None:
        """Compare phase after phase, each in the states that the one before leads to."""
        for phase in self._system.phases:
            groups = [group for group in groups if group.size > 0]
            if not groups:
                return
            symbols, groups = self._check_phase(phase, symbols, groups)

    def _check_phase(self, phase: Phase, symbols: Symbols, groups: Sequence[Points]) -> tuple[Symbols, list[Points]]:
        conditions = [Called.of_state("the condition of", choice.name, choice.when) for choice in phase.choices]
        self._check_all(symbols, groups, [each for each in conditions if self._wanted(each.author.function)])
        most = _WITH_CHOICES // len(groups)
        chosen = [with_choices(group, phase, most, self._random) for group in groups]
        choosing = symbols.choosing(phase.choices)
        site = Site(choosing, chosen, self._plain)
        after, _ = self._system.run_phase(phase, choosing.state, choosing.made.values())
        agreement = Agreement(site, Called.of_phase(phase))
        arrays = agreement.check() if self._wanted(phase.run) else agreement.of_arrays()
        detector = self._system.detector
        if detector is not None and phase.name == detector.receive and self._wanted(detector.hears):
            Agreement(site, Called.of_choices("the detector's", "hears", detector.hears)).check()
        ends = [self._after(group, result) for group, result in zip(site.groups, arrays, strict=True)]
        return symbols.named_anew(after), ends

    def _after(self, group: Points, result: Any) -> Points:
        """Compute the states after a phase, where its choices are allowed."""
        if not isinstance(result, dict):
            return group.take(np.array([], dtype=np.int64))
        allowed = truths(result["assume"], group.size)
        columns: dict[str, Column] = {}
        for variable in self._system.variables:
            name, column = variable.name, group.columns[variable.name]
            if isinstance(variable.sort, Ages):
                if f"{name}.has(0)" in result:
                    members = [result[f"{name}.has({age})"] for age in range(column.shape[1])]
                    columns[name] = np.stack([truths(member, group.size) for member in members], axis=1)
            elif name in result:
                columns[name] = np.broadcast_to(np.asarray(result[name]), (group.size,))
            if isinstance(variable.sort, Labels) and name in columns:
                allowed = allowed & np.isin(columns[name], [int(label) for label in variable.sort.names])
        places = np.flatnonzero(allowed)
        kept = places[self._random.some(len(places), _STATES // len(self._instances))]
        return group.with_columns(columns).take(kept)

    def _after_round(self, symbols: Symbols) -> Symbols:
        for phase in self._system.phases:
            choosing = symbols.choosing(phase.choices)
            state, _ = self._system.run_phase(phase, choosing.state, choosing.made.values())
            symbols = symbols.named_anew(state)
        return symbols


def _functions_of(phase: Phase) -> list[Callable[..., Any]]:
    return [phase.run, *(choice.when for choice in phase.choices)]


def _with_known(symbols: Symbols, group: Points) -> Points:
    """Set the values that are known after a round: whole variables, and single members of buffers."""
    columns: dict[str, Column] = {}
    for variable in symbols.system.variables:
        name, symbol = variable.name, symbols.state[variable.name]
        if isinstance(symbol, ClaimedBuffer):
            continue
        if isinstance(symbol, Buffer):
            columns[name] = members = group.columns[name].copy()
            for age in range(members.shape[1]):
                known = _known(symbol.has(age))
                members[:, age] = members[:, age] if known is None else known
        elif _known(symbol) is not None:
            columns[name] = np.full(group.size, _known(symbol))
    return group.with_columns(columns)


def _known(value: Any) -> Any:
    """Return the value that a number or truth value has in every state; ``None`` if it depends on the state."""
    if not isinstance(value, Value):
        return value
    term = z3.simplify(value.term)
    if z3.is_true(term) or z3.is_false(term):
        return z3.is_true(term)
    return term.as_long() if z3.is_int_value(term) or z3.is_bv_value(term) else None
