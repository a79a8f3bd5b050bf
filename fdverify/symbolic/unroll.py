"""A system compiled to Z3: its parameters, then the states of successive rounds, named with fresh constants.

The state after a round is a term over the state before and the choices made in it, never a relation.  Naming every
state keeps the terms small: inlined into each other they would grow exponentially with the number of rounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import z3

from fdverify.errors import UsageError
from fdverify.logic import Number, Or, Symbolic, SymbolicMisuse, Truth
from fdverify.models.buffer import column_buffer
from fdverify.models.layout import columns_of, parts_of, value_of
from fdverify.models.system import Ages, Choice, Flag, State, System, Variable
from fdverify.symbolic.ages import AgeBook, ClaimedBuffer, Closure, Read
from fdverify.symbolic.selection import Selection, fresh_parts, fresh_selection, predicate
from fdverify.symbolic.values import Bits, Bool, Int, Value, truth


class Unrolling:
    """Rounds of a system, from its initial state or (``anywhere``) from an arbitrary state.

    Facts are what must hold of the constants.  Call :meth:`take_new_facts` right before a query: building the query
    may read buffers, and every first read adds a fact.
    """

    def __init__(self, system: System, anywhere: bool = False, book: AgeBook | None = None) -> None:
        self.system = system
        self.anywhere = anywhere
        self._facts: list[Any] = []
        self.book = AgeBook() if book is None else book
        self.closure = Closure(self.book)
        self.parameters = self._name_parameters()
        first = self._any_value if anywhere else self._initial_value
        self.states = [State({**self.parameters, **{v.name: first(v) for v in system.variables}})]
        self.choices: list[Mapping[str, Any]] = []

    def new_facts(self) -> list[Any]:
        return self.round_facts() + self.age_facts(self.closure)

    def round_facts(self) -> list[Any]:
        """Return the new facts about parameters and rounds, without those about reads of buffers."""
        facts, self._facts = self._facts, []
        return facts

    def age_facts(self, closure: Closure) -> list[Any]:
        """Return the facts about ages that formulas built since the last call need and ``closure`` has not returned."""
        return closure.add(self.book.take_mentions())

    def extend(self) -> State:
        """Add one round, and return the state in which it ends."""
        number = len(self.choices) + 1
        self.closure.reach_further(number)
        before = state = self.states[-1]
        choices: dict[str, Any] = {}
        for phase in self.system.phases:
            fresh = {choice.name: fresh_choice(choice, state, number) for choice in phase.choices}
            for selected in fresh.values():
                if isinstance(selected, Selection):
                    self.closure.choose(selected.witness)
            choices.update(fresh)
            state, allowed = self.system.run_phase(phase, state, fresh)
            self._assume(allowed)
        named = {v.name: self._named(v, state[v.name], before[v.name], number) for v in self.system.variables}
        self.choices.append(choices)
        self.states.append(State({**self.parameters, **named}))
        return self.states[-1]

    def _assume(self, fact: Truth) -> None:
        if fact is not True:
            self._facts.append(truth(fact))

    def _name_parameters(self) -> dict[str, Number]:
        arbitrary = {name: Int(z3.Int(name)) for name in self.system.arbitrary()}
        for parameter in self.system.parameters:
            if parameter.value is None:
                self._assume(arbitrary[parameter.name] >= parameter.least)
        values = self.system.parameter_values(arbitrary)
        for assumption in self.system.assumptions:
            self._assume(assumption.holds(State(values)))
        for age in (0, *(values[bound] for bound in self.system.age_bounds())):
            self.closure.choose(age)
        return values

    def _initial_value(self, variable: Variable) -> Any:
        value = variable.initial_value(State(self.parameters))
        if isinstance(variable.sort, Ages):
            bound = self.parameters[variable.sort.bound]
            if isinstance(bound, Symbolic):
                return ClaimedBuffer(bound, lambda age: Or(*(age == member for member in value)), self.book)
            value = column_buffer(variable.sort.encoding).of(bound, value)
        return self._named(variable, value, None, 0)

    def _any_value(self, variable: Variable) -> Any:
        name = f"{variable.name}@0"
        if isinstance(variable.sort, Ages) and isinstance(self.parameters[variable.sort.bound], Symbolic):
            return ClaimedBuffer(self.parameters[variable.sort.bound], predicate(name), self.book)
        return value_of(variable, self.parameters, fresh_parts(columns_of(variable, self.parameters), name))

    def _named(self, variable: Variable, value: Any, before: Any, number: int) -> Any:
        if value is before:
            return value
        name = f"{variable.name}@{number}"
        if isinstance(value, ClaimedBuffer):
            return self._with_named_reads(value, name)
        constants = fresh_parts(columns_of(variable, self.parameters), name)
        pairs = zip(constants, parts_of(value), strict=True)
        parts = [self._named_part(variable.name, constant, part) for constant, part in pairs]
        return value_of(variable, self.parameters, parts)

    def _named_part(self, name: str, constant: Value, part: Any) -> Any:
        if isinstance(part, Symbolic):
            try:
                self._assume(constant == part)
            except SymbolicMisuse as error:
                raise UsageError(f"{name} is set to another kind of value: {error.message}") from error
            return constant
        # Known numbers and truth values stay Python values; bits must keep their width.
        return Bits(constant.lift(part)) if isinstance(constant, Bits) else part

    def _with_named_reads(self, buffer: ClaimedBuffer, name: str) -> ClaimedBuffer:
        """Name each age that is read, since a buffer with symbolic Δ has no finite name.

        A definition is built on demand: a read in one round needs a read in the round before, and so on, which would
        be too deep for Python's stack.
        """
        reads: dict[int, tuple[Any, Read]] = {}
        zero = Int(z3.IntVal(0))

        def read(age: Number) -> Bool:
            term = z3.simplify(zero.lift(age))
            # The term is kept, because Z3 reuses the identity of a dead term.
            if term.get_id() not in reads:
                # The name depends on the age only, so a claim reads the same whatever else was read.
                constant = Bool(z3.Bool(f"{name}#{' '.join(term.sexpr().split())}".replace("|", "'")))
                reads[term.get_id()] = (term, Read(constant, lambda: buffer.has(Int(term))))
            age_read = reads[term.get_id()][1]
            self.book.mention(age_read)
            return age_read.constant

        return ClaimedBuffer(buffer.delta, read, self.book)


def fresh_choice(choice: Choice, state: State, number: int) -> Any:
    name = f"{choice.name}@{number}"
    return Bool(z3.Bool(name)) if isinstance(choice, Flag) else fresh_selection(state[choice.of], name)
