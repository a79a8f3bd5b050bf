"""Check that an author's own rounds mean the same on numbers (as explored) and on symbols (as in the lemmas)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np
import z3

from fdverify.author_code.author_functions import AuthorFunction
from fdverify.author_code.source.reader_base import ROUND
from fdverify.author_code.source.source_reader import check_sources
from fdverify.author_code.term_evaluator import RecordingBook, TermEvaluator
from fdverify.cutoff.function_vocabulary import SymbolicVocabulary, UninterpretedTemplate, Vocabulary
from fdverify.cutoff.rounds import OF_ONE, OF_TWO, Index, Rounds, SubRound
from fdverify.errors import SourceLocation, UsageError
from fdverify.logic import And, Number, Or, Truth, shorten_value
from fdverify.symbolic.values import Int, Value

_HINT = "compare with ==, use If, And, Or, Not; let it depend on its arguments alone"
_SYSTEMS = 256
_PROCESSES = 3
_VALUES = 4
"""Locations, values, messages and buffers are drawn from the numbers below this."""
_ASKED = ("begin", "schedule", "send", "receive", "compute", "enabled", "moved")
"""The methods of `Rounds` that are called from outside."""


class _RecordingVocabulary(SymbolicVocabulary):
    """Symbols that record the functions declared; quantifiers are expanded over the few processes."""

    def __init__(self) -> None:
        self.functions: dict[str, tuple[int, bool]] = {}

    def make_number_function(self, name: str, arity: int) -> Callable[..., Number]:
        self.functions[name] = (arity, False)
        return super().make_number_function(name, arity)

    def make_opaque_function(self, name: str, arity: int) -> Callable[..., Any]:
        self.functions[name] = (arity, False)
        return super().make_opaque_function(name, arity)

    def make_truth_function(self, name: str, arity: int) -> Callable[..., Truth]:
        self.functions[name] = (arity, True)
        return super().make_truth_function(name, arity)

    def some(self, processes: Number, claim: Callable[[Index], Truth]) -> Truth:
        indexes = range(1, _PROCESSES + 1)
        return Or(*(And(processes >= index, claim(Int(z3.IntVal(index)))) for index in indexes))


def compare_rounds(rounds: Rounds) -> None:
    """Refuse an author's rounds that differ on numbers and on symbols; tests compare those of the class `Rounds`."""
    if type(rounds) is Rounds:
        return
    for sub_round in (None, *SubRound):
        _RoundComparison(rounds, sub_round).run()


class _RoundComparison:
    """The comparison for one sub-round, or for the initial configuration, over random small systems."""

    def __init__(self, rounds: Rounds, sub_round: SubRound | None) -> None:
        self._rounds = rounds
        self._sub_round = sub_round

    def run(self) -> None:
        symbols, p, q = _RecordingVocabulary(), Int(z3.Int("p")), Int(z3.Int("q"))
        first, again = self._evaluate_parts(symbols, p, q), self._evaluate_parts(symbols, p, q)
        if first.keys() != again.keys() or not all(_is_same(first[name], again[name]) for name in first):
            raise self._build_error("gives a different result each time it is evaluated")
        systems = _RandomSystems(symbols.functions)
        columns = {name: systems.evaluate_part(part) for name, part in first.items()}
        for number in range(_SYSTEMS):
            for _ in range(2):
                values = self._evaluate_parts(systems.build_vocabulary(number), *systems.get_processes(number))
                symbolic = {name: column[number] for name, column in columns.items()}
                self._compare_parts(values, symbolic, systems.get_processes(number))

    def _compare_parts(self, values: dict[str, Any], symbolic: dict[str, Any], processes: tuple[int, int]) -> None:
        where = f"for p = {processes[0]}, q = {processes[1]}"
        if values.keys() != symbolic.keys():
            unmatched = ", ".join(sorted(values.keys() ^ symbolic.keys()))
            raise self._build_error(f"has {unmatched} only on numbers or only on symbols, {where}")
        for name, value in values.items():
            if type(value) is not type(symbolic[name]) or value != symbolic[name]:
                difference = (
                    f"{name} = {shorten_value(value)} on numbers, but {shorten_value(symbolic[name])} on symbols"
                )
                raise self._build_error(f"gives {difference}, {where}")

    def _evaluate_parts(self, v: Vocabulary, p: Index, q: Index) -> dict[str, Any]:
        """Evaluate every part of the resulting configuration, and every rule, for two processes."""
        interpretation = UninterpretedTemplate(v)

        def some(claim: Callable[[Index], Truth]) -> Truth:
            return v.some(v.make_constant("N"), claim)

        rules: dict[str, Any] = {}
        if self._sub_round is None:
            after = self._rounds.begin(interpretation, some)
        else:
            before, chosen = v.make_configuration("c", some), v.make_choices("chosen")
            step = self._rounds.step(self._sub_round, interpretation, before, chosen)
            after, rules = step.after, {f"rule {name}": rule(p, q) for name, rule in step.rules.items()}
        of_one = {part: getattr(after, part)(p) for part in OF_ONE}
        return of_one | {part: getattr(after, part)(p, q) for part in OF_TWO} | rules

    def _build_error(self, problem: str) -> UsageError:
        """Build an error that names the sub-round and its class, at the place of the author's code."""
        code = next(_find_own_code(type(self._rounds), self._sub_round), None)
        place = None if code is None else SourceLocation.from_code(code)
        return UsageError(f"{self._sub_round or 'begin'} of {type(self._rounds).__name__} {problem}", _HINT, place)


def _find_own_code(rounds: type, sub_round: SubRound | None) -> Iterator[CodeType]:
    """Yield the code objects that the author wrote, that of the sub-round first."""
    for name in (sub_round or "begin", "enabled", "moved", *vars(rounds)):
        function = getattr(rounds, name, None)
        if isinstance(function, FunctionType) and function is not getattr(Rounds, name, None):
            yield function.__code__


class _RandomSystems:
    """Random small systems: a table for each function, and two processes, which are the same in half of them."""

    def __init__(self, functions: dict[str, tuple[int, bool]]) -> None:
        generator = np.random.default_rng(0)
        self._tables = {
            name: generator.random((_SYSTEMS, *[_VALUES] * arity)) < 0.5
            if boolean
            else generator.integers(0, _VALUES, (_SYSTEMS, *[_VALUES] * arity))
            for name, (arity, boolean) in functions.items()
        }
        self._tables["N"] = np.full(_SYSTEMS, _PROCESSES)
        one, other = generator.integers(1, _PROCESSES + 1, (2, _SYSTEMS))
        same = generator.random(_SYSTEMS) < 0.5
        constants = {name: table for name, table in self._tables.items() if table.ndim == 1}
        constants |= {"p": one, "q": np.where(same, one, other)}
        self._processes = list(zip(constants["p"].tolist(), constants["q"].tolist(), strict=True))
        functions_by_name = {
            name: partial(self._look_up_value, name) for name, table in self._tables.items() if table.ndim > 1
        }
        self._evaluator = TermEvaluator(_SYSTEMS, constants, {}, 1, RecordingBook(), functions=functions_by_name)

    def _look_up_value(self, name: str, *arguments: Any) -> Any:
        """Look up a function's value in every system; arguments are clipped to the table."""
        clipped = [np.clip(argument, 0, _VALUES - 1) for argument in arguments]
        return self._tables[name][(np.arange(_SYSTEMS), *clipped)]

    def evaluate_part(self, part: Any) -> list[Any]:
        """Evaluate a part in every system."""
        values: list[Any] = (
            self._evaluator.evaluate(part.term).tolist() if isinstance(part, Value) else [part] * _SYSTEMS
        )
        return values

    def get_processes(self, number: int) -> tuple[int, int]:
        return self._processes[number]

    def build_vocabulary(self, number: int) -> Vocabulary:
        return _TableVocabulary({name: table[number] for name, table in self._tables.items()})


class _TableVocabulary(Vocabulary):
    """The functions of one system, looked up in its tables, on Python's numbers."""

    def __init__(self, tables: dict[str, Any]) -> None:
        self._tables = tables

    def make_number_function(self, name: str, arity: int) -> Callable[..., Number]:
        return lambda *arguments: self._tables[name][
            tuple(min(max(value, 0), _VALUES - 1) for value in arguments)
        ].item()

    def make_truth_function(self, name: str, arity: int) -> Callable[..., Truth]:
        return self.make_number_function(name, arity)

    def some(self, processes: Number, claim: Callable[[Index], Truth]) -> Truth:
        return any(claim(index) for index in range(1, processes + 1))


def _is_same(first: Any, again: Any) -> bool:
    if isinstance(first, Value) and isinstance(again, Value):
        return bool(first.term.eq(again.term))
    return type(first) is type(again) and bool(first == again)


def check_round_sources(rounds: Rounds) -> None:
    """Refuse rounds that do more with indexes than compare them, or whose source cannot be read.

    An index is a number in a small system and a symbol in a lemma.
    """
    methods = [(name, getattr(rounds, name)) for name in _ASKED]
    own = [(name, method) for name, method in methods if not _is_inherited(name, method)]
    for unread in check_sources(
        AuthorFunction(ROUND, f"{type(rounds).__name__}.{name}", method) for name, method in own
    ):
        # No other check would notice a use of an index that is not allowed.
        raise UsageError(
            f"{unread.name}: not all of its source can be read", "write it in a file, and call functions by their names"
        )


def _is_inherited(name: str, method: object) -> bool:
    function = method.__func__ if isinstance(method, MethodType) else None
    return isinstance(function, FunctionType) and function is getattr(Rounds, name)
