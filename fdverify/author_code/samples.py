"""Which states to compare on: reachable ones, corners of the declared ranges, and random ones inside of them."""

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
    """The system at a few small parameters that differ in all of them; itself if all are fixed."""
    arbitrary = [parameter for parameter in system.parameters if parameter.value is None]
    if not arbitrary:
        return [system]
    most = max(len(parameter.small_values()) for parameter in arbitrary)
    diagonal = [{p.name: p.small_values()[k % len(p.small_values())] for p in arbitrary} for k in range(most)]
    found = admissible(system, diagonal)[:_MOST_INSTANCES]
    if len(found) < _MOST_INSTANCES:
        seen = [each.parameter_values() for each in found]
        for each in small_instances(system):
            if len(found) < _MOST_INSTANCES and each.parameter_values() not in seen:
                found.append(each)
    if found:
        return found
    smallest = smallest_instance(system)
    return [] if smallest is None else [smallest]


def sampled_states(
    system: System, number: int, rounds: int, literals: Iterable[int], random: Draws
) -> tuple[Points, Points]:
    """So many states of a system with fixed parameters that are in their ranges, and some that are not.

    Some are reached from the initial state within so many rounds; in the others, numbers are often near the literals.
    """
    reached = _reached(system, number // 2, rounds, random)
    drawn = _drawn(system, reached, _numbers(reached, literals), 4 * number, random)
    within = _in_range(drawn)
    kept = np.flatnonzero(within)[: number - reached.size // 2]
    return joined([reached, drawn.take(kept)]), drawn.take(np.flatnonzero(~within)[: number // 8])


def initial_points(system: System) -> Points:
    values = system.fixed_values()
    batches = Batches(Layout(system, values, system.variables), exact=False)
    return _points(system, batches, batches.rows(initial_state(system)))


def _points(system: System, batches: Batches, rows: Rows) -> Points:
    size = len(rows[0])
    columns = columns_of_state(system, batches.state(rows), size)
    return Points(system, system.fixed_values(), columns, np.ones(size, dtype=bool), {})


def _reached(system: System, number: int, rounds: int, random: Draws) -> Points:
    """Reachable states, breadth first; a level that grows too wide is thinned out."""
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
    except Exception:  # whatever an author's function raises of arrays, the comparison will meet and tell
        pass
    every = [np.concatenate(columns) for columns in zip(*levels, strict=True)]
    found = _points(system, batches, every)
    return found.take(random.some(found.size, number))


def _thinned(rows: Rows, random: Draws) -> Rows:
    kept = random.some(len(rows[0]), _WIDEST_LEVEL)
    return [column[kept] for column in rows]


def _drawn(system: System, reached: Points, numbers: Column, number: int, random: Draws) -> Points:
    """Random states: every combination of flags and labels as far as they go, and neighbours of reachable states."""
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
    values, nobody = reached.values, np.zeros(fresh, dtype=bool)
    independent = Points(system, values, columns, nobody, {})
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
    """The flags and labels of so many states, each combination in its turn."""
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
    """Numbers that claims are likely to compare with: small ones, literals, parameters, values that were met."""
    found = {*_SMALL}
    for literal in literals:
        found |= {literal - 1, literal, literal + 1}
    for value in reached.values.values():
        found |= {factor * value + offset for factor in (1, 2, 3) for offset in (-1, 0, 1)}
    for column in reached.columns.values():
        if column.ndim == 1 and column.dtype != bool:
            found |= set(column.tolist()[:24])
    largest = max(_LARGEST, *reached.values.values(), 0)
    return np.array(sorted(number for number in found if abs(number) <= largest))


def _buffers(ages: int, number: int, random: Draws) -> Column:
    """Empty and full buffers, single messages, and any others."""
    members = random.truths(number, ages)
    kind = np.arange(number) % 5
    members[kind == 0] = False
    members[kind == 1] = True
    single = random.numbers(ages, number)
    members[kind == 2] = (np.arange(ages) == single[:, None])[kind == 2]
    return members


def _in_range(points: Points) -> Column:
    """In which states every variable is in its declared range, as far as that can be told of arrays."""
    state = points.array_state
    try:
        claims = [variable.in_range(state) for variable in points.system.variables if variable.has_range]
        return truths(And(*claims), points.size)
    except Exception:  # the comparison of the ranges will meet it and tell
        return np.ones(points.size, dtype=bool)


def with_choices(points: Points, phase: Phase, most: int, random: Draws) -> Points:
    """The states with choices that are allowed in them: every combination, as far as they go."""
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
    some = (wanted == "all") | (((wanted == "some") | (wanted == "other")) & random.truths(*buffer.shape))
    return np.asarray(buffer & some & when[:, None])
