"""The sampling of states to compare on: reachable states, their neighbours, and random combinations of values."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdverify.author_code.sample_batch import Column, Columns, SampleBatch, extract_columns, join_batches
from fdverify.engines.batch import BatchInterpreter, build_truth_column
from fdverify.engines.instances import (
    find_smallest_instance,
    list_admissible_instances,
    list_small_instances,
)
from fdverify.engines.packing import Rows
from fdverify.logic import And
from fdverify.models.system import Ages, Amount, Choice, Flag, Flags, Labels, Phase, Subset, System, Variable
from fdverify.runs.concrete_interpreter import build_initial_state
from fdverify.runs.layout import Layout

_MOST_INSTANCES = 3
_WIDEST_LEVEL = 24
_MOST_COMBINATIONS = 48
_MOST_NUMBERS = 16
_LARGEST = 1 << 15
_SMALL = (-1, 0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 40, 100)


class ColumnSampler:
    """A source of random columns with a fixed seed; numpy's own generators take longer to import than to draw from."""

    def __init__(self, seed: int) -> None:
        self._source = random.Random(seed)

    def _draw_words(self, count: int) -> NDArray[np.uint64]:
        return np.frombuffer(self._source.randbytes(8 * count), dtype=np.uint64)

    def draw_numbers(self, below: int, count: int) -> NDArray[np.int64]:
        """Draw ``count`` numbers from 0 up to, but not including, ``below``."""
        return (self._draw_words(count) % np.uint64(below)).astype(np.int64)

    def draw_values(self, values: NDArray[Any], count: int) -> NDArray[Any]:
        """Draw ``count`` of the values, with repetition."""
        return values[self.draw_numbers(len(values), count)]

    def draw_truths(self, rows: int, columns: int) -> NDArray[np.bool_]:
        return np.asarray(self.draw_numbers(2, rows * columns) == 1).reshape(rows, columns)

    def shuffle_indexes(self, count: int) -> NDArray[np.int64]:
        """Return the numbers below ``count`` in random order."""
        return np.argsort(self._draw_words(count), kind="stable")

    def choose_indexes(self, count: int, most: int) -> NDArray[np.int64]:
        """Choose at most ``most`` of the numbers below ``count``, in increasing order."""
        return np.arange(count) if count <= most else np.sort(self.shuffle_indexes(count)[:most])


def choose_instances(system: System) -> list[System]:
    """Choose a few small instances, if possible different in all parameters; the system itself if all are fixed."""
    arbitrary = [parameter for parameter in system.parameters if parameter.value is None]
    if not arbitrary:
        return [system]
    most = max(len(parameter.list_small_values()) for parameter in arbitrary)
    diagonal = [{p.name: p.list_small_values()[k % len(p.list_small_values())] for p in arbitrary} for k in range(most)]
    chosen = list_admissible_instances(system, diagonal)[:_MOST_INSTANCES]
    if len(chosen) < _MOST_INSTANCES:
        seen = [each.compute_parameters() for each in chosen]
        for each in list_small_instances(system):
            if len(chosen) < _MOST_INSTANCES and each.compute_parameters() not in seen:
                chosen.append(each)
    if chosen:
        return chosen
    smallest = find_smallest_instance(system)
    return [] if smallest is None else [smallest]


def sample_states(
    system: System, number: int, rounds: int, literals: Iterable[int], random: ColumnSampler
) -> tuple[SampleBatch, SampleBatch]:
    """Sample about ``number`` states of a system with fixed parameters that are in their ranges, and some that are not.

    Some are reachable within ``rounds`` rounds; in the others, numbers are often near the literals.
    """
    reached = _sample_reachable(system, number // 2, rounds, random)
    drawn = _draw_states(system, reached, _collect_numbers(reached, literals), 4 * number, random)
    in_range = _test_ranges(drawn)
    kept = np.flatnonzero(in_range)[: number - reached.size // 2]
    return join_batches([reached, drawn.take(kept)]), drawn.take(np.flatnonzero(~in_range)[: number // 8])


def build_initial_batch(system: System) -> SampleBatch:
    values = system.compute_fixed_parameters()
    batches = BatchInterpreter(Layout(system, values, system.variables), np.int64)
    return _build_batch(system, batches, batches.build_rows(build_initial_state(system)))


def _build_batch(system: System, batches: BatchInterpreter, rows: Rows) -> SampleBatch:
    size = len(rows[0])
    columns = extract_columns(system, batches.restore_state(rows), size)
    return SampleBatch(system, system.compute_fixed_parameters(), columns, np.ones(size, dtype=bool), {})


def _sample_reachable(system: System, number: int, rounds: int, random: ColumnSampler) -> SampleBatch:
    """Sample reachable states, breadth first; a level that grows too wide is thinned out."""
    layout = Layout(system, system.compute_fixed_parameters(), system.variables)
    batches = BatchInterpreter(layout, np.int64, _MOST_NUMBERS)
    rows = batches.build_rows(build_initial_state(system))
    levels = [rows]
    try:
        for _ in range(rounds):
            for phase in system.phases:
                rows = _thin_out(batches.expand(phase, rows).rows, random)
            if len(rows[0]) == 0 or batches.find_largest_integer(rows) > _LARGEST:
                break
            levels.append(rows)
    except Exception:  # the comparison will report whatever an author's function raises on arrays
        pass
    all_rows = [np.concatenate(columns) for columns in zip(*levels, strict=True)]
    points = _build_batch(system, batches, all_rows)
    return points.take(random.choose_indexes(points.size, number))


def _thin_out(rows: Rows, random: ColumnSampler) -> Rows:
    kept = random.choose_indexes(len(rows[0]), _WIDEST_LEVEL)
    return [column[kept] for column in rows]


def _draw_states(
    system: System, reached: SampleBatch, numbers: Column, number: int, random: ColumnSampler
) -> SampleBatch:
    """Draw random states and neighbours of reachable states; the former have all combinations of flags and labels."""
    fresh = number // 2
    columns: dict[str, Column] = {}
    combinations = _draw_combinations(system, fresh, random)
    for variable in system.variables:
        if variable.name in combinations:
            columns[variable.name] = combinations[variable.name]
        elif isinstance(variable.sort, Ages):
            columns[variable.name] = _draw_buffers(reached.values[variable.sort.bound] + 1, fresh, random)
        else:
            columns[variable.name] = random.draw_values(numbers, fresh)
    values, unreachable = reached.values, np.zeros(fresh, dtype=bool)
    independent = SampleBatch(system, values, columns, unreachable, {})
    near = reached.take(random.draw_numbers(reached.size, number - fresh))
    changed = random.draw_numbers(len(system.variables), near.size)
    moved = {
        variable.name: _mix_columns(near.columns[variable.name], columns[variable.name], changed == place, random)
        for place, variable in enumerate(system.variables)
    }
    neighbours = SampleBatch(system, values, moved, np.zeros(near.size, dtype=bool), {})
    mixture = random.shuffle_indexes(number)
    return join_batches([independent, neighbours]).take(mixture)


def _mix_columns(old: Column, other: Column, where: Column, random: ColumnSampler) -> Column:
    drawn = random.draw_values(other, len(old))
    return np.where(where[:, None] if old.ndim == 2 else where, drawn, old)


def _draw_combinations(system: System, number: int, random: ColumnSampler) -> Columns:
    """Draw the flags and labels of ``number`` states; if there are few combinations, take each in turn."""
    finite = [(v.name, _list_values(v)) for v in system.variables if isinstance(v.sort, Flags | Labels)]
    total = int(np.prod([float(len(names)) for _, names in finite])) if finite else 1
    if total > number:
        return {name: random.draw_values(np.array(names), number) for name, names in finite}
    every = list(product(*(names for _, names in finite)))
    return {name: np.array([every[k % total][place] for k in range(number)]) for place, (name, _) in enumerate(finite)}


def _list_values(variable: Variable) -> list[Any]:
    match variable.sort:
        case Labels(names):
            return [int(name) for name in names]
        case _:
            return [False, True]


def _collect_numbers(reached: SampleBatch, literals: Iterable[int]) -> Column:
    """Collect numbers that claims may compare with: small ones, literals, parameters, values that were met."""
    numbers = {*_SMALL}
    for literal in literals:
        numbers |= {literal - 1, literal, literal + 1}
    for value in reached.values.values():
        numbers |= {factor * value + offset for factor in (1, 2, 3) for offset in (-1, 0, 1)}
    for column in reached.columns.values():
        if column.ndim == 1 and column.dtype != bool:
            numbers |= set(column.tolist()[:24])
    largest = max(_LARGEST, *reached.values.values(), 0)
    return np.array(sorted(number for number in numbers if abs(number) <= largest))


def _draw_buffers(ages: int, number: int, random: ColumnSampler) -> Column:
    """Draw buffers: empty ones, full ones, single messages and random ones."""
    members = random.draw_truths(number, ages)
    kind = np.arange(number) % 5
    members[kind == 0] = False
    members[kind == 1] = True
    single = random.draw_numbers(ages, number)
    members[kind == 2] = (np.arange(ages) == single[:, None])[kind == 2]
    return members


def _test_ranges(points: SampleBatch) -> Column:
    """Test in which states every variable is in its declared range, as far as arrays can tell."""
    state = points.array_state
    try:
        claims = [variable.is_in_range(state) for variable in points.system.variables if variable.has_range]
        return build_truth_column(And(*claims), points.size)
    except Exception:  # the comparison of the ranges will report it
        return np.ones(points.size, dtype=bool)


def add_choices(points: SampleBatch, phase: Phase, most: int, random: ColumnSampler) -> SampleBatch:
    """Combine the states with choices that are allowed in them, up to ``most`` combinations."""
    picked: list[Mapping[str, Any]] = [
        dict(zip(_list_choice_names(phase), each, strict=True)) for each in _enumerate_choices(phase)
    ]
    picked = [picked[k] for k in random.shuffle_indexes(len(picked))[:_MOST_COMBINATIONS]]
    index = np.repeat(np.arange(points.size), len(picked))
    way = np.tile(np.arange(len(picked)), points.size)
    kept = random.choose_indexes(len(index), most)
    index, way = index[kept], way[kept]
    before = points.take(index)
    choices = {
        c.name: _build_choice_column(before, c, [each[c.name] for each in picked], way, random) for c in phase.choices
    }
    return before.with_choices(choices)


def _list_choice_names(phase: Phase) -> list[str]:
    return [choice.name for choice in phase.choices]


def _enumerate_choices(phase: Phase) -> Iterator[tuple[Any, ...]]:
    return product(*(_list_ways(choice) for choice in phase.choices))


def _list_ways(choice: Choice) -> tuple[Any, ...]:
    match choice:
        case Flag():
            return (False, True)
        case Subset():
            return ("none", "all", "some", "other")
        case Amount():
            return ("least", "greatest", "some")


def _build_choice_column(
    before: SampleBatch, choice: Choice, ways: list[Any], way: Column, random: ColumnSampler
) -> Column:
    if isinstance(choice, Amount):
        return _build_number_column(before, choice, np.array(ways)[way], random)
    when = build_truth_column(choice.when(before.array_state), before.size)
    if isinstance(choice, Flag):
        return np.asarray(np.array(ways, dtype=bool)[way] & when)
    buffer = before.columns[choice.of]
    wanted = np.array(ways)[way][:, None]
    selected = (wanted == "all") | (((wanted == "some") | (wanted == "other")) & random.draw_truths(*buffer.shape))
    return np.asarray(buffer & selected & when[:, None])


def _build_number_column(before: SampleBatch, choice: Amount, wanted: Column, random: ColumnSampler) -> Column:
    """Choose numbers within their ranges; where a range is empty, its lower end."""
    low, high = (
        np.broadcast_to(np.asarray(bound(before.array_state)), (before.size,)) for bound in (choice.low, choice.high)
    )
    further = np.maximum(high - low, 0)
    some = random.draw_numbers(_LARGEST, before.size) % (further + 1)
    return np.asarray(low + np.where(wanted == "least", 0, np.where(wanted == "greatest", further, some)))
