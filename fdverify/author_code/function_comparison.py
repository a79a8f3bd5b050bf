"""The comparison of a function's results on plain values, on arrays and on symbols, in the same states, repeatedly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from fdverify.author_code.author_functions import AuthorCall, find_code
from fdverify.author_code.comparison_site import REPEAT_EVERY, ComparisonSite
from fdverify.author_code.result_parts import NUMBER, TRUTH, name_kind, read_state_part, split_result
from fdverify.author_code.sample_batch import SampleBatch
from fdverify.author_code.state_description import describe_state, find_names_read
from fdverify.author_code.term_evaluator import Column
from fdverify.errors import FdverifyError, UsageError
from fdverify.logic import record_misuse, shorten_value, use_exact_integers
from fdverify.models.loading import build_user_error
from fdverify.models.system import Choices, State, Update
from fdverify.symbolic.values import Value

HINT = "compare with ==, use If, And, Or, Not; let it depend on its arguments alone"
_PLAIN, _ARRAYS, _SYMBOLS = "plain values", "arrays", "symbols"


@dataclass(frozen=True)
class _RaisedError:
    """An exception raised instead of a value."""

    error: Exception

    def __str__(self) -> str:
        message = " ".join(str(self.error).split())
        return f"raises {type(self.error).__name__}" + (f" ({shorten_value(message)})" if message else "")


@dataclass(frozen=True)
class _SymbolicResult:
    """The result on symbols: each part as a term or a constant, and its value in every state."""

    parts: Mapping[str, Any]
    columns: Mapping[str, Column]


class FunctionComparison:
    """The comparison of one function at one site."""

    def __init__(self, site: ComparisonSite, called: AuthorCall) -> None:
        self._site = site
        self._called = called
        self._author = called.author

    def check(self, terms_again: bool = True) -> list[dict[str, Any] | _RaisedError]:
        """Refuse a function that differs; return its results on the arrays of each instance.

        The terms need not be built twice here if they are built again in another symbolic state.
        """
        site = self._site
        first = self._evaluate_plain(site.named_states)
        symbols = self._evaluate_symbols()
        arrays = self.evaluate_arrays()
        if terms_again:
            self._check_same_terms(symbols, self._evaluate_symbols())
        again = self._evaluate_plain(site.numbered_states)
        completed = self._complete_result(symbols, first, arrays)
        self._check_plain(completed, first, 1, _PLAIN)
        self._check_plain(completed, again, REPEAT_EVERY, f"{_PLAIN} when called again")
        self._check_arrays(completed, arrays)
        self._check_arrays(completed, [self._evaluate_batch(group) for group in site.groups[:1]])
        return arrays

    def check_plain_once(self) -> None:
        """Compare only plain values with symbols, for a function that is checked in full elsewhere."""
        first = self._evaluate_plain(self._site.named_states)
        self._check_plain(self._complete_result(self._evaluate_symbols(), first, []), first, 1, _PLAIN)

    def evaluate_arrays(self) -> list[dict[str, Any] | _RaisedError]:
        """Return the results on the arrays of each instance, without comparing them."""
        return [self._evaluate_batch(group) for group in self._site.groups]

    def _evaluate_symbols(self) -> dict[str, Any]:
        symbols = self._site.symbols
        with record_misuse() as misused:
            try:
                value = self._called.call(symbols.state, symbols.choice_symbols)
            except (FdverifyError, MemoryError):
                raise
            except Exception as error:
                raise self._locate_error(error) from error
        if misused:
            raise misused[0]
        return self._split_result(value, symbols.state)

    def _locate_error(self, error: Exception) -> UsageError:
        code = find_code(self._author.function)
        if code is None:
            return UsageError(f"{self._author}: {type(error).__name__}: {' '.join(str(error).split())}", HINT)
        return build_user_error(error, Path(code.co_filename))

    def _split_result(self, value: Any, state: State) -> dict[str, Any]:
        return split_result(value, self._site.ages, state if isinstance(value, Update) else None)

    def _evaluate_plain(self, states: list[tuple[State, Choices]]) -> list[dict[str, Any] | _RaisedError]:
        results: list[dict[str, Any] | _RaisedError] = []
        for state, choices in states:
            try:
                results.append(self._split_result(self._called.call_unwrapped(state, choices), state))
            except MemoryError:  # which says nothing about the function
                raise
            except Exception as error:
                results.append(_RaisedError(error))
        return results

    def _evaluate_batch(self, group: SampleBatch, exact: bool = False) -> dict[str, Any] | _RaisedError:
        state = group.exact_state if exact else group.array_state
        try:
            with np.errstate(all="ignore"), use_exact_integers(exact):
                return self._split_result(
                    self._called.call_unwrapped(state, group.build_array_choices(self._site.symbols.choices, exact)),
                    state,
                )
        except MemoryError:
            raise
        except Exception as error:
            return _RaisedError(error)

    def _check_same_terms(self, first: Mapping[str, Any], again: Mapping[str, Any]) -> None:
        """Refuse a function that gives other terms when it is called again."""
        same = first.keys() == again.keys() and all(_is_same(first[name], again[name]) for name in first)
        if not same:
            raise self._author.build_error("gives a different result each time it is evaluated", HINT)

    def _complete_result(
        self,
        symbols: dict[str, Any],
        plain: list[dict[str, Any] | _RaisedError],
        arrays: list[dict[str, Any] | _RaisedError],
    ) -> _SymbolicResult:
        """Evaluate the result on symbols, with the state's own value for a part that only other results mention."""
        names = set(symbols)
        for result in (*plain, *arrays):
            if not isinstance(result, _RaisedError) and result.keys() != symbols.keys():
                names |= result.keys()
        parts = {name: self._find_part(symbols, name, self._site.symbols.state) for name in sorted(names)}
        return _SymbolicResult(parts, {name: self._evaluate_part(part) for name, part in parts.items()})

    def _find_part(self, parts: Mapping[str, Any], name: str, state: State) -> Any:
        if name in parts:
            return parts[name]
        variable = name.partition(".has(")[0]
        return read_state_part(name, state) if variable in state.values() and "assume" in parts else _MISSING

    def _evaluate_part(self, part: Any) -> Column:
        if isinstance(part, Value):
            return self._site.evaluator.evaluate(part.term)
        return np.broadcast_to(np.asarray(part, dtype=None if name_kind(part) in (TRUTH, NUMBER) else object), ())

    def _check_plain(
        self, expected: _SymbolicResult, results: list[dict[str, Any] | _RaisedError], step: int, form: str
    ) -> None:
        """Compare the results in every ``step``-th of the states that are checked one by one."""
        site = self._site
        places = range(0, len(site.rows), step)
        for name, part in expected.parts.items():
            wanted, kind = np.broadcast_to(expected.columns[name], (site.size,))[site.index].tolist(), name_kind(part)
            for place, parts in zip(places, results, strict=True):
                if isinstance(parts, _RaisedError):  # symbols gave a value, so the two differ, reachable or not
                    self._refuse_plain(form, parts, expected, place)
                value = self._find_part(parts, name, site.named_states[place][0])
                if name_kind(value) != kind or value != wanted[place]:
                    self._refuse_plain(form, value, expected, place, name)

    def _check_arrays(self, expected: _SymbolicResult, results: list[dict[str, Any] | _RaisedError]) -> None:
        first = 0
        for number, group in enumerate(self._site.groups[: len(results)]):
            columns = {name: _slice_column(column, first, group.size) for name, column in expected.columns.items()}
            first += group.size
            difference = self._find_difference(expected, columns, results[number], group)
            if difference is None:
                continue
            # Machine integers may have wrapped around; engines notice that and use Python's integers.
            exact = self._evaluate_batch(group, exact=True)
            difference = self._find_difference(expected, columns, exact, group)
            if difference is not None:
                results[number] = exact
                self._refuse_batch(expected, columns, group, exact, difference)

    def _find_difference(
        self,
        expected: _SymbolicResult,
        columns: Mapping[str, Column],
        result: dict[str, Any] | _RaisedError,
        group: SampleBatch,
    ) -> tuple[str | None, int] | None:
        """Return the first part, ``None`` for an exception, and the state in which arrays differ from symbols."""
        if isinstance(result, _RaisedError):
            return None, int(np.argmax(group.reachable))
        for name, part in expected.parts.items():
            value = self._find_part(result, name, group.array_state)
            if name_kind(value) != name_kind(part):
                return name, 0
            different = np.broadcast_to(np.asarray(value) != columns[name], (group.size,))
            if different.any():
                return name, int(np.argmax(different))
        return None

    def _refuse_batch(
        self,
        expected: _SymbolicResult,
        columns: Mapping[str, Column],
        group: SampleBatch,
        result: dict[str, Any] | _RaisedError,
        difference: tuple[str | None, int],
    ) -> NoReturn:
        name, row = difference
        value: Any = result
        if not isinstance(result, _RaisedError) and name is not None:
            part = self._find_part(result, name, group.array_state)
            value = (
                np.broadcast_to(np.asarray(part), (group.size,))[row] if name_kind(part) in (TRUTH, NUMBER) else part
            )
        wanted = None if name is None else _find_value(expected.parts[name], columns[name], row)
        self._raise_difference(_ARRAYS, value, _SYMBOLS, wanted, name, group, row)

    def _refuse_plain(
        self, form: str, value: Any, expected: _SymbolicResult, place: int, name: str | None = None
    ) -> NoReturn:
        number, row = self._site.rows[place]
        index = int(self._site.index[place])
        wanted = None if name is None else _find_value(expected.parts[name], expected.columns[name], index)
        self._raise_difference(form, value, _SYMBOLS, wanted, name, self._site.groups[number], row)

    def _raise_difference(
        self, form: str, value: Any, other: str, wanted: Any, name: str | None, group: SampleBatch, row: int
    ) -> NoReturn:
        state, choices = group.build_plain_state(row, True), group.build_plain_choices(row, self._site.symbols.choices)
        where = describe_state(
            group, row, find_names_read(self._called.call, state, choices), self._site.symbols.choices
        )
        part = f"{name} = " if name else ""
        gives = str(value) if isinstance(value, _RaisedError) else f"gives {part}{_format_value(value)}"
        others = f"gives a value on {other}" if name is None else f"{part}{_format_value(wanted)} on {other}"
        raise self._author.build_error(f"{gives} on {form}, but {others}, in {where}", HINT)


class _MissingPart:
    def __str__(self) -> str:
        return "nothing"


_MISSING = _MissingPart()


def _format_value(value: Any) -> str:
    return shorten_value(value.item() if isinstance(value, np.generic) else value)


def _find_value(part: Any, column: Column, row: int) -> Any:
    if name_kind(part) not in (TRUTH, NUMBER):
        return part
    return column[row] if column.ndim else column[()]


def _is_same(first: Any, again: Any) -> bool:
    if isinstance(first, Value) and isinstance(again, Value):
        return bool(first.term.eq(again.term))
    return type(first) is type(again) and bool(first == again)


def _slice_column(column: Column, first: int, size: int) -> Column:
    return column[first : first + size] if column.ndim else column
