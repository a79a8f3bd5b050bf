"""A system compiled to Z3: parameters, then round after round of states named with fresh constants.

A round's next state is a term over the state before and the choices made in it, never a relation.  Naming every state
keeps the terms small: inlined into each other they would grow exponentially with the number of rounds.
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
    """Rounds of a system, from its initial state or (``anywhere``) from any state whatever.

    What must hold of the constants is collected as facts; :meth:`new_facts` hands them over and is called right before
    a question, since building the question may read buffers, and every first read is a fact of its own.
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
        """What the parameters and the rounds so far say, without what they read of buffers."""
        facts, self._facts = self._facts, []
        return facts

    def age_facts(self, closure: Closure) -> list[Any]:
        """What the formulas built since the last call need to be told about ages, beyond what ``closure`` has told."""
        return closure.add(self.book.take_mentions())

    def extend(self) -> State:
        """Add one round; the state it ends in."""
        at = len(self.choices) + 1
        self.closure.reach_further(at)
        before = state = self.states[-1]
        choices: dict[str, Any] = {}
        for phase in self.system.phases:
            made = {choice.name: fresh_choice(choice, state, at) for choice in phase.choices}
            for selected in made.values():
                if isinstance(selected, Selection):
                    self.closure.choose(selected.witness)
            choices.update(made)
            state, allowed = self.system.run_phase(phase, state, made)
            self._assume(allowed)
        named = {v.name: self._named(v, state[v.name], before[v.name], at) for v in self.system.variables}
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

    def _named(self, variable: Variable, value: Any, before: Any, at: int) -> Any:
        if value is before:
            return value
        name = f"{variable.name}@{at}"
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
        # Known numbers and truth values stay as they are and are computed with at once; bits must keep their width.
        return Bits(constant.lift(part)) if isinstance(constant, Bits) else part

    def _with_named_reads(self, buffer: ClaimedBuffer, name: str) -> ClaimedBuffer:
        """A buffer of symbolic Δ has no finite name, so each age that is read gets one.

        The definition waits until it is asked for: a read at one round asks for a read at the round before, and so on
        down, deeper than Python's stack.
        """
        reads: dict[int, tuple[Any, Read]] = {}
        zero = Int(z3.IntVal(0))

        def read(age: Number) -> Bool:
            term = z3.simplify(zero.lift(age))
            # The term is kept with its name: Z3 gives the identity of a dead term to another one.
            if term.get_id() not in reads:
                # Named after the age, so that a claim reads the same whatever else was read.
                constant = Bool(z3.Bool(f"{name}#{' '.join(term.sexpr().split())}".replace("|", "'")))
                reads[term.get_id()] = (term, Read(constant, lambda: buffer.has(Int(term))))
            found = reads[term.get_id()][1]
            self.book.mention(found)
            return found.constant

        return ClaimedBuffer(buffer.delta, read, self.book)


def fresh_choice(choice: Choice, state: State, at: int) -> Any:
    name = f"{choice.name}@{at}"
    return Bool(z3.Bool(name)) if isinstance(choice, Flag) else fresh_selection(state[choice.of], name)
