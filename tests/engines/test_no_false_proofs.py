"""Models that were once proved wrongly, or could have been: each must be refused or refuted."""

from collections.abc import Callable
from dataclasses import replace
from enum import IntEnum
from typing import Any

import numpy as np
import pytest

from fdverify.engines.bmc import bmc
from fdverify.engines.explore import explore
from fdverify.engines.kinduction import k_induction
from fdverify.engines.overflow import OverflowGuard
from fdverify.errors import UsageError
from fdverify.logic import And, If, Implies, Not
from fdverify.models.buffer import ENCODINGS
from fdverify.models.expression import parse_expression
from fdverify.models.system import (
    Ages,
    Choices,
    Flag,
    Flags,
    Integers,
    Labels,
    Parameter,
    Phase,
    Property,
    State,
    Subset,
    System,
    Update,
    Variable,
    update,
)
from fdverify.verdict import Result, Verdict
from tests.engines.small import counter

Engine = Callable[[System], Result]
ENGINES: list[Engine] = [
    lambda s: explore(s, s.properties[0]),
    lambda s: bmc(s, s.properties[0], depth=12),
    lambda s: k_induction(s, s.properties[0], max_k=6),
]
engines = pytest.mark.parametrize("engine", ENGINES, ids=["explore", "bmc", "induct"])


class Lamp(IntEnum):
    Off = 0
    Amber = 1
    On = 2


def system(
    variables: tuple[Variable, ...],
    run: Callable[[State, Choices], Update],
    holds: Callable[[State], Any],
    choices: tuple[Flag | Subset, ...] = (Flag("go"),),
    delta: int | None = 2,
) -> System:
    return System(
        name="small",
        options={},
        parameters=(Parameter("delta", 0, delta),),
        variables=variables,
        phases=(Phase("only", run, choices),),
        properties=(Property("claim", holds, ""),),
    )


X = Variable("x", Integers(), initial=lambda s: 0)
LAMP = Variable("lamp", Labels(Lamp), initial=lambda s: Lamp.Off)
FLAG = Variable("flag", Flags(), initial=lambda s: False)


@engines
def test_a_flag_set_to_a_number_is_refused(engine: Engine) -> None:
    model = system((X, FLAG), lambda s, c: update(x=s.x + 1, flag=s.x), lambda s: s.x < 2)
    with pytest.raises(UsageError, match="sets flag"):
        engine(model)


@engines
@pytest.mark.parametrize("stray", [3, 5, -1])
def test_a_label_set_to_none_of_its_names_is_not_taken_for_another(engine: Engine, stray: int) -> None:
    model = system((LAMP,), lambda s, c: update(lamp=If(c.go, stray, s.lamp)), lambda s: s.lamp != Lamp.Amber)
    try:
        verdict = engine(model).verdict
    except UsageError:
        return
    assert verdict is not Verdict.PROVED


@engines
def test_a_label_compared_with_a_number_out_of_range_is_never_equal(engine: Engine) -> None:
    model = system((LAMP,), lambda s, c: update(lamp=Lamp.Amber), lambda s: s.lamp == 5)
    try:
        verdict = engine(model).verdict
    except UsageError:
        return
    assert verdict is Verdict.VIOLATED


def test_a_clock_from_ten_is_not_cut_off_by_a_depth() -> None:
    clock = Variable("t", Integers(), initial=lambda s: 10, ghost=True, clock=True)
    model = system((X, clock), lambda s, c: update(t=s.t + 1), lambda s: s.t < 25)
    assert explore(model, model.properties[0], depth=20).verdict is Verdict.VIOLATED
    assert explore(model, model.properties[0], depth=5).verdict is Verdict.BOUNDED


def test_a_violation_that_a_cut_clock_only_seems_to_be_is_none() -> None:
    clock = Variable("t", Integers(), initial=lambda s: 0, ghost=True, clock=True)
    late = Variable("late", Flags(), initial=lambda s: False)
    model = system((late, clock), lambda s, c: update(t=s.t + 1, late=True), lambda s: Implies(s.t == 0, Not(s.late)))
    assert explore(model, model.properties[0]).verdict is Verdict.PROVED


@pytest.mark.parametrize("name", ["changed", "values", "_x", "x@1", "two words", "state's"])
def test_a_name_that_means_something_else_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name"):
        system((replace(X, name=name),), lambda s, c: update(), lambda s: True)


@pytest.mark.parametrize(
    "holds",
    [lambda s: s.a + s.b <= 1, lambda s: s.x / 2 < 1, lambda s: 10 // s.x < 1],
    ids=["flags added", "fractions", "division by a variable"],
)
def test_what_arrays_compute_otherwise_is_refused(holds: Callable[[State], Any]) -> None:
    flags = (replace(FLAG, name="a"), replace(FLAG, name="b"))
    model = system((X, *flags), lambda s, c: update(a=c.go, b=True), holds)
    with pytest.raises(UsageError, match="mixes kinds of values"):
        explore(model, model.properties[0])


def test_a_fraction_is_no_value_of_a_variable() -> None:
    model = system((X,), lambda s, c: update(x=(s.x + 1) / 2), lambda s: s.x < 1)
    with pytest.raises(UsageError):
        explore(model, model.properties[0])


@pytest.mark.parametrize("power", [31, 40, 70])
def test_numbers_beyond_the_machine_are_explored_exactly(power: int) -> None:
    start = Variable("x", Integers(), initial=lambda s: 1)
    grow = system((start,), lambda s, c: update(x=If(s.x < 4**power, 4 * s.x, s.x)), lambda s: s.x < 4**power)
    result = explore(grow, grow.properties[0])
    assert result.verdict is Verdict.VIOLATED
    assert result.run is not None
    assert len(result.run.rounds) == power


def test_a_product_that_outgrows_the_machine_on_the_way_is_computed_exactly() -> None:
    start = Variable("x", Integers(), initial=lambda s: 2**14)
    fifth = lambda s, c: update(x=If(s.x * s.x * s.x * s.x * s.x > 0, s.x + 1, -1))  # noqa: E731
    model = system((start,), fifth, lambda s: s.x > 0)
    assert explore(model, model.properties[0], depth=10).verdict is Verdict.BOUNDED


def test_a_value_between_phases_that_outgrows_the_machine_is_computed_exactly() -> None:
    """2^70 would be 0 in a machine word; the phase after it hides it from whole rounds, but not from sub-rounds."""
    start = Variable("x", Integers(), initial=lambda s: 2**14)
    model = system((start,), lambda s, c: update(x=s.x * s.x * s.x * s.x * s.x), lambda s: s.x < 2**60)
    model = replace(model, phases=(*model.phases, Phase("again", lambda s, c: update(x=2**14))))
    assert explore(model, model.properties[0]).verdict is Verdict.PROVED
    assert explore(model, model.properties[0], subrounds=True).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("power", [15, 29, 30, 31, 32, 61, 62, 63, 64, 90])
@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_at_the_edges_of_machine_words_are_explored_exactly(power: int, sign: int) -> None:
    """They pass the edge by a sum, a difference and a product; states on both sides of it are told apart."""
    edge = sign * 2**power
    start = Variable("x", Integers(), initial=lambda s: edge - 3)
    far = Variable("far", Integers(), initial=lambda s: 0)

    def pass_edge(s: State, c: Choices) -> Update:
        return update(x=If(And(c.go, s.x < edge + 3), s.x + 1, s.x), far=If(s.x == edge, 3 * s.x - 1, s.far))

    model = system((start, far), pass_edge, lambda s: And(s.far <= max(0, 3 * edge - 1), s.x - s.far <= abs(4 * edge)))
    result = explore(model, model.properties[0])
    assert result.verdict is Verdict.PROVED
    assert result.statistics["states"] == 4 + 4
    short = Property("short", lambda s: s.x < edge + 3, "")
    assert explore(model, short).verdict is Verdict.VIOLATED


def test_a_product_of_small_numbers_fits_the_machine() -> None:
    model = system((X,), lambda s, c: update(x=If(s.x * s.x * s.x * s.x * s.x < 99, s.x + 1, 0)), lambda s: s.x < 9)
    guard = OverflowGuard(model, model.properties[0])
    assert guard.choose_integer([(0, 3)]) is np.int32
    assert guard.choose_integer([(-(2**7), 2**7)]) is np.int64
    assert guard.choose_integer([(0, 2**14)]) is object
    assert guard.choose_integer([(0, 3)]) is object


def test_constants_may_outgrow_the_machine_where_no_variable_is_an_integer() -> None:
    flag = Variable("f", Flags(), initial=lambda s: False)
    model = system((flag,), lambda s, c: update(f=If(s.f, 10**30, 1) > 2), lambda s: Not(s.f))
    assert OverflowGuard(model, model.properties[0]).choose_integer([]) is object
    assert explore(model, model.properties[0]).verdict is Verdict.PROVED


@engines
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_message_delivered_twice_leaves_once(engine: Engine, encoding: str) -> None:
    buffer = Variable("buffer", Ages(encoding, "delta"), initial=lambda s: {0})
    both = (Subset("a", of="buffer"), Subset("b", of="buffer"))
    model = system(
        (buffer, X),
        lambda s, c: update(buffer=s.buffer.deliver(c.a).deliver(c.b)),
        lambda s: Not(s.buffer.empty()),
        both,
        delta=0,
    )
    result = engine(model)
    assert result.verdict is Verdict.VIOLATED
    assert result.run is not None
    assert len(result.run.rounds) == 1


@pytest.mark.parametrize("engine", ENGINES[1:], ids=["bmc", "induct"])
def test_two_deep_ages_are_two_reads(engine: Engine) -> None:
    """Z3 prints deep terms shortened: what is named after them would be one."""
    flags = tuple(Flag(f"go{k}") for k in range(24))

    def deep(c: Choices, last: int) -> Any:
        age: Any = last
        for flag in flags:
            age = If(c[flag.name], age, age + 1)
        return age

    buffer = Variable("buffer", Ages("predicate", "delta"), initial=lambda s: {0})
    flag = Variable("differ", Flags(), initial=lambda s: False)

    def run(s: State, c: Choices) -> Update:
        aged = s.buffer.send(True)
        return update(buffer=aged, differ=And(s.buffer.has(deep(c, 0)), Not(s.buffer.has(deep(c, 1)))))

    model = system((buffer, flag), run, lambda s: Not(s.differ), flags, delta=None)
    assert engine(model).verdict is Verdict.VIOLATED


@engines
def test_an_initial_buffer_may_be_given_by_an_iterator(engine: Engine) -> None:
    buffer = Variable("buffer", Ages("predicate", "delta"), initial=lambda s: iter([0, 1]))
    model = system((buffer,), lambda s, c: update(), lambda s: Not(And(s.buffer.has(0), s.buffer.has(1))))
    assert engine(model).verdict is Verdict.VIOLATED
    if engine is not ENGINES[0]:
        assert engine(replace(model, parameters=(Parameter("delta", 1, None),))).verdict is Verdict.VIOLATED


def test_buffers_of_different_bounds_are_not_mixed() -> None:
    parameters = (Parameter("delta", 0, 1), Parameter("other", 0, 3))
    one = Variable("one", Ages("bitvector", "delta"), initial=lambda s: ())
    two = Variable("two", Ages("bitvector", "other"), initial=lambda s: ())
    base = system((one,), lambda s, c: update(one=s.two), lambda s: True)
    model = replace(base, parameters=parameters, variables=(one, two))
    with pytest.raises(UsageError, match="sets one"):
        explore(model, model.properties[0])


def test_many_choices_do_not_keep_a_proof_from_its_end() -> None:
    flags = tuple(Flag(f"go{k}") for k in range(12))
    model = system((X,), lambda s, c: update(x=If(c.go3, 1, s.x)), lambda s: s.x <= 1, flags)
    assert k_induction(model, model.properties[0], max_k=3).verdict is Verdict.PROVED


def test_a_plan_that_only_a_mixture_of_choices_makes_is_found() -> None:
    flags = tuple(Flag(f"go{k}") for k in range(4))
    mixed = lambda s, c: update(assume=And(c.go0, Not(c.go1), c.go2, Not(c.go3)))  # noqa: E731
    model = system((X,), mixed, lambda s: s.x == 0, flags)
    assert k_induction(model, model.properties[0], max_k=3).verdict is Verdict.PROVED


GOOD = counter(lambda s, c: update(), lambda s: True)
NO_BOUND = Variable("b", Ages("predicate", "nothing"), initial=lambda s: ())
TOO_EARLY = Parameter("early", 0, parse_expression("limit", {"limit"}))


@pytest.mark.parametrize(
    "build",
    [
        lambda: replace(GOOD, phases=(replace(GOOD.phases[0], choices=(Subset("some", of="x"),)),)),
        lambda: replace(GOOD, variables=(NO_BOUND,)),
        lambda: replace(GOOD, variables=(replace(NO_BOUND, sort=Ages("queue", "limit")),)),
        lambda: replace(GOOD, phases=()),
        lambda: replace(GOOD, variables=(replace(GOOD.variables[0], ghost=True),)),
        lambda: replace(GOOD, parameters=(TOO_EARLY, *GOOD.parameters)).compute_fixed_parameters(),
    ],
    ids=["subset of a number", "no bound", "no encoding", "no phases", "only ghosts", "defined too early"],
)
def test_a_system_that_makes_no_sense_is_refused(build: Callable[[], object]) -> None:
    with pytest.raises(UsageError):
        build()
