"""The comparison of assumptions and initial values, functions of the parameters alone, on numbers and on symbols."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice, product
from typing import Any

import numpy as np

from fdverify.author_code.author_functions import AuthorFunction, build_author_function
from fdverify.author_code.function_comparison import HINT
from fdverify.author_code.result_parts import NUMBER, TRUTH, name_kind
from fdverify.author_code.term_evaluator import RecordingBook, TermEvaluator
from fdverify.logic import shorten_value
from fdverify.models.system import State, System
from fdverify.symbolic.values import Value

_MOST = 64


def compare_assumptions(system: System, symbols: State) -> None:
    """Compare the assumptions at small values of the parameters, whether or not they hold there."""
    arbitrary = [parameter for parameter in system.parameters if parameter.value is None]
    small = islice(product(*(parameter.list_small_values() for parameter in arbitrary)), _MOST)
    valuations = [dict(zip((p.name for p in arbitrary), values, strict=True)) for values in small]
    states = [State(system.fix_parameters(values).compute_parameters()) for values in valuations]
    for assumption in system.assumptions:
        _compare_function(
            build_author_function("assumption", assumption.name, assumption.holds), assumption.holds, states, symbols
        )


def compare_initial_values(system: System, instances: Sequence[System], symbols: State) -> None:
    states = [State(instance.compute_fixed_parameters()) for instance in instances]
    for variable in system.variables:
        author = build_author_function("the initial value of", variable.name, variable.initial)
        _compare_function(author, variable.initial, states, symbols)


def _compare_function(
    author: AuthorFunction, function: Callable[[State], Any], states: Sequence[State], symbols: State
) -> None:
    first = [function(state) for state in states]
    term, again = function(symbols), function(symbols)
    if isinstance(term, Value) and not (isinstance(again, Value) and term.term.eq(again.term)):
        raise author.build_error("gives a different result each time it is evaluated", HINT)
    wanted = _evaluate_in_states(term, states)
    for results in (first, [function(state) for state in states]):
        for value, expected, state in zip(results, wanted, states, strict=True):
            if name_kind(value) != name_kind(term) or _make_comparable(value) != expected:
                where = ", ".join(f"{name} = {number}" for name, number in state.values().items()) or "every instance"
                raise author.build_error(
                    f"gives {shorten_value(value)} on plain values, "
                    f"but {shorten_value(expected)} on symbols, at {where}",
                    HINT,
                )


def _evaluate_in_states(term: Any, states: Sequence[State]) -> list[Any]:
    """Evaluate a term at each of the parameter values."""
    if not isinstance(term, Value):
        return [_make_comparable(term)] * len(states)
    names = states[0].values() if states else ()
    columns = {name: np.array([state[name] for state in states]) for name in names}
    values: list[Any] = TermEvaluator(len(states), columns, {}, 1, RecordingBook()).evaluate(term.term).tolist()
    return values


def _make_comparable(value: Any) -> Any:
    """Make a value comparable: a buffer becomes the set of its ages."""
    return value if name_kind(value) in (TRUTH, NUMBER) else frozenset(value)
