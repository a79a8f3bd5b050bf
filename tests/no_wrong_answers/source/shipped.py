"""Every function of a system or a proof, as the reader of sources takes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from fdverify.author_code.author_functions import AuthorFunction
from fdverify.models.model import Model, OptionValue
from fdverify.models.system import System
from fdverify.proofs.proof import Proof, get_proofs

ROOT = Path(__file__).parents[3]


def functions_of(system: System) -> Iterator[AuthorFunction]:
    for phase in system.phases:
        yield AuthorFunction("phase", phase.name, phase.run)
        for choice in phase.choices:
            for role, function in choice.list_functions():
                yield AuthorFunction(role, choice.name, function)
    for variable in system.variables:
        yield AuthorFunction("initial value", variable.name, variable.initial)
        for part, limit in (("range", variable.range), ("cap", variable.cap)):
            if limit is not None:
                yield AuthorFunction(part, variable.name, limit)
    for claim in (*system.properties, *system.assumptions, *system.liveness, *system.fairness):
        yield AuthorFunction("property", claim.name, claim.holds)
    for part in ("suspects", "correct", "in_transit", "hears") if system.detector is not None else ():
        yield AuthorFunction("detector function", part, getattr(system.detector, part))
    for worst in system.worst:
        for part in ("within", "left", "plan"):
            yield AuthorFunction("plan", part, getattr(worst, part))
    for growing in system.growing:
        for part in ("starts", "within", "left", "plan"):
            yield AuthorFunction("plan", part, getattr(growing, part))


def functions_in_proof(proof: Proof) -> Iterator[AuthorFunction]:
    yield from (AuthorFunction("conjunct", name, function) for name, function in proof.written.items())
    yield from (AuthorFunction("term", name, function) for name, function in proof.terms.items())
    for role, function in (("quantity", proof.bounded), ("bound", proof.bounded_by)):
        if function is not None:
            yield AuthorFunction(role, role, function)
    yield from functions_of(proof.build_system({}, {}))


def functions_of_model(model: Model) -> Iterator[AuthorFunction]:
    """Of its systems: as it is by default, with parameters that are fixed, and with each option in turn."""
    default: dict[str, OptionValue] = {option.name: option.default for option in model.options}
    for fixed in (None, 2):
        yield from functions_of(model.instantiate({p.name: fixed for p in model.parameters}, default))
    for option in model.options:
        values = (False, True) if isinstance(option.default, bool) else option.choices
        for value in values:
            parameters = {p.name: 1 for p in model.parameters}
            yield from functions_of(model.instantiate(parameters, {**default, option.name: value}))


def functions_in(module: ModuleType) -> Iterator[AuthorFunction]:
    """Of all models and proofs in a file."""
    for proof in get_proofs(module):
        yield from functions_in_proof(proof)
    for value in vars(module).values():
        if isinstance(value, Model):
            yield from functions_of_model(value)
