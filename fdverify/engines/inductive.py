"""Inductive invariants: what has to be shown, as questions in SMT-LIB text.

An invariant is the conjunction of the author's conjuncts and the ranges of the variables.  It is inductive if every
conjunct holds initially (initiation) and after every round from a state in which all of them hold (consecution); it is
a proof if it implies the goal, or, of a liveness goal, every premise of the argument for it: some are about the states
in which all conjuncts hold, some about the rounds from there.  With ``k`` above 1, conjuncts hold in the first k states
of every run, and after every k states in a row in which all of them hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fdverify.errors import UsageError
from fdverify.liveness.argument import Argument
from fdverify.logic import Not, Truth
from fdverify.models.names import check_unique
from fdverify.models.system import Choices, Property, State, StepProperty, System
from fdverify.smt.products import product_lemmas
from fdverify.smt.script import Assertion, Script, printed
from fdverify.symbolic.unroll import Unrolling
from fdverify.symbolic.values import truth
from fdverify.traces.run import Run


class Kind(StrEnum):
    INITIATION = "initiation"
    CONSECUTION = "consecution"
    GOAL = "goal"
    PREMISE = "premise"
    VACUITY = "vacuity"


VACUITY = (ASSUMPTIONS, PHASES, GOAL_PREMISE, NO_DEAD_END) = ("assumptions", "phases", "goal-premise", "no-dead-end")
"""The obligations of every proof that show that it says something."""


@dataclass(frozen=True)
class Invariant:
    """A goal and the conjuncts that are to prove it of a system."""

    system: System
    goal: Property | Argument
    authored: tuple[Property, ...]
    k: int = 1
    without: frozenset[str] = frozenset()
    """Conjuncts and ranges that are left out, because they fail."""
    doubted: frozenset[str] = frozenset()
    """Conjuncts that are meant to fail: each is shown to, and is a hypothesis of nothing but itself."""

    def __post_init__(self) -> None:
        # Without a round, every claim is preserved.
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1:
            raise UsageError(f"k must be a number from 1 on, got {self.k!r}")
        check_unique("the proof", "conjuncts", [(each.name, each.holds) for each in self.authored])

    @property
    def conjuncts(self) -> tuple[Property, ...]:
        return tuple(each for each in (*self.system.ranges(), *self.authored) if each.name not in self.without)

    def hypotheses(self, kind: Kind | None = None, about: str = "") -> tuple[Property, ...]:
        """What may be assumed to show an obligation: all conjuncts but those in doubt, and the one that it is about.

        Without an obligation, what may be assumed for any.
        """
        own = about if kind is Kind.CONSECUTION else None  # the goal may have the name of a conjunct
        return tuple(each for each in self.conjuncts if each.name not in self.doubted or each.name == own)

    @property
    def conclusions(self) -> tuple[Property | StepProperty, ...]:
        """What the invariant is to imply: the goal, or the premises of the argument for it."""
        return self.goal.premises if isinstance(self.goal, Argument) else (self.goal,)

    @property
    def conclusion_kind(self) -> Kind:
        return Kind.PREMISE if isinstance(self.goal, Argument) else Kind.GOAL


@dataclass(frozen=True)
class Outlined:
    """An obligation before it is made: its name, its kind, and the conjunct (or the goal) it is about."""

    name: str
    kind: Kind
    about: str


@dataclass(frozen=True)
class Question:
    """One obligation: of which kind, about which conjunct (or the goal), after how many rounds, and its text."""

    name: str
    kind: Kind
    about: str
    rounds: int
    script: Script


@dataclass(frozen=True)
class Reached:
    """A run to a state in which the claim is false; or none: in no run at all (``complete``), or within ``rounds``."""

    run: Run | None
    complete: bool
    rounds: int


@dataclass(frozen=True)
class Broken:
    """A replayed step out of the invariant (or a run from the start), and what was found out about reaching it."""

    about: str
    step: Run
    reached: Reached | None
    breaks_goal: bool


@dataclass(frozen=True)
class Unbroken:
    """There is no such step after all: with more ages spelled out the obligation is proved."""


@dataclass(frozen=True)
class Undecided:
    reason: str


def outline(invariant: Invariant) -> list[Outlined]:
    """All obligations, in the order in which they are made and shown."""
    initially = [(Kind.INITIATION, _initially(depth)) for depth in range(invariant.k)]
    inductive = [
        Outlined(_name(conjunct, kind, suffix), kind, conjunct.name)
        for kind, suffix in (*initially, (Kind.CONSECUTION, _STEP))
        for conjunct in invariant.conjuncts
    ]
    kind = invariant.conclusion_kind
    concluded = [Outlined(_name(each, kind, ""), kind, each.name) for each in invariant.conclusions]
    return [*inductive, *concluded, *(Outlined(name, Kind.VACUITY, invariant.goal.name) for name in VACUITY)]


_STEP = "step"


def _initially(depth: int) -> str:
    return "init" if depth == 0 else f"init-{depth}"


def _name(about: Property | StepProperty, kind: Kind, suffix: str) -> str:
    if suffix:
        return f"{about.name}-{suffix}"
    return about.name if kind is Kind.PREMISE else kind.value


def questions(invariant: Invariant) -> list[Question]:
    """All obligations but those against vacuity, in the order of the conjuncts."""
    initiation = [found for depth in range(invariant.k) for found in _initiation(invariant, depth)]
    # One unrolling for all: states are asked about before there is a round in it, rounds when there is one.
    unrolling = Unrolling(invariant.system, anywhere=True)
    hypotheses, own = _sorted_out(invariant, _unchanging(invariant, unrolling.states[0]))
    step, ages = unrolling.round_facts(), unrolling.age_facts(unrolling.closure)
    kind = invariant.conclusion_kind
    of_states = [_concluded(unrolling, each) for each in invariant.conclusions if isinstance(each, Property)]
    concluded = _questions(kind, "", 0, step, hypotheses + ages, of_states)
    for number in range(invariant.k):
        if number > 0:
            more, its_own = _sorted_out(invariant, _all_hold(invariant.conjuncts, unrolling.states[-1]))
            hypotheses += more
            own = {name: held + its_own[name] for name, held in own.items()}
        unrolling.extend()
        step, ages = step + unrolling.round_facts(), ages + unrolling.age_facts(unrolling.closure)
        if number == 0:
            # A claim about rounds must hold of every one, so also of the first ones, before which there are no others.
            of_rounds = [
                _concluded(unrolling, each) for each in invariant.conclusions if isinstance(each, StepProperty)
            ]
            concluded += _questions(kind, "", 1, step, hypotheses + ages, of_rounds)
    parts = [_part(unrolling, conjunct, own.get(conjunct.name, [])) for conjunct in invariant.conjuncts]
    consecution = _questions(Kind.CONSECUTION, _STEP, invariant.k, step, hypotheses + ages, parts)
    by_name = {question.about: question for question in concluded}
    return [*initiation, *consecution, *(by_name[each.name] for each in invariant.conclusions)]


def _unchanging(invariant: Invariant, state: State) -> list[Any]:
    """All conjuncts, each evaluated twice: one that says something else each time is no claim."""
    first, again = _all_hold(invariant.conjuncts, state), _all_hold(invariant.conjuncts, state)
    for conjunct, once, twice in zip(invariant.conjuncts, first, again, strict=True):
        if not once.eq(twice):
            raise _changing(conjunct)
    return first


def _sorted_out(invariant: Invariant, held: list[Any]) -> tuple[list[Any], dict[str, list[Any]]]:
    """Of what all conjuncts say of a state, what every obligation may assume, and what each one in doubt says."""
    named = [(conjunct.name, claim) for conjunct, claim in zip(invariant.conjuncts, held, strict=True)]
    doubted = invariant.doubted
    return [claim for name, claim in named if name not in doubted], {
        name: [claim] for name, claim in named if name in doubted
    }


def _changing(claim: Property | StepProperty) -> UsageError:
    return UsageError(f"{claim.name} says something else each time it is evaluated", "let it depend on the state alone")


@dataclass(frozen=True)
class _Part:
    """What one conclusion needs on its own: its negation, hypotheses that no other has, and what is known of ages."""

    about: Property | StepProperty
    negated: Any
    facts: list[Any]


def _part(unrolling: Unrolling, about: Property | StepProperty, own: Sequence[Any] = ()) -> _Part:
    holds = holds_at_end(unrolling, about)
    negated = truth(Not(holds))
    return _Part(about, negated, [*own, *unrolling.age_facts(unrolling.closure.copy())])


def _concluded(unrolling: Unrolling, about: Property | StepProperty) -> _Part:
    """The same of what is to be implied, evaluated once more as conjuncts are."""
    part = _part(unrolling, about)
    again = truth(Not(holds_at_end(unrolling, about)))
    unrolling.book.take_mentions()  # they are known from the first time
    if not part.negated.eq(again):
        raise _changing(about)
    return part


def holds_at_end(unrolling: Unrolling, claim: Property | StepProperty) -> Truth:
    """Whether a claim holds of the last state, or of the last round."""
    if isinstance(claim, Property):
        return claim.holds(unrolling.states[-1])
    before, after = unrolling.states[-2:]
    return claim.holds(before, Choices(unrolling.choices[-1]), after)


def assumed(invariant: Invariant, kind: Kind, about: str, state: State) -> list[Any]:
    """What the hypotheses of an obligation say of a state."""
    return _all_hold(invariant.hypotheses(kind, about), state)


def _all_hold(conjuncts: Sequence[Property], state: State) -> list[Any]:
    return [truth(conjunct.holds(state)) for conjunct in conjuncts]


def from_start(invariant: Invariant, rounds: int) -> Unrolling:
    unrolling = Unrolling(invariant.system)
    for _ in range(rounds):
        unrolling.extend()
    return unrolling


def _initiation(invariant: Invariant, depth: int) -> list[Question]:
    unrolling = from_start(invariant, depth)
    step, ages = unrolling.round_facts(), unrolling.age_facts(unrolling.closure)
    parts = [_part(unrolling, conjunct) for conjunct in invariant.conjuncts]
    return _questions(Kind.INITIATION, _initially(depth), depth, step, ages, parts)


def _questions(
    kind: Kind, suffix: str, rounds: int, step: list[Any], hypotheses: list[Any], parts: list[_Part]
) -> list[Question]:
    # Conclusions differ in little, so what they share is printed once.
    texts = iter(printed([*step, *hypotheses, *(term for part in parts for term in (*part.facts, part.negated))]))

    def take(number: int) -> tuple[Assertion, ...]:
        return tuple(next(texts) for _ in range(number))

    step_texts, shared = take(len(step)), take(len(hypotheses))
    with_products = [assertion for assertion in (*step_texts, *shared) if "(*" in assertion.formula]
    found = []
    for part in parts:
        facts, (negated,) = take(len(part.facts)), take(1)
        name = _name(part.about, kind, suffix)
        lemmas = product_lemmas([*with_products, *facts, negated])
        script = Script(f"{name} ({kind})", step_texts, (*shared, *facts, *lemmas), negated)
        found.append(Question(name, kind, part.about.name, rounds, script))
    return found
