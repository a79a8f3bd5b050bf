"""The comparison of all functions of a system along one round, phase after phase."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import z3

from fdverify.author_code.author_functions import DETECTOR_PARTS, AuthorCall
from fdverify.author_code.comparison_site import ComparisonSite, SymbolicState
from fdverify.author_code.function_comparison import FunctionComparison
from fdverify.author_code.literals import collect_literals
from fdverify.author_code.ownership import is_package_function
from fdverify.author_code.parameter_comparison import compare_assumptions, compare_initial_values
from fdverify.author_code.sample_batch import Column, SampleBatch
from fdverify.author_code.state_sampling import (
    ColumnSampler,
    add_choices,
    build_initial_batch,
    choose_instances,
    sample_states,
)
from fdverify.author_code.term_evaluator import RecordingBook
from fdverify.engines.batch import build_truth_column
from fdverify.models.buffer import Buffer
from fdverify.models.system import Ages, Labels, Phase, State, System
from fdverify.symbolic.age_claims import SymbolicBuffer
from fdverify.symbolic.unrolling import Unrolling
from fdverify.symbolic.values import Int, Value

_STATES = 300
"""The number of states in which functions are compared, over all instances."""
_ROUNDS = (3, 2, 1)
"""For each instance, the number of rounds within which reachable states are looked for."""
_WITH_CHOICES = 384
_PLAIN_CALLS = 480
"""The number of calls with plain values, over all functions."""
_FEWEST, _MOST = 24, 240


def compare_on_states(system: System, claims: Sequence[AuthorCall], everything: bool = False) -> None:
    """Refuse a function of the system, or a claim, whose meaning differs between engines.

    This package's own functions are left out, unless ``everything`` is true.
    """
    parameters = State(system.compute_parameters({name: Int(z3.Int(name)) for name in system.list_arbitrary()}))
    compare_assumptions(system, parameters)
    systems = choose_instances(system)
    if not systems:
        return  # there is no state at all, which is reported elsewhere
    compare_initial_values(system, systems, parameters)
    SystemComparison(system, systems, claims, everything).run()


class SystemComparison:
    """The comparison at a few instances of a system."""

    def __init__(
        self, system: System, systems: Sequence[System], claims: Sequence[AuthorCall], everything: bool = False
    ) -> None:
        self._system = system
        self._instances = systems
        self._everything = everything
        self._ranges = self._build_range_calls()
        self._claims = [
            *(each for each in claims if self._is_compared(each.author.function)),
            *self._build_system_calls(),
        ]
        self._random = ColumnSampler(0)
        phases = [phase for phase in system.phases if self._has_compared_functions(phase)]
        functions = 1 + len(self._claims) + len(self._ranges) + sum(2 + len(phase.choices) for phase in phases)
        largest = max(
            (each.compute_fixed_parameters()[bound] for each in systems for bound in system.list_age_bounds()),
            default=0,
        )
        self._plain = max(_FEWEST, min(_MOST, _PLAIN_CALLS // functions)) // (1 + largest // 16) + 1
        self._through_phases = bool(phases)

    def run(self) -> None:
        if not (self._claims or self._ranges or self._through_phases):
            return
        number = _STATES // len(self._instances)
        pairs = zip(self._instances, _ROUNDS, strict=False)
        literals = collect_literals(self._list_functions())
        sampled = [sample_states(each, number, rounds, literals, self._random) for each, rounds in pairs]
        anywhere, inside = self._build_symbols(anywhere=True), [in_range for in_range, _ in sampled]
        for groups in ([out_of_range for _, out_of_range in sampled], inside):
            self._check_all(anywhere, groups, self._ranges)
        self._check_all(anywhere, inside, self._claims, terms_again=False)
        if self._through_phases:
            self._check_round(anywhere, inside)
        start, initial = self._build_symbols(anywhere=False), [build_initial_batch(each) for each in self._instances]
        self._check_once(start, initial)
        if self._through_phases:
            self._check_round(start, initial)
        last = self._advance_symbols(anywhere)
        if last.has_constants():
            # Engines also evaluate claims in a state with known values in it.
            self._check_once(last, [_set_known_values(last, group) for group in inside])

    def _is_compared(self, function: Callable[..., Any]) -> bool:
        return self._everything or not is_package_function(function)

    def _list_functions(self) -> Iterator[Callable[..., Any]]:
        """Yield the functions that are compared."""
        yield from (each.author.function for each in (*self._claims, *self._ranges))
        for phase in self._system.phases:
            yield from (function for function in _list_phase_functions(phase) if self._is_compared(function))

    def _build_symbols(self, anywhere: bool) -> SymbolicState:
        book = RecordingBook()
        return SymbolicState(self._system, book, Unrolling(self._system, anywhere, book).states[0])

    def _build_range_calls(self) -> list[AuthorCall]:
        return [
            AuthorCall.from_state_function(role, variable.name, function)
            for variable in self._system.variables
            for role, function in (("the range of", variable.range), ("the cap of", variable.cap))
            if function is not None and self._is_compared(function)
        ]

    def _build_system_calls(self) -> list[AuthorCall]:
        """Build calls of the system's functions of the state, beside its phases."""
        system, detector = self._system, self._system.detector
        calls = [
            AuthorCall.from_state_function("fairness condition", fair.name, fair.holds) for fair in system.fairness
        ]
        if detector is not None:
            parts = DETECTOR_PARTS[:-1]
            calls += [AuthorCall.from_state_function("the detector's", part, getattr(detector, part)) for part in parts]
        return [each for each in calls if self._is_compared(each.author.function)]

    def _has_compared_functions(self, phase: Phase) -> bool:
        return any(self._is_compared(function) for function in _list_phase_functions(phase))

    def _check_all(
        self,
        symbols: SymbolicState,
        groups: Sequence[SampleBatch],
        functions: Sequence[AuthorCall],
        terms_again: bool = True,
    ) -> None:
        site = ComparisonSite(symbols, groups, self._plain)
        for function in functions if site.size > 0 else ():
            FunctionComparison(site, function).check(terms_again)

    def _check_once(self, symbols: SymbolicState, groups: Sequence[SampleBatch]) -> None:
        site = ComparisonSite(symbols, groups, _FEWEST)
        for function in self._claims:
            FunctionComparison(site, function).check_plain_once()

    def _check_round(self, symbols: SymbolicState, groups: Sequence[SampleBatch]) -> None:
        """Compare phase after phase, each in the states that the one before leads to."""
        for phase in self._system.phases:
            groups = [group for group in groups if group.size > 0]
            if not groups:
                return
            symbols, groups = self._check_phase(phase, symbols, groups)

    def _check_phase(
        self, phase: Phase, symbols: SymbolicState, groups: Sequence[SampleBatch]
    ) -> tuple[SymbolicState, list[SampleBatch]]:
        conditions = [
            AuthorCall.from_state_function(role, choice.name, function)
            for choice in phase.choices
            for role, function in choice.list_functions()
        ]
        self._check_all(symbols, groups, [each for each in conditions if self._is_compared(each.author.function)])
        most = _WITH_CHOICES // len(groups)
        chosen = [add_choices(group, phase, most, self._random) for group in groups]
        choosing = symbols.with_choices(phase.choices)
        site = ComparisonSite(choosing, chosen, self._plain)
        after, _ = self._system.run_phase(phase, choosing.state, choosing.choice_symbols.values())
        agreement = FunctionComparison(site, AuthorCall.from_phase(phase))
        arrays = agreement.check() if self._is_compared(phase.run) else agreement.evaluate_arrays()
        detector = self._system.detector
        if detector is not None and phase.name == detector.receive and self._is_compared(detector.hears):
            FunctionComparison(
                site, AuthorCall.from_choices_function("the detector's", "hears", detector.hears)
            ).check()
        ends = [self._advance_states(group, result) for group, result in zip(site.groups, arrays, strict=True)]
        return symbols.rename_state(after), ends

    def _advance_states(self, group: SampleBatch, result: Any) -> SampleBatch:
        """Compute the states after a phase, where its choices are allowed."""
        if not isinstance(result, dict):
            return group.take(np.array([], dtype=np.int64))
        allowed = build_truth_column(result["assume"], group.size)
        columns: dict[str, Column] = {}
        for variable in self._system.variables:
            name, column = variable.name, group.columns[variable.name]
            if isinstance(variable.sort, Ages):
                if f"{name}.has(0)" in result:
                    members = [result[f"{name}.has({age})"] for age in range(column.shape[1])]
                    columns[name] = np.stack([build_truth_column(member, group.size) for member in members], axis=1)
            elif name in result:
                columns[name] = np.broadcast_to(np.asarray(result[name]), (group.size,))
            if isinstance(variable.sort, Labels) and name in columns:
                allowed = allowed & np.isin(columns[name], [int(label) for label in variable.sort.names])
        places = np.flatnonzero(allowed)
        kept = places[self._random.choose_indexes(len(places), _STATES // len(self._instances))]
        return group.with_columns(columns).take(kept)

    def _advance_symbols(self, symbols: SymbolicState) -> SymbolicState:
        for phase in self._system.phases:
            choosing = symbols.with_choices(phase.choices)
            state, _ = self._system.run_phase(phase, choosing.state, choosing.choice_symbols.values())
            symbols = symbols.rename_state(state)
        return symbols


def _list_phase_functions(phase: Phase) -> list[Callable[..., Any]]:
    return [phase.run, *(function for choice in phase.choices for _, function in choice.list_functions())]


def _set_known_values(symbols: SymbolicState, group: SampleBatch) -> SampleBatch:
    """Set the values that are known after a round: whole variables, and single members of buffers."""
    columns: dict[str, Column] = {}
    for variable in symbols.system.variables:
        name, symbol = variable.name, symbols.state[variable.name]
        if isinstance(symbol, SymbolicBuffer):
            continue
        if isinstance(symbol, Buffer):
            columns[name] = members = group.columns[name].copy()
            for age in range(members.shape[1]):
                known = _find_constant(symbol.has(age))
                members[:, age] = members[:, age] if known is None else known
        elif _find_constant(symbol) is not None:
            columns[name] = np.full(group.size, _find_constant(symbol))
    return group.with_columns(columns)


def _find_constant(value: Any) -> Any:
    """Return the value that a number or truth value has in every state; ``None`` if it depends on the state."""
    if not isinstance(value, Value):
        return value
    term = z3.simplify(value.term)
    if z3.is_true(term) or z3.is_false(term):
        return z3.is_true(term)
    return term.as_long() if z3.is_int_value(term) or z3.is_bv_value(term) else None
