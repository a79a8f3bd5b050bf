"""Tables of states are sets: nothing is lost, nothing is invented, and the order of states is kept."""

from collections.abc import Iterable
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fdverify.engines.key_file import merge_runs, store_run
from fdverify.engines.key_set import build_key_set
from fdverify.engines.level_store import LevelStore
from fdverify.engines.packing import Keys, Rows, join_states, start_packing
from fdverify.engines.state_table import StateTable
from tests.sampling import choose

States = list[tuple[int, int, bool]]
NUMBERS = st.one_of(st.integers(-3, 3), st.integers(-(2**31), 2**31), st.integers(-(2**40), 2**40))
HUGE = st.one_of(NUMBERS, st.integers(-(2**70), 2**70))
BATCHES = st.lists(st.lists(st.tuples(NUMBERS, NUMBERS, st.booleans()), max_size=20), max_size=8)
HUGE_BATCHES = st.lists(st.lists(st.tuples(HUGE, HUGE, st.booleans()), max_size=20), max_size=8)


def build_rows(states: States, integer: type) -> Rows:
    columns: Iterable[tuple[int, ...]] = zip(*states, strict=True) if states else ((), (), ())
    return [np.array(column, dtype=kind) for column, kind in zip(columns, (integer, integer, bool), strict=True)]


def read_rows(rows: Rows) -> States:
    return list(zip(*(column.tolist() for column in rows), strict=True))


def check_is_set(batches: list[States], integer: type, memory_limit: int | None = None) -> None:
    table = StateTable(memory_limit)
    seen: set[tuple[int, int, bool]] = set()
    parts = []
    for batch in batches:
        part = table.add(build_rows(batch, integer))
        assert read_rows(part.unpack([integer, integer, bool])) == sorted(set(batch) - seen)
        seen |= set(batch)
        assert table.size == len(seen)
        parts.append(part)
    if parts:
        assert read_rows(join_states(parts).unpack([integer, integer, bool])) == sorted(seen)


@given(BATCHES)
def test_a_state_table_is_a_set(batches: list[States]) -> None:
    """Columns of any width, over one word or not, widened as values come in."""
    check_is_set(batches, np.int64)


@given(HUGE_BATCHES)
def test_a_state_table_of_pythons_integers_is_a_set(batches: list[States]) -> None:
    check_is_set(batches, object)


@given(BATCHES)
def test_a_state_table_in_files_is_a_set(batches: list[States]) -> None:
    """Without memory, the states that were there before are always in files."""
    check_is_set(batches, np.int64, memory_limit=0)


@given(HUGE_BATCHES)
def test_a_state_table_that_outgrows_machine_words_when_it_is_in_files_is_a_set(batches: list[States]) -> None:
    check_is_set(batches, object, memory_limit=0)


@given(*[st.sets(st.integers(0, 2**62))] * 2, st.integers(1, 5))
def test_runs_are_merged_in_their_order(left: set[int], right: set[int], chunk: int) -> None:
    runs = [np.array(sorted(keys), dtype=np.int64) for keys in (left, right - left)]
    with patch("fdverify.engines.key_file.CHUNK", chunk):
        merged = store_run(merge_runs(*runs), np.int64) if left or right else np.zeros(0)
    assert merged.tolist() == sorted(left | right)


@given(BATCHES, st.integers(0, 200))
def test_levels_are_read_as_they_were_written(levels: list[States], memory_limit: int) -> None:
    store, table = LevelStore(memory_limit), StateTable()
    written = [table.add(build_rows(level, np.int64)) for level in levels]
    for level in written:
        store.append(level)
    assert store.sizes == [len(level) for level in written]
    for number, level in enumerate(written):
        for start, end in ((0, len(level)), (len(level) // 2, len(level)), (0, len(level) + 7)):
            assert store.read(number, start, end).keys.tolist() == level.keys[start:end].tolist()
            assert store.read(number, start, end).packing == level.packing


@given(st.lists(st.tuples(HUGE, HUGE, st.booleans()), min_size=1), st.lists(st.tuples(HUGE, HUGE, st.booleans())))
def test_states_that_are_packed_again_are_the_same(states: States, more: States) -> None:
    rows, others = build_rows(states, object), build_rows(more, object)
    narrow = start_packing(rows)
    wide = narrow.fit(others)
    keys = wide.repack(narrow.pack(rows), narrow)
    assert read_rows(wide.unpack(keys, [object, object, bool])) == states
    assert (np.argsort(keys, kind="stable") == np.argsort(narrow.pack(rows), kind="stable")).all()


def spread_keys(dtype: type, number: int, random: np.random.Generator) -> Keys:
    """Distinct keys: dense ones, multiples of a power of two, and random ones."""
    most = 2**31 if dtype is np.int32 else 2**62
    drawn = [np.arange(number), np.arange(number) * (most // number), random.integers(0, most, number)]
    return random.permutation(np.unique(np.concatenate(drawn))).astype(dtype)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, object])
def test_a_large_set_of_keys_is_a_set(dtype: type) -> None:
    random = np.random.default_rng(7)
    keys = spread_keys(dtype, choose(full=300_000, sample=30_000), random)
    table, seen = build_key_set(dtype), set[int]()
    for size in (1, 100, 1000, len(keys) // 2, len(keys)):
        batch = random.choice(keys, size, replace=False)
        new = table.add(batch)
        assert set(batch[new].tolist()) == set(batch.tolist()) - seen
        assert len(new) == len(set(batch.tolist()) - seen)
        assert (np.diff(new) > 0).all()
        seen |= set(batch.tolist())
        assert table.size == len(seen)
    listed = np.concatenate(list(table.list_keys())).tolist()
    assert sorted(listed) == sorted(seen)
