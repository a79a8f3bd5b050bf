"""Random expressions over the variables of a model, as Python text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True)
class Declared:
    """A variable: its name, what it is, and of an integer the least and the largest value that it is meant to take."""

    name: str
    kind: str
    """flag, number, label, buffer, growing (an integer with a cap) or clock."""
    low: int = 0
    high: int | str = 0
    """A number, or the name of the parameter that it is."""
    members: tuple[str, ...] = ()
    encoding: str = ""

    @property
    def most(self) -> int:
        """A number near the largest value, for comparisons."""
        return self.high if isinstance(self.high, int) else 3

    @property
    def highest(self) -> str:
        return f"s.{self.high}" if isinstance(self.high, str) else str(self.high)


@dataclass
class Writer:
    """Writes expressions; ``choices`` are those of the phase that is being written, by name and kind."""

    random: Random
    variables: Sequence[Declared]
    parameters: Sequence[str]
    predicates: Sequence[str] = ()
    """Functions of the state that the module defines, as text to call them."""
    choices: Sequence[tuple[str, str]] = ()
    reads_clocks: bool = False
    statements: list[str] = field(default_factory=list)
    """Lines that a function needs before the expression that is returned."""

    def of_kind(self, *kinds: str) -> list[Declared]:
        return [variable for variable in self.variables if variable.kind in kinds]

    def truth(self, depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.25:
            return self.atom()
        a, b = self.truth(depth - 1), self.truth(depth - 1)
        forms = [
            lambda: f"And({a}, {b})",
            lambda: f"Or({a}, {b})",
            lambda: f"Not({a})",
            lambda: f"Implies({a}, {b})",
            lambda: f"Iff({a}, {b})",
            lambda: f"If({a}, {b}, {self.atom()})",
            lambda: f"Or({a}, {b}, {self.atom()})",
            lambda: f"And({a}, Or({b}, {self.atom()}))",
        ]
        return self.random.choice(forms)()

    def atom(self) -> str:
        """A truth value without connectives."""
        forms: list[Callable[[], str]] = []
        for variable in self.variables:
            forms += self._asked_of(variable)
        for name, kind in self.choices:
            forms += self._asked_of_choice(name, kind)
        if self.predicates:
            forms.append(lambda: self.random.choice(self.predicates))
        return self.random.choice(forms)()

    def _asked_of_choice(self, name: str, kind: str) -> list[Callable[[], str]]:
        match kind:
            case "flag":
                return [f"c.{name}".__str__] * 2
            case "amount":
                return [lambda: f"c.{name} {self.random.choice(COMPARISONS)} {self.number(1)}"] * 2
            case _:
                return self._asked_of_ages(f"c.{name}")

    def _asked_of(self, variable: Declared) -> list[Callable[[], str]]:
        name = f"s.{variable.name}"
        match variable.kind:
            case "flag":
                return [lambda: name, lambda: f"Not({name})"]
            case "label":
                return [lambda: f"{name} == {self._member(variable)}", lambda: f"{name} != {self._member(variable)}"]
            case "buffer":
                return self._asked_of_ages(name)
            case "growing":
                return [
                    lambda: f"{name} >= {self.random.randint(0, variable.most)}",
                    lambda: f"{name} < {self.random.randint(0, variable.most)}",
                ]
            case "clock":
                if not self.reads_clocks:
                    return []
                return [
                    lambda: f"{name} <= {self.random.randint(0, 9)}",
                    lambda: f"{name} != {self.random.randint(1, 6)}",
                ]
            case _:
                return [lambda: self._compared(variable), lambda: self._compared(variable), self._related]

    def _compared(self, variable: Declared) -> str:
        bounds = [str(self.random.randint(variable.low - 1, variable.most + 1)), variable.highest]
        return f"s.{variable.name} {self.random.choice(COMPARISONS)} {self.random.choice(bounds)}"

    def _related(self) -> str:
        return f"{self.number(1)} {self.random.choice(COMPARISONS)} {self.number(1)}"

    def _member(self, variable: Declared) -> str:
        return f"Mode.{self.random.choice(variable.members)}"

    def _asked_of_ages(self, buffer: str) -> list[Callable[[], str]]:
        return [
            lambda: f"{buffer}.empty()",
            lambda: f"Not({buffer}.empty())",
            lambda: f"{buffer}.has({self._age()})",
            lambda: f"{buffer}.any({self._age()}, {self._age()})",
            lambda: (
                f"{buffer}.{self.random.choice(('forall', 'exists'))}({self._age()}, s.delta, {self._of_ages(buffer)})"
            ),
        ]

    def _of_ages(self, buffer: str) -> str:
        """What is claimed of an age."""
        forms = [
            f"lambda a: Implies({buffer}.has(a), a >= {self._age()})",
            f"lambda a: {buffer}.has(a)",
            f"lambda a: Or(Not({buffer}.has(a)), a == {self._age()})",
        ]
        return self.random.choice(forms)

    def _age(self) -> str:
        numbers = [f"s.{variable.name}" for variable in self.of_kind("number")]
        return self.random.choice(["0", "1", "2", "s.delta", "s.delta - 1", *numbers])

    def number(self, depth: int = 2) -> str:
        leaves = [f"s.{variable.name}" for variable in self.of_kind("number")]
        leaves += [f"c.{name}" for name, kind in self.choices if kind == "amount"]
        leaves += [*leaves, *leaves, *(f"s.{name}" for name in self.parameters), str(self.random.randint(-2, 4))]
        if depth == 0:
            return self.random.choice(leaves)
        a, b = self.number(depth - 1), self.number(depth - 1)
        forms = [
            lambda: a,
            lambda: f"{a} + {self.random.randint(1, 2)}",
            lambda: f"{a} + {b}",
            lambda: f"({a}) - ({b})",
            lambda: f"{self.random.choice((2, 3, -1))} * ({a})",
            lambda: f"-({a})",
            lambda: f"Min({a}, {b})",
            lambda: f"Max({a}, {b})",
            lambda: f"If({self.atom()}, {a}, {b})",
            lambda: f"({a}) % {self.random.choice((2, 3, 5))}",
            lambda: f"({a}) // {self.random.choice((2, 3))}",
        ]
        return self.random.choice(forms)()

    def named_truth(self) -> str:
        """A truth value that a few statements prepare, as authors write them: loops, accumulators, local names."""
        name = f"v{len(self.statements)}"
        atom, other = self.atom(), self.atom()
        numbers = self.of_kind("number")
        forms: list[tuple[list[str], str]] = [
            ([f"{name} = {self.truth()}"], name),
            (
                [f"{name} = [{atom}]", f"for each in ({other}, {self.atom()}):", f"    {name}.append(each)"],
                f"And(*{name})",
            ),
            ([f"{name} = sum(If(each, 1, 0) for each in ({atom}, {other}))"], f"{name} == {self.random.randint(0, 2)}"),
        ]
        if numbers:
            chosen = self.random.choice(numbers)
            loop = f"    {name} = Or({name}, s.{chosen.name} == k)"
            forms.append(([f"{name} = False", f"for k in range({chosen.low}, {chosen.low + 2}):", loop], name))
            some = f"Or(*(s.{chosen.name} == k for k in LUCKY))"
            forms.append(([], some))
        for label in self.of_kind("label"):
            forms.append(([], f"Or(*(And(s.{label.name} == mode, {atom}) for mode in list(Mode)[:2]))"))
        lines, text = self.random.choice(forms)
        self.statements += lines
        return text

    def fitted(self, variable: Declared) -> str:
        """A new value of an integer; mostly within its range, always in a finite one."""
        number, low, name = self.number(), variable.low, f"s.{variable.name}"
        forms = [
            f"Max({low}, Min({variable.highest}, {number}))",
            f"If({self.truth(1)}, If({name} < {variable.highest}, {name} + 1, {low}), {name})",
            f"If({self.truth(1)}, {low}, {name})",
            f"If({self.truth(1)}, Min({variable.highest}, {name} + 1), {name})",
        ]
        if isinstance(variable.high, int):
            size = variable.high - low + 1
            forms.append(f"{low} + ({number} - ({low})) % {size}")
            forms.append(f"({name} - ({low}) + 1) % {size} + ({low})")
            if self.random.random() < 0.15:
                forms.append(f"({number}) % 7 - 2")
        return self.random.choice(forms)
