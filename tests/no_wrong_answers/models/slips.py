"""Slips of authors: conditions that are no functions of the state, put where authors' functions are."""

from __future__ import annotations

from dataclasses import dataclass

from tests.no_wrong_answers.models.conditions import (
    CAUGHT,
    CONDITIONS,
    IDENTITY,
    MEMORY,
    OUTSIDE,
    TEXT,
    TYPES,
    Condition,
)
from tests.no_wrong_answers.models.written import Parts

ALL = frozenset({"explore", "bmc", "induct", "verify-invariant"})
PROOFS = frozenset({"verify-invariant"})
SYMBOLIC = frozenset({"bmc", "induct", "verify-invariant"})


@dataclass(frozen=True)
class Slip:
    """A text with a slip, and the commands that evaluate the function it is in: they must refuse it."""

    parts: Parts
    read_by: frozenset[str] = ALL
    symbolic: bool = False
    """Whether Δ is to be arbitrary where a command allows it."""


def _in_phase(condition: Condition) -> Slip:
    return Slip(Parts(prelude=condition[0], jump=condition[1]))


def _in_assume(condition: Condition) -> Slip:
    """It forbids the choice that makes x jump, of symbols only."""
    return Slip(Parts(prelude=condition[0], jump="c.jump", assume=f"Or(Not(c.jump), {condition[1]})"))


def _in_when(condition: Condition) -> Slip:
    return Slip(Parts(prelude=condition[0], jump="c.jump", jump_when=condition[1]))


def _in_when_of_ages(condition: Condition) -> Slip:
    return Slip(Parts(prelude=condition[0], jump="Not(c.taken.empty())", taken_when=condition[1]))


def _in_range_of_choice(condition: Condition) -> Slip:
    return Slip(Parts(prelude=condition[0], jump="c.more > 0", most=f"If({condition[1]}, 1, 0)"))


def _in_claim(condition: Condition) -> Slip:
    """A part of the claim only: as a whole it is no constant."""
    prelude, slip = condition
    return Slip(
        Parts(prelude=prelude, jump="s.x == 2", claim=f"And(s.x >= 0, Or(Not({slip}), s.x < 3))", conjunct="s.x >= 0")
    )


def _in_premise(condition: Condition) -> Slip:
    prelude, slip = condition
    claim = f"And(s.x <= 9, Implies(And(s.x > 2, {slip}), s.x == 3))"
    return Slip(Parts(prelude=prelude, jump="s.x == 2", claim=claim, conjunct="s.x <= 9"))


def _in_range(condition: Condition) -> Slip:
    prelude, slip = condition
    within = f"And(s.x >= 0, s.x <= 9, Or(Not({slip}), s.x < 3))"
    read_by = ALL - {"explore", "bmc"}
    return Slip(Parts(prelude=prelude, jump="s.x == 2", range=within, claim="s.x < 10", conjunct="s.x < 10"), read_by)


def _in_conjunct(condition: Condition) -> Slip:
    prelude, slip = condition
    conjunct = f"And(s.x < 10, Or(Not({slip}), s.x < 3))"
    parts = Parts(proof_prelude=prelude, jump="s.x == 2", claim="s.x < 10", conjunct=conjunct)
    return Slip(parts, PROOFS)


def _in_initial(condition: Condition) -> Slip:
    """Of an arbitrary Δ, which is a number to some commands and a symbol to others."""
    prelude, slip = condition
    initial = f"If({slip}, 9, 0)".replace("s.x", "s.delta").replace("s.f", "s.delta")
    return Slip(Parts(prelude=prelude.replace("s.x", "s.delta"), initial=initial), SYMBOLIC, symbolic=True)


def _in_assumption(condition: Condition) -> Slip:
    prelude, slip = (text.replace("s.x", "s.delta") for text in condition)
    parts = Parts(
        prelude=prelude, initial="s.delta", following="s.x", range="s.x >= 0", claim="s.x > 5", conjunct="s.x > 5"
    )
    return Slip(replace_assumption(parts, f"Or({slip}, s.delta > 5)"), SYMBOLIC, symbolic=True)


def replace_assumption(parts: Parts, assumption: str) -> Parts:
    return Parts(**{**vars(parts), "assumption": assumption})


def _in_assumption_of_proof(condition: Condition) -> Slip:
    prelude, slip = (text.replace("s.x", "s.delta") for text in condition)
    parts = Parts(
        initial="s.delta",
        following="s.x",
        range="s.x >= 0",
        claim="s.x > 5",
        conjunct="s.x > 5",
        proof_prelude=prelude,
        proof_assumption=f"Or({slip}, s.delta > 5)",
    )
    return Slip(parts, PROOFS, symbolic=True)


def _in_cap(prelude: str, cap: str) -> Slip:
    """What is stored of x is cut at 3 of arrays, and at 100 of symbols."""
    parts = Parts(
        prelude=prelude,
        following="s.x + 1",
        range="s.x >= 0",
        cap=f", cap=lambda s: {cap}",
        claim="s.x != 5",
        conjunct="s.x >= 0",
    )
    return Slip(parts, frozenset({"explore"}))


def _some(conditions: dict[str, Condition], *names: str) -> dict[str, Condition]:
    return {name: conditions[name] for name in names}


_OF_STATES = (
    _some(IDENTITY, "is-false", "is-label", "match-false", "match-label", "id", "is-in-helper")
    | _some(TYPES, "isinstance", "type-is", "hasattr", "isinstance-in-generator")
    | _some(TEXT, "str", "f-string")
    | _some(CAUGHT, "attribute-error")
    | _some(MEMORY, "global-counter", "mutable-default", "nonlocal")
    | _some(OUTSIDE, "random", "environment")
)
_OF_PARAMETERS = (
    _some(TYPES, "isinstance", "type-is", "hasattr", "isinstance-in-helper", "class-of")
    | _some(CAUGHT, "attribute-error", "any-error")
    | _some(MEMORY, "global-counter", "count")
)
SLIPS: dict[str, Slip] = (
    {f"phase/{name}": _in_phase(condition) for name, condition in CONDITIONS.items()}
    | {f"assume/{name}": _in_assume(condition) for name, condition in _OF_STATES.items()}
    | {f"when/{name}": _in_when(condition) for name, condition in _OF_STATES.items()}
    | {f"most/{name}": _in_range_of_choice(condition) for name, condition in list(_OF_STATES.items())[::3]}
    | {f"when-of-ages/{name}": _in_when_of_ages(condition) for name, condition in list(_OF_STATES.items())[::3]}
    | {f"claim/{name}": _in_claim(condition) for name, condition in _OF_STATES.items()}
    | {f"premise/{name}": _in_premise(condition) for name, condition in list(_OF_STATES.items())[::2]}
    | {f"range/{name}": _in_range(condition) for name, condition in list(_OF_STATES.items())[::2]}
    | {f"conjunct/{name}": _in_conjunct(condition) for name, condition in _OF_STATES.items()}
    | {f"initial/{name}": _in_initial(condition) for name, condition in _OF_PARAMETERS.items()}
    | {f"assumption/{name}": _in_assumption(condition) for name, condition in _OF_PARAMETERS.items()}
    | {f"assumption-of-proof/{name}": _in_assumption_of_proof(c) for name, c in _OF_PARAMETERS.items()}
    | {
        "cap/hasattr": _in_cap("", '3 if hasattr(s.x, "dtype") else 100'),
        "cap/type": _in_cap("", '3 if type(s.x).__name__ == "ndarray" else 100'),
        "cap/getattr": _in_cap("", '100 if getattr(s.x, "dtype", None) is None else 3'),
        "cap/text": _in_cap("", '3 if str(s.x).startswith("[") else 100'),
    }
)
