"""The comparison of assumptions and initial values, functions of the parameters alone, on numbers and on symbols."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice, product
from typing import Any

import numpy as np

from fdverify.author_code.agreement import HINT
from fdverify.author_code.evaluate import Evaluator
from fdverify.author_code.functions import AuthorFunction, author_function
from fdverify.author_code.parts import NUMBER, TRUTH, kind_of
from fdverify.author_code.recording import RecordingBook
from fdverify.errors import UsageError
from fdverify.logic import shortened
from fdverify.models.system import State, System
from fdverify.symbolic.values import Value

_MOST = 64


def check_assumptions(system: System, symbols: State) -> None:
    """Compare the assumptions at small values of the parameters, whether or not they hold there."""
    arbitrary = [parameter for parameter in system.parameters if parameter.value is None]
    small = islice(product(*(parameter.small_values() for parameter in arbitrary)), _MOST)
    valuations = [dict(zip((p.name for p in arbitrary), values, strict=True)) for values in small]
    states = [State(system.at(values).parameter_values()) for values in valuations]
    for assumption in system.assumptions:
        _compare(author_function("assumption", assumption.name, assumption.holds), assumption.holds, states, symbols)


def check_initial_values(system: System, instances: Sequence[System], symbols: State) -> None:
    states = [State(instance.fixed_values()) for instance in instances]
    for variable in system.variables:
        author = author_function("the initial value of", variable.name, variable.initial)
        _compare(author, variable.initial, states, symbols)


def _compare(author: AuthorFunction, function: Callable[[State], Any], states: Sequence[State], symbols: State) -> None:
    first = [function(state) for state in states]
    term, again = function(symbols), function(symbols)
    if isinstance(term, Value) and not (isinstance(again, Value) and term.term.eq(again.term)):
        raise UsageError(f"{author.place}: {author} gives a different result each time it is evaluated", HINT)
    wanted = _values(term, states)
    for results in (first, [function(state) for state in states]):
        for value, expected, state in zip(results, wanted, states, strict=True):
            if kind_of(value) != kind_of(term) or _plainly(value) != expected:
                where = ", ".join(f"{name} = {number}" for name, number in state.values().items()) or "every instance"
                raise UsageError(
                    f"{author.place}: {author} gives {shortened(value)} on plain values, "
                    f"but {shortened(expected)} on symbols, at {where}",
                    HINT,
                )


def _values(term: Any, states: Sequence[State]) -> list[Any]:
    """Evaluate a term at each of the parameter values."""
    if not isinstance(term, Value):
        return [_plainly(term)] * len(states)
    names = states[0].values() if states else ()
    columns = {name: np.array([state[name] for state in states]) for name in names}
    values: list[Any] = Evaluator(len(states), columns, {}, 1, RecordingBook()).column(term.term).tolist()
    return values


def _plainly(value: Any) -> Any:
    """Make a value comparable: a buffer becomes the set of its ages."""
    return value if kind_of(value) in (TRUTH, NUMBER) else frozenset(value)
