"""Random small models as Python text: variables, helpers and phases; claims are added to them."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.no_wrong_answers.models.expressions import Declared, Writer

IMPORTS = '''"""A random model."""

from dataclasses import dataclass
from enum import IntEnum
from functools import partial

from fdverify.logic import And, If, Iff, Implies, Max, Min, Not, Or
from fdverify.models.expression import parse_expression
from fdverify.models.model import Model
from fdverify.models.system import (
    Ages, Amount, Flag, Flags, Integers, Labels, Parameter, Phase, Property, Subset, System, Variable, update,
)
'''


FIRST_WITH_AMOUNTS = 2000
"""The phases of models from this seed on may choose integers, and empty buffers."""


class Sketch:
    """A random model without claims."""

    def __init__(self, seed: int, random: Random) -> None:
        self.seed = seed
        self.random = random
        self.variables = self._declared()
        self.has_buffer = any(variable.kind == "buffer" for variable in self.variables)
        self.symbolic = random.random() < 0.3 and all(v.encoding in ("", "predicate") for v in self.variables)
        self.parameters: dict[str, int] = {}
        if self.has_buffer:
            self.parameters["delta"] = random.choice((0, 1, 1, 2, 2, 3))
        if random.random() < 0.4 or any(v.high == "limit" for v in self.variables):
            self.parameters["limit"] = random.randint(1, 3)
        self.derived = "limit" in self.parameters and random.random() < 0.3
        self.assumed = len(self.parameters) == 2 and random.random() < 0.3
        if self.assumed:
            self.parameters["limit"] = self.parameters["delta"] + 1
        self.predicates: list[str] = []
        self.definitions = self._definitions()
        self.phases = self._phases()
        if self.has_buffer and len(self.phases) > 1:
            self.symbolic = False  # each phase makes questions about ages that are many times as hard

    def writer(self, **more: Any) -> Writer:
        names = [name for name in self.parameters if name != "delta"] + (["bound"] if self.derived else [])
        return Writer(self.random, self.variables, names, self.predicates, **more)

    def _declared(self) -> list[Declared]:
        random = self.random
        kinds = random.choices(("flag", "number", "label", "buffer"), (3, 4, 2, 3), k=random.randint(1, 3))
        if kinds.count("buffer") > 1:
            kinds = ["buffer", *(kind for kind in kinds if kind != "buffer")]
        extra = random.choices(("", "clock", "growing", "flag"), (7, 1, 1, 1))[0]
        found = []
        for place, kind in enumerate([*kinds, *([extra] if extra else [])]):
            name = f"{kind[0]}{place}"
            match kind:
                case "number":
                    high: int | str = random.choice((1, 2, 3, 4, "limit"))
                    found.append(Declared(name, kind, random.choice((0, 0, 0, -1, -2)), high))
                case "label":
                    found.append(Declared(name, kind, members=("Idle", "Busy", "Done", "Lost")[: random.randint(2, 4)]))
                case "buffer":
                    found.append(Declared(name, kind, encoding=random.choice(("predicate", "counter", "bitvector"))))
                case "growing":
                    found.append(Declared(name, kind, 0, random.randint(1, 3)))
                case _:
                    found.append(Declared(name, kind))
        return found

    def _definitions(self) -> str:
        """Helpers, closures and constants that the phases and claims use."""
        random, text = self.random, ""
        labels = [variable for variable in self.variables if variable.kind == "label"]
        if labels:
            most = max((label.members for label in labels), key=len)
            step = random.choice((1, 1, 2))
            members = "\n".join(f"    {name} = {place * step}" for place, name in enumerate(most))
            text += f"\n\nclass Mode(IntEnum):\n{members}\n"
        text += f"\n\nLUCKY = {tuple(sorted(random.sample(range(-2, 5), 2)))}\n"
        numbers = [variable for variable in self.variables if variable.kind == "number"]
        if random.random() < 0.5:
            text += f"\n\ndef helper(s):\n    return {self.writer().truth()}\n"
            self.predicates.append("helper(s)")
        if numbers and random.random() < 0.5:
            name = numbers[0].name
            text += (
                f"\n\ndef at_least(bound):\n    def check(s):\n        return s.{name} >= bound\n\n    return check\n"
            )
            text += f"\n\nreaches = at_least({random.randint(0, 3)})\n"
            self.predicates.append("reaches(s)")
        if numbers and random.random() < 0.3:
            name = numbers[-1].name
            text += f"\n\ndef exceeds(bound, s):\n    return s.{name} > bound\n\n\n"
            text += f"above = partial(exceeds, {random.randint(-1, 2)})\n"
            self.predicates.append("above(s)")
        if numbers and random.random() < 0.3:
            text += "\n\n@dataclass(frozen=True)\nclass Rates:\n    slow: int\n    fast: int\n\n"
            text += "    def near(self, x):\n        return Or(x == self.slow, x == self.fast)\n"
            text += f"\n\nRATES = Rates({random.randint(-1, 1)}, {random.randint(1, 3)})\n"
            self.predicates.append(f"RATES.near(s.{numbers[0].name})")
        return text

    def _phases(self) -> list[tuple[str, str]]:
        """The phases: each as the text of its function, and of its declaration."""
        return [self._phase(f"step{number}") for number in range(self.random.choice((1, 1, 2, 2, 3)))]

    def _phase(self, name: str) -> tuple[str, str]:
        random = self.random
        choices = [(f"{name}_go{k}", "flag") for k in range(random.choice((0, 1, 1, 1, 2)))]
        buffers = [variable for variable in self.variables if variable.kind == "buffer"]
        if buffers and random.random() < 0.6:
            choices.append((f"{name}_taken", buffers[0].name))
        if self.seed >= FIRST_WITH_AMOUNTS and random.random() < 0.8:
            choices.append((f"{name}_by", "amount"))
        writer = self.writer(choices=choices)
        changed = random.sample(self.variables, random.randint(1, len(self.variables)))
        updates = []
        for variable in changed:
            value = self._updated(writer, variable, choices)
            if value is not None:
                updates.append(f"{variable.name}={value}")
        if random.random() < 0.3:
            updates.insert(0, f"assume={self._assumed(writer, choices)}")
        lines = [*writer.statements, f"return update({', '.join(updates)})"]
        body = "\n".join(f"    {line}" for line in lines)
        declared = ", ".join(self._choice(choice, kind) for choice, kind in choices)
        comma = "," if declared else ""
        return f"\n\ndef {name}(s, c):\n{body}\n", f'Phase("{name}", {name}, ({declared}{comma}))'

    def _assumed(self, writer: Writer, choices: list[tuple[str, str]]) -> str:
        """What is assumed of choices; mostly it leaves a way to go on."""
        condition = writer.truth(1)
        if not choices or self.random.random() < 0.15:
            return condition
        name, kind = self.random.choice(choices)
        if kind == "flag":
            return self.random.choice((f"Implies(c.{name}, {condition})", f"Or(Not(c.{name}), {condition})"))
        if kind == "amount":
            return self.random.choice((f"Implies(c.{name} > 0, {condition})", f"c.{name} <= {writer.number(1)}"))
        forms = (f"Implies(s.{kind}.has(s.delta), c.{name}.has(s.delta))", f"Or(c.{name}.empty(), {condition})")
        return self.random.choice(forms)

    def _choice(self, name: str, kind: str) -> str:
        if kind == "amount":
            return self._amount(name)
        when = "" if self.random.random() < 0.5 else f", when=lambda s: {self.writer().truth(1)}"
        return f'Flag("{name}"{when})' if kind == "flag" else f'Subset("{name}", of="{kind}"{when})'

    def _amount(self, name: str) -> str:
        """A choice of a few integers; mostly there is one to choose in every state."""
        random, writer = self.random, self.writer()
        low, high = (random.choice((str(random.randint(-2, 1)), f"Max(-2, Min(2, {writer.number(1)}))")) for _ in "ab")
        further = random.choice((f"{low} + {random.randint(0, 2)}", f"Max({low}, {high})", high))
        return f'Amount("{name}", lambda s: {low}, lambda s: {further})'

    def _updated(self, writer: Writer, variable: Declared, choices: list[tuple[str, str]]) -> str | None:
        random, name = self.random, f"s.{variable.name}"
        condition = writer.named_truth() if random.random() < 0.4 else writer.truth(1)
        match variable.kind:
            case "flag":
                other = writer.truth(1)
                return random.choice((condition, f"If({condition}, {other}, {name})", f"Or({name}, {condition})"))
            case "number":
                return writer.fitted(variable)
            case "label":
                members = [f"Mode.{member}" for member in variable.members]
                one, two = random.choice(members), random.choice([*members, name])
                return random.choice((f"If({condition}, {one}, {two})", f"If({condition}, {one}, {name})"))
            case "clock":
                start = random.choice(("0", "-1"))
                return f"If({condition}, {start}, {name} + 1)"
            case "growing":
                return random.choice(
                    (f"{name} + 1", f"If({condition}, {name} + 1, {name})", f"If({condition}, 0, {name} + 1)")
                )
            case _:
                return self._handled(variable, condition, choices)

    def _handled(self, variable: Declared, condition: str, choices: list[tuple[str, str]]) -> str:
        taken = [name for name, kind in choices if kind == variable.name]
        aged = self.random.choice(("", ".age()", ".age()", f".age(when={condition})"))
        delivered = f".deliver(c.{taken[0]})" if taken else ""
        sent = self.random.choice((f".send(when={condition})", ".send(when=True)"))
        if self.seed >= FIRST_WITH_AMOUNTS and self.random.random() < 0.4:
            sent += self.random.choice((f".clear(when={condition})", f".clear(when=Not({condition}))", ".clear()"))
        if not aged:
            return f"s.{variable.name}{delivered}{sent}"
        # What was taken was taken of the buffer as it was before this phase.
        return f"s.{variable.name}{delivered}{aged}{sent}"

    def system_text(self, claims: list[str]) -> str:
        """The module with these claims."""
        random = Random(f"{self.seed}.ranges")
        text = IMPORTS + self.definitions + "".join(run for run, _ in self.phases)
        for number, claim in enumerate(claims):
            text += f"\n\ndef claim{number}(s):\n    return {claim}\n"
        given = ", ".join(self.parameters)
        parameters = [self._parameter(name) for name in self.parameters]
        if self.derived:
            parameters.append('Parameter("bound", least=1, value=parse_expression("2*limit-1", {"limit"}))')
        assumed = 'Property("assumed", lambda s: s.limit > s.delta, "an assumption"),' if self.assumed else ""
        properties = " ".join(f'Property("claim{k}", claim{k}, "a claim"),' for k in range(len(claims)))
        variables = "".join(f"            {self._variable(variable, random)},\n" for variable in self.variables)
        phases = "".join(f"            {declared},\n" for _, declared in self.phases)
        options = ", ".join(f'Parameter("{name}", least={self._least(name)}, value=None)' for name in self.parameters)
        text += f"""

def build({given}):
    return System(
        name="random",
        options={{}},
        parameters=({"".join(f"{each}, " for each in parameters)}),
        variables=(
{variables}        ),
        phases=(
{phases}        ),
        properties=({properties}),
        assumptions=({assumed}),
    )


MODEL = Model("random", "a random model", ({options}{"," if options else ""}), (), "claim0", build)
"""
        return text

    def _least(self, name: str) -> int:
        return 0 if name == "delta" else 1

    def _parameter(self, name: str) -> str:
        return f'Parameter("{name}", least={self._least(name)}, value={name})'

    def _variable(self, variable: Declared, random: Random) -> str:
        name = variable.name
        match variable.kind:
            case "flag":
                may_be_ghost = random.random() < 0.1 and len(self.variables) > 1
                ghost = ", ghost=True" if may_be_ghost and variable is self.variables[-1] else ""
                return f'Variable("{name}", Flags(), initial=lambda s: {random.random() < 0.3}{ghost})'
            case "number":
                initial = random.choice((variable.highest, "0", "1", str(variable.low)))
                inside = f"And(s.{name} >= {variable.low}, s.{name} <= {variable.highest})"
                return f'Variable("{name}", Integers(), initial=lambda s: {initial}, range=lambda s: {inside})'
            case "label":
                return f'Variable("{name}", Labels(Mode), initial=lambda s: Mode.{random.choice(variable.members)})'
            case "clock":
                start = random.choice(("0", "-1"))
                return f'Variable("{name}", Integers(), initial=lambda s: {start}, ghost=True, clock=True)'
            case "growing":
                cap = f"cap=lambda s: {variable.most}"
                return f'Variable("{name}", Integers(), initial=lambda s: 0, range=lambda s: s.{name} >= 0, {cap})'
            case _:
                start = random.choice(("frozenset()", "frozenset()", "{0}"))
                return f'Variable("{name}", Ages("{variable.encoding}", bound="delta"), initial=lambda s: {start})'

    @property
    def finite(self) -> bool:
        return all(variable.kind not in ("clock", "growing") for variable in self.variables)

    def work(self, system: Any) -> int:
        """About how many states and choices there are."""
        work = 1
        for variable in self.variables:
            delta = self.parameters.get("delta", 0)
            sizes = {"flag": 2, "label": len(variable.members), "buffer": 2 ** (delta + 1)}
            work *= sizes.get(variable.kind, variable.most - variable.low + 1 if variable.kind == "number" else 5)
        for phase in system.phases:
            for choice in phase.choices:
                work *= (
                    2 ** (self.parameters["delta"] + 1) if hasattr(choice, "of") else 5 if hasattr(choice, "low") else 2
                )
        return work
