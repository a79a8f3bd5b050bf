"""A system compiled to Z3: its parameters, then the states of successive rounds, named with fresh constants.

The state after a round is a term over the state before and the choices made in it, never a relation.  Naming every
state keeps the terms small: inlined into each other they would grow exponentially with the number of rounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import z3

from fdverify.errors import UsageError
from fdverify.logic import And, Number, Or, Symbolic, SymbolicMisuse, Truth
from fdverify.models.buffer import find_buffer_class
from fdverify.models.system import Ages, Amount, Choice, Flag, State, Subset, System, Variable
from fdverify.runs.layout import join_value, list_variable_columns, split_value
from fdverify.symbolic.age_claims import AgeClaimRegistry, AgeRead, FactClosure, SymbolicBuffer
from fdverify.symbolic.listed_buffer import ListedBuffer
from fdverify.symbolic.selection import Selection, build_fresh_parts, build_fresh_selection, build_predicate
from fdverify.symbolic.values import Bits, Bool, Int, Value, lift_truth


class Unrolling:
    """Rounds of a system, from its initial state or (``anywhere``) from an arbitrary state.

    With ``lists_ages``, a buffer with symbolic Δ lists the ages that its messages can have in these rounds, as far as
    its initial ages allow.
    Facts are what must hold of the constants.  Call :meth:`take_new_facts` right before a query: building the query
    may read buffers, and every first read adds a fact.
    """

    def __init__(
        self,
        system: System,
        anywhere: bool = False,
        book: AgeClaimRegistry | None = None,
        lists_ages: bool = False,
    ) -> None:
        self.system = system
        self.anywhere = anywhere
        self._lists_ages = lists_ages
        self._facts: list[Any] = []
        self.book = AgeClaimRegistry() if book is None else book
        self.closure = FactClosure(self.book)
        self.parameters = self._name_parameters()
        first = self._build_arbitrary_value if anywhere else self._build_initial_value
        self.states = [State({**self.parameters, **{v.name: first(v) for v in system.variables}})]
        self.choices: list[Mapping[str, Any]] = []

    def take_new_facts(self) -> list[Any]:
        return self.take_round_facts() + self.take_age_facts(self.closure)

    def take_round_facts(self) -> list[Any]:
        """Return the new facts about parameters and rounds, without those about reads of buffers."""
        facts, self._facts = self._facts, []
        return facts

    def take_age_facts(self, closure: FactClosure) -> list[Any]:
        """Return the facts about ages that formulas built since the last call need and ``closure`` has not returned."""
        return closure.add_mentions(self.book.take_mentions())

    def add_round(self) -> State:
        """Add one round, and return the state in which it ends."""
        number = len(self.choices) + 1
        self.closure.extend_reach(number)
        before = state = self.states[-1]
        choices: dict[str, Any] = {}
        for phase in self.system.phases:
            fresh = {choice.name: build_fresh_choice(choice, state, number) for choice in phase.choices}
            for selected in fresh.values():
                if isinstance(selected, Selection):
                    self.closure.choose_age(selected.witness)
            for choice in phase.choices:
                self._add_fact(limit_choice(choice, state, fresh[choice.name]))
            choices.update(fresh)
            state, allowed = self.system.run_phase(phase, state, fresh)
            self._add_fact(allowed)
        named = {v.name: self._name_value(v, state[v.name], before[v.name], number) for v in self.system.variables}
        self.choices.append(choices)
        self.states.append(State({**self.parameters, **named}))
        return self.states[-1]

    def _add_fact(self, fact: Truth) -> None:
        if fact is not True:
            self._facts.append(lift_truth(fact))

    def _name_parameters(self) -> dict[str, Number]:
        arbitrary = {name: Int(z3.Int(name)) for name in self.system.list_arbitrary()}
        for parameter in self.system.parameters:
            if parameter.value is None:
                self._add_fact(arbitrary[parameter.name] >= parameter.least)
        values = self.system.compute_parameters(arbitrary)
        for assumption in self.system.assumptions:
            self._add_fact(assumption.holds(State(values)))
        for age in (0, *(values[bound] for bound in self.system.list_age_bounds())):
            self.closure.choose_age(age)
        return values

    def _build_initial_value(self, variable: Variable) -> Any:
        value = variable.compute_initial_value(State(self.parameters))
        if isinstance(variable.sort, Ages):
            bound = self.parameters[variable.sort.bound]
            if isinstance(bound, Int):
                return self._build_initial_buffer(bound, value)
            value = find_buffer_class(variable.sort.encoding).from_ages(bound, value)
        return self._name_value(variable, value, None, 0)

    def _build_initial_buffer(self, bound: Int, ages: Iterable[Number]) -> SymbolicBuffer:
        if self._lists_ages:
            listed = ListedBuffer.from_ages(bound, ages, self.book)
            if listed is not None:
                return listed
        return SymbolicBuffer(bound, lambda age: Or(*(age == member for member in ages)), self.book)

    def _build_arbitrary_value(self, variable: Variable) -> Any:
        name = f"{variable.name}@0"
        if isinstance(variable.sort, Ages) and isinstance(self.parameters[variable.sort.bound], Symbolic):
            return SymbolicBuffer(self.parameters[variable.sort.bound], build_predicate(name), self.book)
        return join_value(
            variable, self.parameters, build_fresh_parts(list_variable_columns(variable, self.parameters), name)
        )

    def _name_value(self, variable: Variable, value: Any, before: Any, number: int) -> Any:
        if value is before:
            return value
        name = f"{variable.name}@{number}"
        if isinstance(value, ListedBuffer):
            return self._name_ages(value, name)
        if isinstance(value, SymbolicBuffer):
            return self._name_reads(value, name)
        constants = build_fresh_parts(list_variable_columns(variable, self.parameters), name)
        pairs = zip(constants, split_value(value), strict=True)
        parts = [self._name_part(variable.name, constant, part) for constant, part in pairs]
        return join_value(variable, self.parameters, parts)

    def _name_part(self, name: str, constant: Value, part: Any) -> Any:
        if isinstance(part, Symbolic):
            try:
                self._add_fact(constant == part)
            except SymbolicMisuse as error:
                raise UsageError(f"{name} is set to another kind of value: {error.placed_message}") from error
            return constant
        # Known numbers and truth values stay Python values; bits must keep their width.
        return Bits(constant.lift(part)) if isinstance(constant, Bits) else part

    def _name_ages(self, buffer: ListedBuffer, name: str) -> ListedBuffer:
        younger = {
            age: self._name_part(name, Bool(z3.Bool(f"{name}_{age}")), member) for age, member in buffer.younger.items()
        }
        oldest = self._name_part(name, Bool(z3.Bool(f"{name}_oldest")), buffer.oldest)
        return ListedBuffer(buffer.delta, younger, oldest, self.book)

    def _name_reads(self, buffer: SymbolicBuffer, name: str) -> SymbolicBuffer:
        """Name each age that is read, since a buffer with symbolic Δ has no finite name.

        A definition is built on demand: a read in one round needs a read in the round before, and so on, which would
        be too deep for Python's stack.
        """
        reads: dict[int, tuple[Any, AgeRead]] = {}
        zero = Int(z3.IntVal(0))

        def read_age(age: Number) -> Bool:
            term = z3.simplify(zero.lift(age))
            # The term is kept, because Z3 reuses the identity of a dead term.
            if term.get_id() not in reads:
                # The name depends on the age only, so a claim reads the same whatever else was read.
                constant = Bool(z3.Bool(f"{name}#{' '.join(term.sexpr().split())}".replace("|", "'")))
                reads[term.get_id()] = (term, AgeRead(constant, lambda: buffer.has(Int(term))))
            age_read = reads[term.get_id()][1]
            self.book.record_mention(age_read)
            return age_read.constant

        return SymbolicBuffer(buffer.delta, read_age, self.book)


def build_fresh_choice(choice: Choice, state: State, number: int) -> Any:
    name = f"{choice.name}@{number}"
    match choice:
        case Flag():
            return Bool(z3.Bool(name))
        case Subset():
            return build_fresh_selection(state[choice.of], name)
        case Amount():
            return Int(z3.Int(name))


def limit_choice(choice: Choice, state: State, value: Any) -> Truth:
    """Return the range of a chosen integer, as one fact that bounds it on both sides; it is true of other choices.

    A solver that needs a bound on each integer takes this fact as the integer's definition.
    """
    return And(*choice.list_conditions(state, value)) if isinstance(choice, Amount) else True
