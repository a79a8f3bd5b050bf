"""Systems: parameters, variables, and the phases that make up one global round.

A phase is an ordinary function of the state and the choices made in it; variables that it does not mention keep their
values.  Nothing here depends on a solver: the same functions run on Python values, on arrays and on symbolic values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import wraps
from keyword import kwlist
from typing import TYPE_CHECKING, Any, TypeAlias

from fdverify.errors import NoInstance, SourceLocation, UsageError, suggest_name
from fdverify.logic import (
    And,
    Implies,
    Not,
    Number,
    Or,
    Symbolic,
    Truth,
    is_number,
    is_truth,
    record_misuse,
    shorten_value,
)
from fdverify.models.buffer import Buffer, ColumnBuffer, check_encoding
from fdverify.models.expression import Expression
from fdverify.models.unique_names import check_unique

if TYPE_CHECKING:
    from fdverify.models.detector import Detector
    from fdverify.models.participants import Cast
    from fdverify.models.planned_runs import GrowingLoop, WorstRun

_SMT_LIB_WORDS = {"true", "false", "xor", "distinct", "ite", "let", "exists", "forall", "par", "div", "mod", "abs"}
_RESERVED = {*kwlist, *_SMT_LIB_WORDS, "select", "store"}
"""Words with a meaning of their own in Python or in SMT-LIB."""


class State:
    """Values by name: the parameters, and the variables at one point of a run, as in ``s.timeout`` or ``s.delta``."""

    __slots__ = ("_values",)
    _values: dict[str, Any]

    def __init__(self, values: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_values", dict(values))

    def __getattr__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            raise UsageError(f"the state has no {name}", suggest_name(name, self._values)) from None

    def __setattr__(self, name: str, value: Any) -> None:
        raise UsageError(f"a state cannot be changed: {name}", "return update(...) from the phase")

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def values(self) -> Mapping[str, Any]:
        return self._values

    def changed(self, changes: Mapping[str, Any]) -> State:
        return State({**self._values, **changes})


Choices: TypeAlias = State
"""The choices made in a phase, by name; the same read-only record as a state."""


@dataclass(frozen=True)
class Update:
    """The effect of a phase: new values for some variables, allowed only where ``assume`` holds."""

    changes: Mapping[str, Any]
    assume: Truth = True


def update(assume: Truth = True, **changes: Any) -> Update:
    return Update(changes, assume)


@dataclass(frozen=True)
class Parameter:
    """A number that is constant in a run: fixed, defined by earlier parameters, or arbitrary (``None``)."""

    name: str
    least: int
    value: int | Expression | None
    meaning: str = ""
    small: tuple[int, ...] = ()
    """Values for small instances, the most revealing first; by default those up to 3."""

    def list_small_values(self) -> tuple[int, ...]:
        return self.small or tuple(range(self.least, max(self.least, 3) + 1))


@dataclass(frozen=True)
class Flags:
    """The sort of truth values."""


@dataclass(frozen=True)
class Integers:
    """The sort of integers."""


@dataclass(frozen=True)
class Labels:
    """The sort of program counters: small natural numbers with names, which can only be compared."""

    names: type[IntEnum]


@dataclass(frozen=True)
class Ages:
    """The sort of message buffers: sets of ages from 0 to the parameter called ``bound``."""

    encoding: str
    bound: str


Sort: TypeAlias = Flags | Integers | Labels | Ages


@dataclass(frozen=True)
class Variable:
    """One component of the state.

    ``range`` is a claim about its values that a proof may use once it has proved it.  A variable that may grow forever
    has a ``cap``: behaviour must not depend on how far the value exceeds it.  A ghost serves only properties and
    proofs; a ghost with ``clock`` set is only ever reset or advanced by one.
    """

    name: str
    sort: Sort
    initial: Callable[[State], Any]
    range: Callable[[State], Truth] | None = None
    cap: Callable[[State], Number] | None = None
    ghost: bool = False
    clock: bool = False

    @property
    def has_range(self) -> bool:
        """Whether the model or the sort restricts the values."""
        return self.range is not None or isinstance(self.sort, Labels | Ages)

    def is_in_range(self, state: State) -> Truth:
        value = state[self.name]
        claims = [] if self.range is None else [self.range(state)]
        if isinstance(self.sort, Labels):
            claims.append(Or(*(value == name for name in self.sort.names)))
        elif isinstance(value, ColumnBuffer):
            claims.append(value.is_in_range())
        return And(*claims)

    def compute_initial_value(self, parameters: State) -> Any:
        """Compute the value in the initial state, and refuse one of another sort."""
        value = self.initial(parameters)
        if isinstance(self.sort, Ages):
            value = frozenset(value)
        match self.sort:
            case Flags():
                fits = is_truth(value)
            case Ages():
                fits = all(is_number(age) for age in value)
            case _:
                fits = not is_truth(value) and is_number(value)
        if not fits:
            raise UsageError(f"{self.name} starts as {shorten_value(value)}, which is of another sort")
        return value


def require_truth_value(
    what: str, holds: Callable[[State], Truth], place: SourceLocation | None = None
) -> Callable[[State], Truth]:
    """Wrap a predicate so that it raises an error unless it returns a truth value."""

    @wraps(holds)
    def evaluate_predicate(state: State) -> Truth:
        with record_misuse() as misused:
            value = holds(state)
        if misused:
            raise misused[0]  # the author's code caught it, but the value is still wrong
        if not is_truth(value):
            raise UsageError(
                f"{what} returns {type(value).__name__} {shorten_value(value)}, not a truth value",
                "return a comparison, or And, Or, Not, Implies of some",
                place,
            )
        return value

    return evaluate_predicate


def _require_number(what: str, compute: Callable[[State], Number]) -> Callable[[State], Number]:
    """Wrap a function so that it raises an error unless it returns a number."""
    if not callable(compute):
        raise UsageError(f"{what} is {shorten_value(compute)}, not a function of the state", "write lambda s: …")

    @wraps(compute)
    def compute_number(state: State) -> Number:
        value = compute(state)
        is_label = isinstance(value, IntEnum) or (isinstance(value, Symbolic) and not hasattr(value, "__add__"))
        is_scalar = hasattr(value, "dtype") and not value.shape
        if is_truth(value) or isinstance(value, Buffer) or is_label or is_scalar or not is_number(value):
            raise UsageError(f"{what} is {type(value).__name__} {shorten_value(value)}, not a number")
        return value

    return compute_number


def is_always_true(state: State) -> Truth:
    return True


@dataclass(frozen=True)
class Flag:
    """A choice between yes and no; it must be no where ``when`` does not hold."""

    name: str
    when: Callable[[State], Truth] = is_always_true

    def __post_init__(self) -> None:
        object.__setattr__(self, "when", require_truth_value(f"the condition of {self.name}", self.when))

    def list_conditions(self, state: State, value: Truth) -> tuple[Truth, ...]:
        """List what must hold for the choice to be allowed."""
        return (Implies(Not(self.when(state)), Not(value)),)

    def list_functions(self) -> tuple[tuple[str, Callable[[State], Any]], ...]:
        """List the author's functions, each with its role."""
        return (("the condition of", self.when),)


@dataclass(frozen=True)
class Subset:
    """A choice of some ages in the buffer called ``of``; it must be empty where ``when`` does not hold."""

    name: str
    of: str
    when: Callable[[State], Truth] = is_always_true

    def __post_init__(self) -> None:
        object.__setattr__(self, "when", require_truth_value(f"the condition of {self.name}", self.when))

    def list_conditions(self, state: State, value: Buffer) -> tuple[Truth, ...]:
        """List what must hold for the choice to be allowed."""
        return Implies(Not(self.when(state)), value.empty()), value.within(state[self.of])

    def list_functions(self) -> tuple[tuple[str, Callable[[State], Any]], ...]:
        """List the author's functions, each with its role."""
        return (("the condition of", self.when),)


@dataclass(frozen=True)
class Amount:
    """A choice of an integer from ``low`` to ``high``.

    Where ``high`` is less than ``low``, there is nothing to choose, so the phase cannot run.
    """

    name: str
    low: Callable[[State], Number]
    high: Callable[[State], Number]

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", _require_number(f"the least value of {self.name}", self.low))
        object.__setattr__(self, "high", _require_number(f"the greatest value of {self.name}", self.high))

    def list_conditions(self, state: State, value: Number) -> tuple[Truth, ...]:
        """List what must hold for the choice to be allowed."""
        return self.low(state) <= value, value <= self.high(state)

    def list_functions(self) -> tuple[tuple[str, Callable[[State], Any]], ...]:
        """List the author's functions, each with its role."""
        return ("the least value of", self.low), ("the greatest value of", self.high)


Choice: TypeAlias = Flag | Subset | Amount


@dataclass(frozen=True)
class Phase:
    name: str
    run: Callable[[State, Choices], Update]
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True)
class Property:
    """A claim about every reachable state."""

    name: str
    holds: Callable[[State], Truth]
    meaning: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "holds", require_truth_value(f"property {self.name}", self.holds))


@dataclass(frozen=True)
class StepProperty:
    """A claim about every round: about the state before it, its choices, and the state after it."""

    name: str
    holds: Callable[[State, Choices, State], Truth]
    meaning: str


@dataclass(frozen=True)
class System:
    """A model with its options chosen; engines work on systems."""

    name: str
    options: Mapping[str, str]
    parameters: tuple[Parameter, ...]
    variables: tuple[Variable, ...]
    phases: tuple[Phase, ...]
    properties: tuple[Property, ...]
    assumptions: tuple[Property, ...] = ()
    """Assumptions about the parameters."""
    liveness: tuple[Property, ...] = ()
    """Claims that hold in every fair run from some time on and forever."""
    fairness: tuple[Property, ...] = ()
    """Conditions that hold infinitely often in a fair run."""
    detector: Detector | None = None
    """The parts of a failure detector, if the system is one."""
    growing: tuple[GrowingLoop, ...] = ()
    """Runs that violate liveness although no state recurs; claims about these very phases."""
    worst: tuple[WorstRun, ...] = ()
    """Runs that violate a property wherever it can be violated; claims about these very phases."""
    cast: Cast | None = None
    """The processes and channels, for pictures of runs."""

    def __post_init__(self) -> None:
        names = [p.name for p in self.parameters] + [v.name for v in self.variables]
        choices = [choice for phase in self.phases for choice in phase.choices]
        self._check_names([*names, *(choice.name for choice in choices)])
        if not self.phases or all(variable.ghost for variable in self.variables):
            raise UsageError(f"{self.name} needs at least one phase and one variable that is not a ghost")
        check_unique(self.name, "phases", [(phase.name, phase.run) for phase in self.phases])
        for kind, claims in (
            ("properties", self.properties),
            ("assumptions", self.assumptions),
            ("liveness properties", self.liveness),
            ("fairness conditions", self.fairness),
        ):
            check_unique(self.name, kind, [(claim.name, claim.holds) for claim in claims])
        buffers = {v.name: v.sort for v in self.variables if isinstance(v.sort, Ages)}
        for choice in choices:
            if isinstance(choice, Subset) and choice.of not in buffers:
                raise UsageError(f"{self.name}: {choice.name} chooses from {choice.of}, which is not a buffer")
        values = {parameter.name: parameter.value for parameter in self.parameters}
        for name, sort in buffers.items():
            if sort.bound not in values:
                raise UsageError(f"{self.name}: {name} is bounded by {sort.bound}, which is not a parameter")
            if next(p.least for p in self.parameters if p.name == sort.bound) < 0:
                raise UsageError(f"{self.name}: {sort.bound} bounds the ages of {name}, so it must be at least 0")
            bound = values[sort.bound]
            if not isinstance(bound, Expression):
                check_encoding(sort.encoding, bound)
        if self.detector is not None:
            self.detector.check(self)
        if self.cast is not None:
            self.cast.check(self)

    def _check_names(self, names: Sequence[str]) -> None:
        """Refuse duplicate names, and names with another meaning on a state."""
        for name in names:
            if not name.isidentifier() or name.startswith("_") or hasattr(State, name) or name in _RESERVED:
                raise UsageError(f"{self.name} declares {name!r}, which cannot be the name of a value")
            if names.count(name) > 1:
                raise UsageError(f"{self.name} declares {name} more than once")

    def find_property(self, name: str) -> Property:
        return self._find_claim(name, self.properties, "property")

    def find_liveness_property(self, name: str) -> Property:
        return self._find_claim(name, self.liveness, "liveness property")

    def _find_claim(self, name: str, candidates: Sequence[Property], kind: str) -> Property:
        for candidate in candidates:
            if candidate.name == name:
                return candidate
        known = [candidate.name for candidate in candidates]
        raise UsageError(f"{self.name} has no {kind} {name}", suggest_name(name, known) if known else None)

    def list_ranges(self) -> tuple[Property, ...]:
        """List the claims about the variables' values, one property for each restricted variable."""
        return tuple(
            Property(f"range({variable.name})", variable.is_in_range, f"{variable.name} stays in its declared range")
            for variable in self.variables
            if variable.has_range
        )

    def phase(self, name: str) -> Phase:
        return next(phase for phase in self.phases if phase.name == name)

    def with_phase(self, name: str, run: Callable[[State, Choices], Update]) -> System:
        """Return the system with one phase replaced, and without growing loops and worst runs, which depend on it."""
        phases = tuple(replace(p, run=run) if p.name == name else p for p in self.phases)
        return replace(self, phases=phases, growing=(), worst=())

    def fix_parameters(self, values: Mapping[str, int]) -> System:
        """Return the system with these parameters fixed."""
        return replace(self, parameters=tuple(replace(p, value=values.get(p.name, p.value)) for p in self.parameters))

    def list_age_bounds(self) -> list[str]:
        """List the parameters that bound the ages of a buffer."""
        return sorted({v.sort.bound for v in self.variables if isinstance(v.sort, Ages)})

    def list_arbitrary(self) -> list[str]:
        """List the parameters without a value."""
        return [p.name for p in self.parameters if p.value is None]

    def compute_parameters(self, chosen: Mapping[str, Number] | None = None) -> dict[str, Number]:
        """Compute every parameter's value; arbitrary parameters take theirs from ``chosen``."""
        values: dict[str, Number] = {}
        for parameter in self.parameters:
            match parameter.value:
                case None:
                    values[parameter.name] = (chosen or {})[parameter.name]
                case Expression() as expression:
                    later = ", ".join(sorted(expression.collect_names() - set(values)))
                    if later:
                        raise UsageError(f"{parameter.name} = {expression} uses {later}, which must be declared first")
                    values[parameter.name] = expression.evaluate(values)
                case number:
                    values[parameter.name] = number
        return values

    def describe_parameters(self) -> dict[str, int | str]:
        """Describe every parameter for a report: its number if all are known, else ``symbolic`` or its expression."""
        if not self.list_arbitrary():
            return dict(self.compute_parameters())
        return {
            p.name: "symbolic" if p.value is None else p.value if isinstance(p.value, int) else str(p.value)
            for p in self.parameters
        }

    def compute_fixed_parameters(self) -> dict[str, int]:
        """Compute every parameter's number; refuse arbitrary parameters, too small values and violated assumptions."""
        arbitrary = self.list_arbitrary()
        if arbitrary:
            raise UsageError(
                f"{', '.join(arbitrary)} must be fixed for this command", "give numbers, or use bmc or induct"
            )
        values = self.compute_parameters()
        for parameter in self.parameters:
            if values[parameter.name] < parameter.least:
                raise build_minimum_error(parameter, values[parameter.name])
        for assumption in self.assumptions:
            if not assumption.holds(State(values)):
                where = ", ".join(f"{name} = {value}" for name, value in values.items())
                raise NoInstance(f"the assumption {assumption.name} does not hold for {where}")
        return values

    def run_phase(self, phase: Phase, state: State, choices: Mapping[str, Any]) -> tuple[State, Truth]:
        """Run a phase; return the state after it, and whether the choices were allowed."""
        with record_misuse() as misused:
            effect = phase.run(state, Choices(choices))
        if misused:
            raise misused[0]  # the author's code caught it, but the update is still wrong
        if not isinstance(effect, Update):
            raise UsageError(f"phase {phase.name} returns {type(effect).__name__}", "return update(...) from it")
        allowed = [effect.assume]
        for choice in phase.choices:
            allowed += choice.list_conditions(state, choices[choice.name])
        unknown = ", ".join(sorted(set(effect.changes) - {variable.name for variable in self.variables}))
        if unknown:
            raise UsageError(f"phase {phase.name} sets {unknown}, but {self.name} has no such variable")
        for variable in self.variables:
            if variable.name in effect.changes:
                _check_sort(phase, variable, effect.changes[variable.name], state)
        return state.changed(effect.changes), And(*allowed)


def _check_sort(phase: Phase, variable: Variable, value: Any, state: State) -> None:
    """Refuse a value of another sort, which engines would interpret differently."""
    match variable.sort:
        case Flags():
            fits = is_truth(value)
        case Ages(bound=bound):
            fits = isinstance(value, Buffer) and (value.delta is state[bound] or value.delta == state[bound]) is True
        case _:
            fits = not isinstance(value, Buffer) and not is_truth(value) and is_number(value)
    if not fits:
        raise UsageError(f"phase {phase.name} sets {variable.name} to {shorten_value(value)}, which is of another sort")


def build_label_error(variable: Variable, value: object) -> UsageError:
    return UsageError(
        f"{variable.name} is set to {value}, which is not one of its labels", "use the members of its enum"
    )


def build_minimum_error(parameter: Parameter, value: int) -> NoInstance:
    definition = f" = {parameter.value}" if isinstance(parameter.value, Expression) else ""
    return NoInstance(f"{parameter.name}{definition} must be at least {parameter.least}, got {value}")
