"""Uninterpreted functions of indexes, locations, values, messages and buffers: as a solver's symbols, or as its model.

Lemmas are written over a vocabulary.  With symbols, a lemma is a formula for the solver.  With a solver's model, it is
evaluated, so that the same definitions replay a counterexample.  All sorts are integers.  That loses no counterexample:
opaque values are only compared for equality, without quantifiers, so any finite set of them embeds in the integers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import z3

from fdverify.cutoff.rounds import Choices, Configuration, Index, Interpretation, Kind
from fdverify.logic import Not, Number, Truth, raise_misuse
from fdverify.symbolic.values import Bool, Int, Value, lift_truth

KINDS = tuple(Kind)


class OpaqueValue(Int):
    """An opaque value (a location, a value, messages or a buffer), which can only be compared for equality.

    It is an integer for the solver, but order and arithmetic of integers mean nothing for a template's values.
    """

    __slots__ = ()

    def _refuse_operation(self, *others: Any) -> Any:
        raise_misuse(
            "only equality can be asked of locations, values, messages and buffers", "leave the rest to next_value"
        )

    __lt__ = __le__ = __gt__ = __ge__ = _refuse_operation
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = __floordiv__ = __mod__ = _refuse_operation


class Vocabulary(ABC):
    """A family of functions, by name and arity."""

    @abstractmethod
    def make_number_function(self, name: str, arity: int) -> Callable[..., Number]: ...

    def make_opaque_function(self, name: str, arity: int) -> Callable[..., Any]:
        """Return a function whose results can only be compared for equality."""
        return self.make_number_function(name, arity)

    @abstractmethod
    def make_truth_function(self, name: str, arity: int) -> Callable[..., Truth]: ...

    @abstractmethod
    def some(self, processes: Number, claim: Callable[[Index], Truth]) -> Truth:
        """Return whether one of the processes 1 to ``processes`` satisfies the claim."""

    def make_constant(self, name: str) -> Number:
        return self.make_number_function(name, 0)()

    def make_configuration(self, name: str, some: Callable[[Callable[[Index], Truth]], Truth]) -> Configuration:
        return Configuration(
            location=self.make_opaque_function(f"{name}.location", 1),
            active=self.make_truth_function(f"{name}.active", 1),
            idle=self.make_number_function(f"{name}.idle", 1),
            received=self.make_opaque_function(f"{name}.received", 2),
            value=self.make_opaque_function(f"{name}.value", 2),
            buffer=self.make_opaque_function(f"{name}.buffer", 2),
            some=some,
        )

    def make_choices(self, name: str) -> Choices:
        return Choices(
            crash=self.make_truth_function(f"{name}.crash", 1),
            schedule=self.make_truth_function(f"{name}.schedule", 1),
            delivered=self.make_opaque_function(f"{name}.delivered", 2),
        )


class SymbolicVocabulary(Vocabulary):
    """The vocabulary of uninterpreted function symbols."""

    def make_number_function(self, name: str, arity: int) -> Callable[..., Number]:
        return _make_function(name, arity, z3.IntSort(), Int)

    def make_opaque_function(self, name: str, arity: int) -> Callable[..., Any]:
        return _make_function(name, arity, z3.IntSort(), OpaqueValue)

    def make_truth_function(self, name: str, arity: int) -> Callable[..., Truth]:
        return _make_function(name, arity, z3.BoolSort(), Bool)

    def some(self, processes: Number, claim: Callable[[Index], Truth]) -> Truth:
        index = z3.FreshConst(z3.IntSort(), "process")
        inside = z3.And(index >= 1, index <= Int(z3.IntVal(0)).lift(processes))
        return Bool(z3.Exists([index], z3.And(inside, lift_truth(claim(Int(index))))))


def _make_function(name: str, arity: int, sort: Any, kind: type[Value]) -> Callable[..., Any]:
    function = z3.Function(name, *[z3.IntSort()] * arity, sort)
    zero = Int(z3.IntVal(0))
    return lambda *arguments: kind(function(*(zero.lift(argument) for argument in arguments)))


class ModelVocabulary(Vocabulary):
    """The vocabulary of a solver's model, on Python's numbers."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def make_number_function(self, name: str, arity: int) -> Callable[..., Number]:
        function = z3.Function(name, *[z3.IntSort()] * arity, z3.IntSort())
        return lambda *arguments: int(self._evaluate_call(function, arguments).as_long())

    def make_truth_function(self, name: str, arity: int) -> Callable[..., Truth]:
        function = z3.Function(name, *[z3.IntSort()] * arity, z3.BoolSort())
        return lambda *arguments: z3.is_true(self._evaluate_call(function, arguments))

    def some(self, processes: Number, claim: Callable[[Index], Truth]) -> Truth:
        return any(claim(index) for index in range(1, processes + 1))

    def _evaluate_call(self, function: Any, arguments: tuple[int, ...]) -> Any:
        return self._model.eval(function(*(z3.IntVal(int(argument)) for argument in arguments)), model_completion=True)


class UninterpretedTemplate(Interpretation):
    """An arbitrary template with arbitrary buffers: functions about which only a few laws are assumed."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        thing, truth_of = vocabulary.make_opaque_function, vocabulary.make_truth_function
        self.start, self.crashed = thing("start", 0)(), thing("crashed", 0)()
        self.start_value = thing("start_value", 0)()
        self.no_messages, self.no_transit = thing("no_messages", 0)(), thing("no_transit", 0)()
        self.longest_rest = vocabulary.make_constant("longest_rest")
        self._kind = vocabulary.make_number_function("kind", 1)
        self._next_location, self._generate = thing("next_location", 1), thing("generate_message", 1)
        self._next_value, self._joined = thing("next_value", 3), thing("joined", 2)
        self._aged, self._with_fresh = thing("aged", 1), thing("with_fresh", 2)
        self._without, self._contents = thing("without", 2), thing("contents", 1)
        self._may_take, self._within = truth_of("may_take", 2), truth_of("within", 2)
        self._overdue = truth_of("overdue", 1)

    def is_kind(self, location: Any, kind: Kind) -> Truth:
        return self._kind(location) == KINDS.index(kind)

    def name_kind(self, location: int) -> str:
        """Name the kind of a location of a model."""
        number = self._kind(location)
        return KINDS[number] if 0 <= number < len(KINDS) else "no kind"

    def next_location(self, location: Any) -> Any:
        return self._next_location(location)

    def generate_message(self, location: Any) -> Any:
        return self._generate(location)

    def next_value(self, location: Any, messages: Any, value: Any) -> Any:
        return self._next_value(location, messages, value)

    def joined(self, messages: Any, more: Any) -> Any:
        return self._joined(messages, more)

    def aged(self, buffer: Any) -> Any:
        return self._aged(buffer)

    def may_take(self, buffer: Any, message: Any) -> Truth:
        return self._may_take(buffer, message)

    def with_fresh(self, buffer: Any, message: Any) -> Any:
        return self._with_fresh(buffer, message)

    def within(self, part: Any, buffer: Any) -> Truth:
        return self._within(part, buffer)

    def without(self, buffer: Any, part: Any) -> Any:
        return self._without(buffer, part)

    def contents(self, part: Any) -> Any:
        return self._contents(part)

    def overdue(self, buffer: Any) -> Truth:
        return self._overdue(buffer)


def list_buffer_laws(interpretation: Interpretation, buffer: Any, message: Any) -> dict[str, Truth]:
    """Instantiate all assumptions about buffers, for one buffer and one message; the explored buffers satisfy them."""
    return {
        "an empty buffer takes every message": interpretation.may_take(interpretation.no_transit, message),
        "a buffer is within itself": interpretation.within(buffer, buffer),
        "a buffer without itself is empty": interpretation.without(buffer, buffer) == interpretation.no_transit,
        "nothing is overdue in an empty buffer": Not(interpretation.overdue(interpretation.no_transit)),
    }
