"""Functions without a source to read: what they give of values, arrays and symbols is compared."""

import builtins
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from fdverify.author_code.system_comparison import compare_on_states
from fdverify.errors import UsageError
from fdverify.logic import And, If, Not, Or
from fdverify.models.system import State, System, update
from tests.no_wrong_answers.same_meaning.models import ROLES, Pc, compared, model, with_function
from tests.sampling import every

NAMES = {"And": And, "Or": Or, "Not": Not, "If": If, "Pc": Pc, "seen": [], "partial": partial}

SLIPS = {
    "identity of a flag": "Not(s.f is False)",
    "identity of a label": "s.pc is not Pc.B",
    "identity in a search": "not any(v is s.f for v in (False,))",
    "membership by identity": "[True] == [v for v in [s.f] if v is True]",
    "isinstance of a number": "And(s.x < 19, isinstance(s.x, int))",
    "isinstance of a flag": "If(isinstance(s.f, bool), s.x < 19, s.x < 20)",
    "isinstance at one value": "Not(And(s.x == 7, isinstance(s.x, int)))",
    "type": "type(s.x) is int",
    "two types": "type(s.x) == type(s.f)",
    "class": "s.x.__class__.__module__ == 'builtins'",
    "text as a key": "{'True': True}.get(str(s.f), False)",
    "repr": "repr(s.x) != '2'",
    "f-string": "f'{s.x}'.isdigit()",
    "length of a text": "len(str(s.x)) < 3",
    "hasattr": "hasattr(s.x, 'bit_length')",
    "hasattr of a symbol": "Not(hasattr(s.x, 'term'))",
    "getattr with a default": "callable(getattr(s.x, 'conjugate', None))",
    "dir": "'term' not in dir(s.x)",
    "identity number": "id(s.x) != id(2)",
    "array or not": "Not(hasattr(s.x, 'shape'))",
    "each time another": "(seen.append(1), len(seen) % 2 == 0)[1]",
    "type of an answer": "isinstance(s.buffer.any(0, s.delta), bool)",
    "identity of an answer": "Not(s.buffer.has(0) is False)",
}
OF_SYMBOLIC_DELTA = {
    "type of a parameter": "isinstance(s.delta, int)",
    "type of a buffer": "type(s.buffer).__name__.startswith('Finite')",
    "type of an age": "s.buffer.forall(0, s.delta, lambda age: type(age) is int)",
    "an age of one kind": (
        "s.buffer.exists(0, s.delta, lambda a: And(s.buffer.has(a), a > 0 if isinstance(a, int) else a >= 0))"
    ),
}


def without_source(expression: str) -> Callable[[State], Any]:
    """A function that no file has."""
    return eval(f"lambda s: {expression}", {**NAMES, "seen": []})  # type: ignore[no-any-return]


CASES = [
    *((name, role, delta) for name in SLIPS for role in ROLES for delta in (None, 2)),
    *((name, role, None) for name in OF_SYMBOLIC_DELTA for role in ROLES),
]


@pytest.mark.parametrize(("slip", "role", "delta"), every(5, CASES))
def test_a_slip_is_refused_in_every_role(slip: str, role: str, delta: int | None) -> None:
    function = without_source({**SLIPS, **OF_SYMBOLIC_DELTA}[slip])
    with pytest.raises(UsageError) as refused:
        compared(with_function(role, function, delta))
    assert refused.value.exit_code == 2
    assert refused.value.hint is not None


HONEST = {
    "comparison": "s.pc == Pc.B",
    "connectives": "Or(And(s.f, s.x < 2), Not(s.f), s.pc != Pc.C)",
    "choice": "If(s.f, s.x < 19, s.x < 20)",
    "loop over constants": "And(*(s.x != k for k in (-1, 20)))",
    "all ages": "s.buffer.forall(0, s.delta, lambda age: Or(Not(s.buffer.has(age)), age <= s.delta))",
    "some age": "Or(s.buffer.empty(), s.buffer.exists(0, s.delta, s.buffer.has))",
    "ages within ages": (
        "s.buffer.forall(0, s.delta, lambda a: s.buffer.forall(0, a, lambda b: Or(b <= a, s.buffer.has(b))))"
    ),
    "one age at most": "Or(s.buffer.single(), Not(s.buffer.single()))",
    "arithmetic": "(s.x * 3 + s.delta) // 2 >= -1",
    "large numbers": "s.x * 10**18 * 10**18 < 10**38",
    "a constant": "True",
}


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("delta", [None, 0, 3])
@pytest.mark.parametrize("function", every(4, HONEST))
def test_an_honest_function_without_source_passes_and_is_noted(function: str, role: str, delta: int | None) -> None:
    report = compared(with_function(role, without_source(HONEST[function]), delta))
    if role not in ("phase", "cap"):  # there it is called by a function that has a source
        assert report.sampled_only
        assert "sampled states only" in report.format_notes()[0]


@pytest.mark.parametrize("encoding", ["predicate", "counter", "bitvector"])
def test_the_encodings_of_a_buffer_agree(encoding: str) -> None:
    compared(model(delta=3, encoding=encoding))


def test_a_callable_of_no_python_code_is_compared_too() -> None:
    compared(model(holds=operator.attrgetter("f")))
    with pytest.raises(UsageError, match="a function without source"):
        compared(model(holds=_Chained(operator.attrgetter("f"), partial(operator.is_, True))))


_applied: Callable[[Any, Any], Any] = eval("lambda functions, value: functions[1](functions[0](value))")


class _Chained:
    def __init__(self, *functions: Callable[[Any], Any]) -> None:
        self._functions = functions

    __call__ = property(lambda self: partial(_applied, self._functions))


def test_a_trick_in_a_library_is_seen() -> None:
    """The author's own lines are plain; what they call is not."""
    library: dict[str, Any] = {}
    exec("def larger(a, b):\n    return a >= b if type(a) is int else a > b", library)
    with pytest.raises(UsageError, match="claim gives"):
        compared(model(holds=lambda s: library["larger"](s.x, 3)))


def test_a_phase_that_sets_a_variable_of_values_only_is_refused() -> None:
    run = eval("lambda s, c: update(x=3) if s.f is True else update()", {"update": update})
    with pytest.raises(UsageError, match="phase step gives x = 3 on plain values"):
        compared(model(run=run))


def test_an_exception_of_values_alone_is_a_difference() -> None:
    run = eval("lambda s, c: update(x=s.x % 3 if hasattr(s.x, 'term') else s.x.none)", {"update": update})
    with pytest.raises(UsageError, match="raises AttributeError"):
        compared(model(run=run))


def test_a_kind_of_its_own_is_a_difference() -> None:
    with pytest.raises(UsageError, match="claim"):
        compared(model(holds=eval("lambda s: s.f if hasattr(s.f, 'term') else int(s.f)")))


def test_numbers_and_ranks_are_compared_part_by_part() -> None:
    from fdverify.author_code.author_functions import AuthorCall

    ranks = {
        "rank": "(s.x, 1 if s.f is True else 0)",
        "cases": "{'fair': s.f is True}",
        "number": "s.x + int(type(s.x) is int)",
    }
    for name, text in ranks.items():
        with pytest.raises(UsageError, match=f"term {name} gives"):
            compare_on_states(model(), [AuthorCall.from_state_function("term", name, eval(f"lambda s: {text}"))])
    compare_on_states(model(), [AuthorCall.from_state_function("term", "rank", lambda s: (s.x, If(s.f, 1, 0)))])


@pytest.mark.parametrize(
    ("what", "changed"),
    [
        ("the initial value of x", {"start": "lambda s: 0 if isinstance(s.delta, int) else s.delta + 1"}),
        ("assumption assumed", {"assumed": "lambda s: s.delta >= (0 if isinstance(s.delta, int) else 1)"}),
    ],
)
def test_functions_of_the_parameters_are_compared(what: str, changed: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=what):
        compared(model(**{name: eval(text) for name, text in changed.items()}))


def test_the_state_is_told_by_what_the_function_reads() -> None:
    with pytest.raises(UsageError) as refused:
        compared(model(holds=eval("lambda s: Not(s.f is False)", {"Not": Not})))
    assert "property claim gives False on plain values, but True on symbols, in " in refused.value.message
    assert "f = False" in refused.value.message


def test_memory_is_told_as_such() -> None:
    forgetful = builtins.iter(range(10**6))

    def counts(s: State) -> Any:
        return s.x < next(forgetful)

    with pytest.raises(UsageError, match=r"test_sampled_slips.py:\d+: property claim gives"):
        compare_on_states(*_only_claims(model(holds=counts)))


def _only_claims(system: System) -> tuple[System, list[Any]]:
    from fdverify.author_code.author_check import build_claim_calls

    return system, build_claim_calls("property", system.properties)
