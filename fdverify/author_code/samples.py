"""The sampling of states to compare on: reachable states, their neighbours, and random combinations of values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

from fdverify.author_code.draws import Draws
from fdverify.author_code.points import Column, Columns, Points, columns_of_state, joined
from fdverify.engines.batch import Batches, truths
from fdverify.engines.parameters import admissible, small_instances, smallest_instance
from fdverify.engines.state_table import Rows
from fdverify.logic import And
from fdverify.models.interpret import initial_state
from fdverify.models.layout import Layout
from fdverify.models.system import Ages, Choice, Flag, Flags, Labels, Phase, System, Variable

_MOST_INSTANCES = 3
_WIDEST_LEVEL = 24
_MOST_COMBINATIONS = 48
_LARGEST = 1 << 15
_SMALL = (-1, 0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 40, 100)


def instances(system: System) -> list[System]:
    """Choose a few small instances, if possible different in all parameters; the system itself if all are fixed."""
    arbitrary = [parameter for parameter in system.parameters if parameter.value is None]
    if not arbitrary:
        return [system]
    most = max(len(parameter.small_values()) for parameter in arbitrary)
    diagonal = [{p.name: p.small_values()[k % len(p.small_values())] for p in arbitrary} for k in range(most)]
    chosen = admissible(system, diagonal)[:_MOST_INSTANCES]
    if len(chosen) < _MOST_INSTANCES:
        seen = [each.parameter_values() for each in chosen]
        for each in small_instances(system):
            if len(chosen) < _MOST_INSTANCES and each.parameter_values() not in seen:
                chosen.append(each)
    if chosen:
        return chosen
    smallest = smallest_instance(system)
    return [] if smallest is None else [smallest]


def sampled_states(
    system: System, number: int, rounds: int, literals: Iterable[int], random: Draws
) -> tuple[Points, Points]:
    """Sample about ``number`` states of a system with fixed parameters that are in their ranges, and some that are not.

    Some are reachable within ``rounds`` rounds; in the others, numbers are often near the literals.
    """
    reached = _reached(system, number // 2, rounds, random)
    drawn = _drawn(system, reached, _numbers(reached, literals), 4 * number, random)
    in_range = _in_range(drawn)
    kept = np.flatnonzero(in_range)[: number - reached.size // 2]
    return joined([reached, drawn.take(kept)]), drawn.take(np.flatnonzero(~in_range)[: number // 8])


def initial_points(system: System) -> Points:
    values = system.fixed_values()
    batches = Batches(Layout(system, values, system.variables), exact=False)
    return _points(system, batches, batches.rows(initial_state(system)))


def _points(system: System, batches: Batches, rows: Rows) -> Points:
    size = len(rows[0])
    columns = columns_of_state(system, batches.state(rows), size)
    return Points(system, system.fixed_values(), columns, np.ones(size, dtype=bool), {})


def _reached(system: System, number: int, rounds: int, random: Draws) -> Points:
    """Sample reachable states, breadth first; a level that grows too wide is thinned out."""
    batches = Batches(Layout(system, system.fixed_values(), system.variables), exact=False)
    rows = batches.rows(initial_state(system))
    levels = [rows]
    try:
        for _ in range(rounds):
            for phase in system.phases:
                rows = _thinned(batches.expand(phase, rows).rows, random)
            if len(rows[0]) == 0 or batches.largest(rows) > _LARGEST:
                break
            levels.append(rows)
    except Exception:  # the comparison will report whatever an author's function raises on arrays
        pass
    all_rows = [np.concatenate(columns) for columns in zip(*levels, strict=True)]
    points = _points(system, batches, all_rows)
    return points.take(random.some(points.size, number))


def _thinned(rows: Rows, random: Draws) -> Rows:
    kept = random.some(len(rows[0]), _WIDEST_LEVEL)
    return [column[kept] for column in rows]


def _drawn(system: System, reached: Points, numbers: Column, number: int, random: Draws) -> Points:
    """Draw random states and neighbours of reachable states; the former have all combinations of flags and labels."""
    fresh = number // 2
    columns: dict[str, Column] = {}
    combinations = _combinations(system, fresh, random)
    for variable in system.variables:
        if variable.name in combinations:
            columns[variable.name] = combinations[variable.name]
        elif isinstance(variable.sort, Ages):
            columns[variable.name] = _buffers(reached.values[variable.sort.bound] + 1, fresh, random)
        else:
            columns[variable.name] = random.picked(numbers, fresh)
    values, unreachable = reached.values, np.zeros(fresh, dtype=bool)
    independent = Points(system, values, columns, unreachable, {})
    near = reached.take(random.numbers(reached.size, number - fresh))
    changed = random.numbers(len(system.variables), near.size)
    moved = {
        variable.name: _mixed(near.columns[variable.name], columns[variable.name], changed == place, random)
        for place, variable in enumerate(system.variables)
    }
    neighbours = Points(system, values, moved, np.zeros(near.size, dtype=bool), {})
    mixture = random.order(number)
    return joined([independent, neighbours]).take(mixture)


def _mixed(old: Column, other: Column, where: Column, random: Draws) -> Column:
    drawn = random.picked(other, len(old))
    return np.where(where[:, None] if old.ndim == 2 else where, drawn, old)


def _combinations(system: System, number: int, random: Draws) -> Columns:
    """Draw the flags and labels of ``number`` states; if there are few combinations, take each in turn."""
    finite = [(v.name, _names(v)) for v in system.variables if isinstance(v.sort, Flags | Labels)]
    total = int(np.prod([float(len(names)) for _, names in finite])) if finite else 1
    if total > number:
        return {name: random.picked(np.array(names), number) for name, names in finite}
    every = list(product(*(names for _, names in finite)))
    return {name: np.array([every[k % total][place] for k in range(number)]) for place, (name, _) in enumerate(finite)}


def _names(variable: Variable) -> list[Any]:
    match variable.sort:
        case Labels(names):
            return [int(name) for name in names]
        case _:
            return [False, True]


def _numbers(reached: Points, literals: Iterable[int]) -> Column:
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


def _buffers(ages: int, number: int, random: Draws) -> Column:
    """Draw buffers: empty ones, full ones, single messages and random ones."""
    members = random.truths(number, ages)
    kind = np.arange(number) % 5
    members[kind == 0] = False
    members[kind == 1] = True
    single = random.numbers(ages, number)
    members[kind == 2] = (np.arange(ages) == single[:, None])[kind == 2]
    return members


def _in_range(points: Points) -> Column:
    """Test in which states every variable is in its declared range, as far as arrays can tell."""
    state = points.array_state
    try:
        claims = [variable.in_range(state) for variable in points.system.variables if variable.has_range]
        return truths(And(*claims), points.size)
    except Exception:  # the comparison of the ranges will report it
        return np.ones(points.size, dtype=bool)


def with_choices(points: Points, phase: Phase, most: int, random: Draws) -> Points:
    """Combine the states with choices that are allowed in them, up to ``most`` combinations."""
    picked: list[Mapping[str, Any]] = [dict(zip(_order(phase), each, strict=True)) for each in _ways(phase)]
    picked = [picked[k] for k in random.order(len(picked))[:_MOST_COMBINATIONS]]
    index = np.repeat(np.arange(points.size), len(picked))
    way = np.tile(np.arange(len(picked)), points.size)
    kept = random.some(len(index), most)
    index, way = index[kept], way[kept]
    before = points.take(index)
    choices = {c.name: _values(before, c, [each[c.name] for each in picked], way, random) for c in phase.choices}
    return before.with_choices(choices)


def _order(phase: Phase) -> list[str]:
    return [choice.name for choice in phase.choices]


def _ways(phase: Phase) -> Iterator[tuple[Any, ...]]:
    return product(*((False, True) if isinstance(c, Flag) else ("none", "all", "some", "other") for c in phase.choices))


def _values(before: Points, choice: Choice, ways: list[Any], way: Column, random: Draws) -> Column:
    when = truths(choice.when(before.array_state), before.size)
    if isinstance(choice, Flag):
        return np.asarray(np.array(ways, dtype=bool)[way] & when)
    buffer = before.columns[choice.of]
    wanted = np.array(ways)[way][:, None]
    selected = (wanted == "all") | (((wanted == "some") | (wanted == "other")) & random.truths(*buffer.shape))
    return np.asarray(buffer & selected & when[:, None])
