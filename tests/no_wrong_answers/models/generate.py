"""Random small models and proofs about them, as Python files; the same number gives the same files."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

from tests.no_wrong_answers.models.expressions import Declared
from tests.no_wrong_answers.models.oracle import Instance, Plain, Search
from tests.no_wrong_answers.models.sketch import Sketch

MOST_STATES = 400
MOST_WORK = 6000
"""How many states and choices are looked at to decide whether conjuncts are inductive."""
LEAST, MOST = -8, 12
"""Where the integers of generated models are, whatever happens to them."""


@dataclass(frozen=True)
class Generated:
    """A model, a proof about it, and the parameters to explore it at."""

    seed: int
    model: str
    proof: str
    parameters: Mapping[str, int]
    symbolic: bool
    """Whether the other engines are to take the parameters as arbitrary."""
    finite: bool
    """Whether the declared ranges allow finitely many states only."""
    k: int

    @property
    def name(self) -> str:
        return f"random_{self.seed}"

    def write(self, folder: Path) -> tuple[Path, Path]:
        model, proof = folder / f"{self.name}.py", folder / f"proof_{self.seed}.py"
        model.write_text(self.model)
        proof.write_text(self.proof)
        return model, proof


def generate(seed: int) -> Generated:
    """The model of this number: the first attempt that is small enough to be searched."""
    for attempt in range(200):
        found = _finished(Sketch(seed, Random(f"{seed}.{attempt}")))
        if found is not None:
            return found
    raise AssertionError(f"no model of seed {seed} is small enough")


def _finished(sketch: Sketch) -> Generated | None:
    """The model with a claim and a proof, or none if it is too large."""
    if all(variable.kind == "clock" for variable in sketch.variables):
        return None
    candidates = [sketch.writer(reads_clocks=True).truth() for _ in range(12)]
    module = load(f"candidates_{sketch.seed}", sketch.system_text(candidates))
    values = sketch.parameters
    instance = Instance(module.MODEL.build(**values), values)
    if not instance.is_admissible() or sketch.work(instance.system) > MOST_WORK:
        return None
    search = Search(instance, instance.system.properties[0], most_states=MOST_STATES).run(past_violation=True)
    if not search.complete:
        return None
    reached = search.reached()
    broken = {
        text: _first_violation(instance, claim, search)
        for text, claim in zip(candidates, instance.system.properties, strict=True)
    }
    true = [text for text, depth in broken.items() if depth is None]
    # Of claims that are false, those that become so late are worth more.
    false = sorted((text for text in broken if text not in true), key=lambda text: -(broken[text] or 0))
    wanted = true if sketch.random.random() < 0.5 else false
    claim = (wanted or candidates)[0]
    return Generated(
        sketch.seed,
        sketch.system_text([claim]),
        _proof(sketch, claim, true, candidates, reached),
        values,
        sketch.symbolic and bool(values),
        sketch.finite,
        sketch.random.choice((1, 1, 1, 1, 1, 2)),
    )


def _proof(sketch: Sketch, claim: str, true: list[str], candidates: list[str], reached: set[Plain]) -> str:
    random = sketch.random
    exact = _exact(sketch, reached)
    clauses = [claim] if random.random() < (0.6 if claim in true else 0.2) else []
    if exact is not None and random.random() < 0.5:
        clauses.append(exact)
    elif random.random() < 0.7:
        clauses += true[:2]
    else:
        clauses += random.sample(candidates, 1)
    text = "from fdverify.logic import And, If, Iff, Implies, Max, Min, Not, Or\n"
    text += "from fdverify.proofs import Proof\n"
    names = [
        name
        for name in ("Mode", "LUCKY", "helper", "reaches", "above", "RATES")
        if f"\n{name} = " in sketch.definitions or f" {name}(" in sketch.definitions
    ]
    text += f"from random_{sketch.seed} import {', '.join(names)}\n" if names else ""
    text += f'\nproof = Proof("random_{sketch.seed}.py:MODEL", goal="claim0")\n'
    for number, clause in enumerate(clauses or ["True"]):
        text += f'\n\n@proof.invariant\ndef clause{number}(s):\n    """A clause."""\n    return {clause}\n'
    return text


def _exact(sketch: Sketch, reached: set[Plain]) -> str | None:
    """The reachable states as a disjunction, where there are few."""
    if not sketch.finite or len(reached) > 24:
        return None
    states = sorted(
        tuple(_listed(sketch, *pair) for pair in zip(sketch.variables, state, strict=True)) for state in reached
    )
    return f"Or({', '.join(f'And({chr(44).join(state)})' for state in states)})"


def _listed(sketch: Sketch, variable: Declared, value: Any) -> str:
    name = f"s.{variable.name}"
    match variable.kind:
        case "flag":
            return name if value else f"Not({name})"
        case "number":
            return f"{name} == {value}"
        case "label":
            return f"{name} == Mode.{value.name}"
        case _:
            ages = range(sketch.parameters["delta"] + 1)
            return f"And({', '.join(f'{name}.has({a})' if a in value else f'Not({name}.has({a}))' for a in ages)})"


def _first_violation(instance: Instance, claim: Any, search: Search) -> int | None:
    for number, level in enumerate(search.levels):
        if not all(instance.holds(claim, state) for state in level):
            return number
    return None


def load(name: str, text: str) -> ModuleType:
    """The module that a text is."""
    module = ModuleType(name)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        exec(compile(text, name, "exec"), module.__dict__)
    finally:
        del sys.modules[name]
    return module
