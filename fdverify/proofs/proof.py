"""``Proof`` and its decorators, which make up a proof file.  For example:

proof = Proof("chandra-toueg", goal="strong-accuracy", variant="ivy")

@proof.invariant
def trusted(s):
    \"\"\"The receiver has not waited long enough to suspect.\"\"\"
    return And(Not(s.suspected), s.waiting_time < s.timeout)
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from fdverify.detectors.model_catalogue import find_model, is_file_reference
from fdverify.errors import SourceLocation, UsageError, add_place, suggest_name
from fdverify.liveness.argument import Argument, Terms, require_sort
from fdverify.liveness.goals import Always, EventuallyAlways, LeadsTo, TemporalGoal, check_goal, resolve_goal
from fdverify.liveness.reductions import find_reduction
from fdverify.logic import Truth, shorten_value
from fdverify.models.loading import blame_errors_on, is_user_module
from fdverify.models.model import Model, OptionValue
from fdverify.models.system import Property, State, System, require_truth_value
from fdverify.obligations.inductive import Invariant
from fdverify.verdict import Verdict

if TYPE_CHECKING:
    from fdverify.author_code.author_functions import AuthorCall

Value = TypeVar("Value")
Predicate = TypeVar("Predicate", bound=Callable[[Any], Truth])
Function = TypeVar("Function", bound=Callable[[Any], Any])


class Proof:
    """A goal about a model, and the conjuncts that prove it.  Parameters are arbitrary unless the check fixes them.

    ``goal`` names a property of the model; for a goal of your own, write a function and decorate it with
    ``@proof.goal``.  A goal about whole runs, ``EventuallyAlways(...)`` or ``LeadsTo(...)``, is proved ``by`` a
    reduction, which may need terms.  ``bounds`` names the quantity whose bound the proof shows to be tight, and
    ``variants`` the variants of the model that it is about, if not all.  The other keywords are options of the model.
    """

    def __init__(
        self,
        model: str | Model,
        *,
        goal: str | TemporalGoal | None = None,
        by: str | None = None,
        bounds: str | None = None,
        variants: tuple[str, ...] = (),
        **options: OptionValue,
    ) -> None:
        frame = _find_loading_frame()
        self.source = SourceLocation.from_frame(frame)
        # Registered in the module that makes it, so that a proof without a name of its own is found, too.
        frame.f_globals.setdefault(_PROOFS, []).append(self)
        self.model = self._add_location(lambda: self._find_model(model)) if isinstance(model, str) else model
        self.options = options
        self.bounds = bounds
        self.variants = variants
        self._goal_name = goal.claim if isinstance(goal, Always) else goal
        self._goal: Property | None = None
        self._reduction = self._add_location(lambda: find_reduction(goal, by))
        if goal is not None:
            self._add_location(lambda: check_goal(goal))
        self.terms: dict[str, Callable[[State], Any]] = {}
        self.bounded: Callable[[State], Any] | None = None
        self.bounded_by: Callable[[State], Any] | None = None
        """The quantity that the proof bounds, and its bound, if the proof declares them."""
        self.meaning_of_bound = ""
        self._assumptions: list[Property] = []
        self._conjuncts: list[Property] = []
        self._predicates: list[Callable[[Any], Truth]] = []
        self.written: dict[str, Callable[[Any], Truth]] = {}
        self.sources: dict[str, SourceLocation] = {}
        self.roles: dict[str, str] = {}
        """The role of each registered function: invariant, goal, assumption, term, quantity or bound."""
        known = [option.name for option in self.model.options]
        for name in options:
            if name not in known:
                raise UsageError(f"{self.model.name} has no option {name}", suggest_name(name, known), self.source)

    def _find_model(self, reference: str) -> Model:
        """Find a model by name or file; files beside the proof come first."""
        beside = self.source.file.parent / reference.rpartition(":")[0]
        if is_file_reference(reference) and beside.is_file():
            return find_model(str(self.source.file.parent / reference))
        return find_model(reference)

    def invariant(self, predicate: Predicate) -> Predicate:
        """Add a conjunct: a function of the state whose docstring says in one line what it means."""
        claim = self._build_claim(predicate, "invariant")
        self._conjuncts.append(claim)
        self._predicates.append(predicate)
        return predicate

    def predicates(self) -> list[Callable[[Any], Truth]]:
        """Return the functions of the conjuncts, for another proof to reuse."""
        return list(self._predicates)

    def invariants(self, *predicates: Callable[[Any], Truth]) -> None:
        """Add conjuncts that are defined elsewhere."""
        for predicate in predicates:
            self.invariant(predicate)

    def goal(self, predicate: Predicate) -> Predicate:
        """Set the goal: the function of the state that is to be proved."""
        if self._goal is not None or self._goal_name is not None:
            raise UsageError("the proof has two goals", "keep one of them", locate_function(predicate))
        self._goal = self._build_claim(predicate, "goal")
        return predicate

    def assumption(self, predicate: Predicate) -> Predicate:
        """Add an assumption: a function of the parameters ``s.delta``, ``s.phi``, …"""
        self._assumptions.append(self._build_claim(predicate, "assumption"))
        return predicate

    def term(self, function: Function) -> Function:
        """Define the term of this name that the reduction needs: a function of the state."""
        source, name = locate_function(function), getattr(function, "__name__", "")
        known = {} if self._reduction is None else self._reduction.terms
        if name not in known:
            whose = "a goal about states" if self._reduction is None else self._reduction.name
            raise UsageError(f"{whose} needs no {name}", suggest_name(name, known) if known else None, source)
        self._register_function(function, "term")
        self.terms[name] = require_sort(known[name].sort, name, _attribute_errors(function, source), source)
        return function

    def quantity(self, function: Function) -> Function:
        """Declare the quantity that the proof bounds, for ``fdverify bounds``: a function of the state."""
        self.bounded = _attribute_errors(function, self._register_function(function, "quantity"))
        return function

    def bound(self, function: Function) -> Function:
        """Declare the bound that the proof shows, for ``fdverify bounds``: a function of the parameters."""
        source = self._register_function(function, "bound")
        self.meaning_of_bound = self._read_meaning(function, "bound", source)
        self.bounded_by = _attribute_errors(function, source)
        return function

    def build_invariant(
        self, parameters: Mapping[str, int], options: Mapping[str, OptionValue], k: int = 1
    ) -> Invariant:
        """Build the invariant to check.  These parameters are fixed, and these options override those of the file."""
        system = self.build_system(parameters, options)
        if self._goal is None and self._goal_name is None:
            raise UsageError(
                "the proof has no goal", 'write Proof(..., goal="NAME") or decorate one with @proof.goal', self.source
            )
        if not self._conjuncts:
            raise UsageError("the proof has no invariant", "decorate functions with @proof.invariant", self.source)
        goal = self._add_location(lambda: self._build_goal(system))
        return Invariant(system, goal, tuple(self._conjuncts), k, doubted=self.get_doubted())

    def list_author_functions(self, invariant: Invariant) -> list[AuthorCall]:
        """List the author's functions that a check of this proof relies on, except those of the model."""
        from fdverify.author_code.author_functions import AuthorCall

        goal = invariant.goal
        goals = goal.claims if isinstance(goal, Argument) else (goal,)
        measured = {"quantity": self.bounded, "bound": self.bounded_by}
        return [
            *(AuthorCall.from_state_function("goal", claim.name, claim.holds) for claim in goals),
            *(AuthorCall.from_state_function("invariant", claim.name, claim.holds) for claim in invariant.authored),
            *(AuthorCall.from_state_function("term", name, term) for name, term in self.terms.items()),
            *(
                AuthorCall.from_state_function("the", name, function)
                for name, function in measured.items()
                if function is not None
            ),
        ]

    def _build_goal(self, system: System) -> Property | Argument:
        if self._goal is not None:
            return self._goal
        if self._reduction is None:
            return self._resolve_claim(system, self._goal_name)
        for name, term in self._reduction.terms.items():
            if name not in self.terms:
                hint = "write a function of that name and decorate it with @proof.term"
                raise UsageError(f"{self._reduction.name} needs {name}: {term.meaning}", hint)
        assert isinstance(self._goal_name, EventuallyAlways | LeadsTo), "only those have a reduction"
        terms = Terms(system, dict(self.terms), self.source)
        return self._reduction.argue(
            terms, resolve_goal(self._goal_name, lambda claim: self._resolve_claim(system, claim))
        )

    def _resolve_claim(self, system: System, claim: Any) -> Property:
        """Resolve a claim of a goal: a property, the name of one, or a function of the state with a docstring."""
        if isinstance(claim, str | Property):
            return system.find_property(claim) if isinstance(claim, str) else claim
        source = locate_function(claim)
        meaning = self._read_meaning(claim, "goal", source)
        return Property(
            claim.__name__,
            require_truth_value(f"goal {claim.__name__}", _attribute_errors(claim, source), source),
            meaning,
        )

    def build_system(self, parameters: Mapping[str, int], options: Mapping[str, OptionValue]) -> System:
        """Instantiate the model under this proof's assumptions."""
        parameters, options = self._separate_options(parameters, options)
        for name, known in (
            *((name, [p.name for p in self.model.parameters]) for name in parameters),
            *((name, [o.name for o in self.model.options]) for name in options),
        ):
            if name not in known:
                place = SourceLocation(self.source.file)
                raise UsageError(f"{self.model.name} has no --{name}", suggest_name(name, known), place)
        values = {parameter.name: parameters.get(parameter.name) for parameter in self.model.parameters}
        defaults = {option.name: option.default for option in self.model.options}
        chosen = {**defaults, **self.options, **options}
        return self.add_assumptions(self._add_location(lambda: self.model.instantiate(values, chosen)))

    def _separate_options(
        self, parameters: Mapping[str, int], options: Mapping[str, OptionValue]
    ) -> tuple[dict[str, int], dict[str, OptionValue]]:
        """Move values that have the name of an option to the options: a number is an expression, too."""
        moved = {option.name for option in self.model.options} & parameters.keys()
        kept = {name: value for name, value in parameters.items() if name not in moved}
        return kept, {**options, **{name: str(parameters[name]) for name in moved}}

    def add_assumptions(self, system: System) -> System:
        """Add this proof's assumptions, and the ghost variables that its reduction reads, to the system."""
        reduction = self._reduction
        if reduction is not None:
            system = self._add_location(lambda: reduction.prepare(system))
        return replace(system, assumptions=(*system.assumptions, *self._assumptions))

    def describe_assumptions(self) -> dict[str, str]:
        """Return the meaning of each assumption by name."""
        return {assumption.name: assumption.meaning for assumption in self._assumptions}

    def get_expected_verdicts(self) -> dict[str, Verdict]:
        """Return the expected verdict of each claim that this file marks as meant to fail."""
        marks = {name: getattr(predicate, _EXPECTED, None) for name, predicate in self.written.items()}
        return {name: mark for name, mark in marks.items() if mark and self.sources[name].file == self.source.file}

    def get_doubted(self) -> frozenset[str]:
        """Return the names of the conjuncts that are meant to fail; no other obligation may assume them."""
        return frozenset(name for name in self.get_expected_verdicts() if self.roles[name] == "invariant")

    def locate_definitions(self) -> dict[str, SourceLocation]:
        """Locate the ``def`` line of each claim, which may be below its decorators."""
        return {name: _locate_definition(predicate, self.sources[name]) for name, predicate in self.written.items()}

    def get_hints(self) -> dict[str, str]:
        """Return the hint for each claim that has one in this file; a hint in another file is for that file's proof."""
        texts = {name: getattr(predicate, _HINT, None) for name, predicate in self.written.items()}
        return {name: text for name, text in texts.items() if text and self.sources[name].file == self.source.file}

    def get_lemmas(self) -> tuple[Property, ...]:
        """Return the conjuncts that are not meant to fail, as lemmas for another goal."""
        return tuple(conjunct for conjunct in self._conjuncts if conjunct.name not in self.get_doubted())

    def _add_location(self, work: Callable[[], Value]) -> Value:
        """Do the work; a usage error without a place gets the line where the proof is made."""
        try:
            return work()
        except UsageError as error:
            placed = add_place(error, self.source)
            if placed is error:
                raise
            raise placed from error

    def _build_claim(self, predicate: Callable[[Any], Truth], role: str) -> Property:
        source = self._register_function(predicate, role)
        name = predicate.__name__
        self.written[name] = predicate
        holds = require_truth_value(f"{role} {name}", _attribute_errors(predicate, source), source)
        return Property(name, holds, self._read_meaning(predicate, role, source))

    def _register_function(self, function: Callable[[Any], Any], role: str) -> SourceLocation:
        """Register a function under its name, which must be new, and return its location."""
        source, name = locate_function(function), function.__name__
        if name in self.sources:
            raise UsageError(f"the name {name} is already used at {self.sources[name]}", "rename one", source)
        if not name.isidentifier():
            raise UsageError(f"the {role} needs a name", "write it with def", source)
        try:
            inspect.signature(function).bind(None)
        except TypeError:
            message = f"{name} must be a function of the state alone"
            raise UsageError(message, f"write def {name}(s)", source) from None
        self.sources[name] = source
        self.roles[name] = role
        return source

    def _read_meaning(self, function: Callable[[Any], Any], role: str, source: SourceLocation) -> str:
        """Return the first line of the docstring, which must not be missing."""
        meaning = (inspect.getdoc(function) or "").partition("\n")[0].strip()
        if not meaning:
            message = f"{role} {function.__name__} needs its meaning in one line"
            raise UsageError(message, "give it a docstring", source)
        return meaning


_PROOFS = "__fdverify_proofs__"


def get_proofs(module: ModuleType) -> list[Proof]:
    """Return all proofs that a module has made, in order."""
    return list(vars(module).get(_PROOFS, []))


_EXPECTED = "fdverify_expected_verdict"
_EXPECTABLE = (Verdict.NOT_INDUCTIVE, Verdict.VIOLATED, Verdict.VACUOUS)


def expect_verdict(verdict: str) -> Callable[[Predicate], Predicate]:
    """Mark a conjunct, a goal or an assumption that is meant to fail with this verdict, for the pytest plugin."""
    if verdict not in _EXPECTABLE:
        message = f"a claim cannot be expected to be {verdict}"
        raise UsageError(message, f"one of {', '.join(_EXPECTABLE)}", _locate_caller())

    def mark_predicate(predicate: Predicate) -> Predicate:
        setattr(predicate, _EXPECTED, Verdict(verdict))
        return predicate

    return mark_predicate


_HINT = "fdverify_hint"


def hint(text: str) -> Callable[[Predicate], Predicate]:
    """Attach to a conjunct or a goal one line of advice, which is shown when it fails."""
    if not isinstance(text, str) or not text.strip() or len(text.splitlines()) != 1:
        raise UsageError("a hint is one line of text", place=_locate_caller())

    def attach_hint(predicate: Predicate) -> Predicate:
        setattr(predicate, _HINT, text.strip())
        return predicate

    return attach_hint


def is_stray(value: object, proof: Proof) -> bool:
    """Tell whether a value is a function of the proof's file that is expected to fail but is no claim of the proof."""
    marked = inspect.isfunction(value) and hasattr(value, _EXPECTED)
    return marked and locate_function(value).file == proof.source.file and value not in proof.written.values()


def _attribute_errors(function: Callable[[Any], Any], source: SourceLocation) -> Callable[[State], Any]:
    """Wrap the function so that every error it raises names the author's file and line."""

    @wraps(function)
    def evaluate_function(state: State) -> Any:
        with blame_errors_on(source.file):
            return function(state)

    return evaluate_function


def locate_function(predicate: Any) -> SourceLocation:
    """Return where a function is defined; its first line may be that of a decorator."""
    code = getattr(predicate, "__code__", None)
    if code is None:
        message = f"{shorten_value(predicate)} is not a function"
        raise UsageError(message, "decorate a function of the state", _locate_caller())
    return SourceLocation.from_code(code)


def _locate_definition(function: Callable[[Any], Any], source: SourceLocation) -> SourceLocation:
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):  # there is no source file
        return source
    offsets = (offset for offset, line in enumerate(lines) if line.lstrip().startswith("def "))
    return SourceLocation(source.file, first + next(offsets, 0))


def _locate_caller() -> SourceLocation:
    return SourceLocation.from_frame(_find_calling_frame())


def _find_loading_frame() -> FrameType:
    """Find the module frame of the user's file that is being loaded, or else the calling frame."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "<module>":
            if is_user_module(frame.f_globals.get("__name__", "")):
                return frame
            break
        frame = frame.f_back
    return _find_calling_frame()


def _find_calling_frame() -> FrameType:
    """Find the nearest frame outside this file."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename == __file__ and frame.f_back is not None:
        frame = frame.f_back
    return frame
