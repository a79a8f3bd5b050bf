"""The comparison of a function's results on plain values, on arrays and on symbols, in the same states, repeatedly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from fdverify.author_code.called import Called
from fdverify.author_code.evaluate import Column
from fdverify.author_code.functions import code_of
from fdverify.author_code.parts import NUMBER, TRUTH, kind_of, part_of_state, parts_of_result
from fdverify.author_code.points import Points
from fdverify.author_code.site import AGAIN, Site
from fdverify.author_code.wording import in_words, names_read
from fdverify.errors import FdverifyError, UsageError
from fdverify.logic import noticing_misuse, shortened
from fdverify.models.system import Choices, State, Update
from fdverify.models.user_files import in_user_file
from fdverify.symbolic.values import Value

HINT = "compare with ==, use If, And, Or, Not; let it depend on its arguments alone"
_PLAIN, _ARRAYS, _SYMBOLS = "plain values", "arrays", "symbols"


@dataclass(frozen=True)
class _Raised:
    """An exception raised instead of a value."""

    error: Exception

    def __str__(self) -> str:
        message = " ".join(str(self.error).split())
        return f"raises {type(self.error).__name__}" + (f" ({shortened(message)})" if message else "")


@dataclass(frozen=True)
class _Evaluated:
    """The result on symbols: each part as a term or a constant, and its value in every state."""

    parts: Mapping[str, Any]
    columns: Mapping[str, Column]


class Agreement:
    """The comparison of one function at one site."""

    def __init__(self, site: Site, called: Called) -> None:
        self._site = site
        self._called = called
        self._author = called.author

    def check(self, terms_again: bool = True) -> list[dict[str, Any] | _Raised]:
        """Refuse a function that differs; return its results on the arrays of each instance.

        The terms need not be built twice here if they are built again in another symbolic state.
        """
        site = self._site
        first = self._of_plain(site.named_states)
        symbols = self._of_symbols()
        arrays = self.of_arrays()
        if terms_again:
            self._check_same_terms(symbols, self._of_symbols())
        again = self._of_plain(site.numbered_states)
        completed = self._completed(symbols, first, arrays)
        self._check_plain(completed, first, 1, _PLAIN)
        self._check_plain(completed, again, AGAIN, f"{_PLAIN} when called again")
        self._check_arrays(completed, arrays)
        self._check_arrays(completed, [self._of_arrays(group) for group in site.groups[:1]])
        return arrays

    def check_once(self) -> None:
        """Compare only plain values with symbols, for a function that is checked in full elsewhere."""
        first = self._of_plain(self._site.named_states)
        self._check_plain(self._completed(self._of_symbols(), first, []), first, 1, _PLAIN)

    def of_arrays(self) -> list[dict[str, Any] | _Raised]:
        """Return the results on the arrays of each instance, without comparing them."""
        return [self._of_arrays(group) for group in self._site.groups]

    def _of_symbols(self) -> dict[str, Any]:
        symbols = self._site.symbols
        with noticing_misuse() as misused:
            try:
                value = self._called.call(symbols.state, symbols.made)
            except (FdverifyError, MemoryError):
                raise
            except Exception as error:
                raise self._in_file(error) from error
        if misused:
            raise misused[0]
        return self._parts(value, symbols.state)

    def _in_file(self, error: Exception) -> UsageError:
        code = code_of(self._author.function)
        if code is None:
            return UsageError(f"{self._author}: {type(error).__name__}: {' '.join(str(error).split())}", HINT)
        return in_user_file(error, Path(code.co_filename))

    def _parts(self, value: Any, state: State) -> dict[str, Any]:
        return parts_of_result(value, self._site.ages, state if isinstance(value, Update) else None)

    def _of_plain(self, states: list[tuple[State, Choices]]) -> list[dict[str, Any] | _Raised]:
        results: list[dict[str, Any] | _Raised] = []
        for state, choices in states:
            try:
                results.append(self._parts(self._called.bare(state, choices), state))
            except MemoryError:  # which says nothing about the function
                raise
            except Exception as error:
                results.append(_Raised(error))
        return results

    def _of_arrays(self, group: Points, exact: bool = False) -> dict[str, Any] | _Raised:
        state = group.exact_state if exact else group.array_state
        try:
            with np.errstate(all="ignore"):
                return self._parts(self._called.bare(state, group.array_choices(self._site.symbols.choices)), state)
        except MemoryError:
            raise
        except Exception as error:
            return _Raised(error)

    def _check_same_terms(self, first: Mapping[str, Any], again: Mapping[str, Any]) -> None:
        """Refuse a function that gives other terms when it is called again."""
        same = first.keys() == again.keys() and all(_same(first[name], again[name]) for name in first)
        if not same:
            raise UsageError(
                f"{self._author.place}: {self._author} gives a different result each time it is evaluated", HINT
            )

    def _completed(
        self,
        symbols: dict[str, Any],
        plain: list[dict[str, Any] | _Raised],
        arrays: list[dict[str, Any] | _Raised],
    ) -> _Evaluated:
        """Evaluate the result on symbols, with the state's own value for a part that only other results mention."""
        names = set(symbols)
        for result in (*plain, *arrays):
            if not isinstance(result, _Raised) and result.keys() != symbols.keys():
                names |= result.keys()
        parts = {name: self._part(symbols, name, self._site.symbols.state) for name in sorted(names)}
        return _Evaluated(parts, {name: self._column(part) for name, part in parts.items()})

    def _part(self, parts: Mapping[str, Any], name: str, state: State) -> Any:
        if name in parts:
            return parts[name]
        variable = name.partition(".has(")[0]
        return part_of_state(name, state) if variable in state.values() and "assume" in parts else _MISSING

    def _column(self, part: Any) -> Column:
        if isinstance(part, Value):
            return self._site.evaluator.column(part.term)
        return np.broadcast_to(np.asarray(part, dtype=None if kind_of(part) in (TRUTH, NUMBER) else object), ())

    def _check_plain(self, expected: _Evaluated, results: list[dict[str, Any] | _Raised], step: int, form: str) -> None:
        """Compare the results in every ``step``-th of the states that are checked one by one."""
        site = self._site
        places = range(0, len(site.rows), step)
        for name, part in expected.parts.items():
            wanted, kind = np.broadcast_to(expected.columns[name], (site.size,))[site.index].tolist(), kind_of(part)
            for place, parts in zip(places, results, strict=True):
                if isinstance(parts, _Raised):  # symbols gave a value, so the two differ, reachable or not
                    self._refuse(form, parts, expected, place)
                value = self._part(parts, name, site.named_states[place][0])
                if kind_of(value) != kind or value != wanted[place]:
                    self._refuse(form, value, expected, place, name)

    def _check_arrays(self, expected: _Evaluated, results: list[dict[str, Any] | _Raised]) -> None:
        first = 0
        for number, group in enumerate(self._site.groups[: len(results)]):
            columns = {name: _slice(column, first, group.size) for name, column in expected.columns.items()}
            first += group.size
            difference = self._differing(expected, columns, results[number], group)
            if difference is None:
                continue
            # Machine integers may have wrapped around; engines notice that and use Python's integers.
            exact = self._of_arrays(group, exact=True)
            difference = self._differing(expected, columns, exact, group)
            if difference is not None:
                results[number] = exact
                self._refuse_array(expected, columns, group, exact, difference)

    def _differing(
        self, expected: _Evaluated, columns: Mapping[str, Column], result: dict[str, Any] | _Raised, group: Points
    ) -> tuple[str | None, int] | None:
        """Return the first part, ``None`` for an exception, and the state in which arrays differ from symbols."""
        if isinstance(result, _Raised):
            return None, int(np.argmax(group.reachable))
        for name, part in expected.parts.items():
            value = self._part(result, name, group.array_state)
            if kind_of(value) != kind_of(part):
                return name, 0
            different = np.broadcast_to(np.asarray(value) != columns[name], (group.size,))
            if different.any():
                return name, int(np.argmax(different))
        return None

    def _refuse_array(
        self,
        expected: _Evaluated,
        columns: Mapping[str, Column],
        group: Points,
        result: dict[str, Any] | _Raised,
        difference: tuple[str | None, int],
    ) -> NoReturn:
        name, row = difference
        value: Any = result
        if not isinstance(result, _Raised) and name is not None:
            part = self._part(result, name, group.array_state)
            value = np.broadcast_to(np.asarray(part), (group.size,))[row] if kind_of(part) in (TRUTH, NUMBER) else part
        wanted = None if name is None else _shown(expected.parts[name], columns[name], row)
        self._tell(_ARRAYS, value, _SYMBOLS, wanted, name, group, row)

    def _refuse(self, form: str, value: Any, expected: _Evaluated, place: int, name: str | None = None) -> NoReturn:
        number, row = self._site.rows[place]
        index = int(self._site.index[place])
        wanted = None if name is None else _shown(expected.parts[name], expected.columns[name], index)
        self._tell(form, value, _SYMBOLS, wanted, name, self._site.groups[number], row)

    def _tell(
        self, form: str, value: Any, other: str, wanted: Any, name: str | None, group: Points, row: int
    ) -> NoReturn:
        state, choices = group.plain_state(row, True), group.plain_choices(row, self._site.symbols.choices)
        where = in_words(group, row, names_read(self._called.call, state, choices), self._site.symbols.choices)
        part = f"{name} = " if name else ""
        gives = str(value) if isinstance(value, _Raised) else f"gives {part}{_plainly(value)}"
        others = f"gives a value on {other}" if name is None else f"{part}{_plainly(wanted)} on {other}"
        raise UsageError(f"{self._author.place}: {self._author} {gives} on {form}, but {others}, in {where}", HINT)


class _Missing:
    def __str__(self) -> str:
        return "nothing"


_MISSING = _Missing()


def _plainly(value: Any) -> str:
    return shortened(value.item() if isinstance(value, np.generic) else value)


def _shown(part: Any, column: Column, row: int) -> Any:
    if kind_of(part) not in (TRUTH, NUMBER):
        return part
    return column[row] if column.ndim else column[()]


def _same(first: Any, again: Any) -> bool:
    if isinstance(first, Value) and isinstance(again, Value):
        return bool(first.term.eq(again.term))
    return type(first) is type(again) and bool(first == again)


def _slice(column: Column, first: int, size: int) -> Column:
    return column[first : first + size] if column.ndim else column
