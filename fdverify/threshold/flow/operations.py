"""The operations of control flow automata, and their parser."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from fdverify.errors import UsageError, did_you_mean
from fdverify.threshold.claims.normal import positive
from fdverify.threshold.flow.automaton import STATUS, ControlFlow
from fdverify.threshold.formula import And, Comparison, Constant, Formula, Linear, Or
from fdverify.threshold.names import shown
from fdverify.threshold.text.read import read_claim, read_linear

_BECOME = re.compile(r"\s*sv\s*:=\s*(\w+)\s*", flags=re.ASCII)
_INC = re.compile(r"\s*inc\s+(\w+)\s*", flags=re.ASCII)
_RECEIVE = re.compile(r"\s*(\w+)\s*:=\s*e\s+where\s+(\w+)\s*<=\s*e\s*<=(.*)", flags=re.DOTALL | re.ASCII)


@dataclass(frozen=True)
class Become:
    status: str


@dataclass(frozen=True)
class Send:
    variable: str


@dataclass(frozen=True)
class Receive:
    counter: str
    bound: Linear


@dataclass(frozen=True)
class StatusIs:
    status: str
    wanted: bool


@dataclass(frozen=True)
class Reached:
    """A test that a counter is at least a number or, if not ``wanted``, that it is less."""

    counter: str
    number: Linear
    wanted: bool


Test: TypeAlias = "Constant | StatusIs | Reached | tuple[type[And] | type[Or], Test, Test]"
Operation: TypeAlias = "Become | Send | Receive | Test"


def read_operation(flow: ControlFlow, text: str) -> Operation:
    """Parse an operation; refuse a malformed one."""
    return _Operation(flow, text).read()


class _Operation:
    def __init__(self, flow: ControlFlow, text: str) -> None:
        self._flow = flow
        self._text = text
        self._place = f"{flow.name}: {shown(text)}"

    def read(self) -> Operation:
        flow = self._flow
        if match := _BECOME.fullmatch(self._text):
            return Become(self._known(match[1], flow.statuses, "status"))
        if match := _INC.fullmatch(self._text):
            return Send(self._known(match[1], flow.shared, "shared variable"))
        if match := _RECEIVE.fullmatch(self._text):
            return self._receive(match[1], match[2], match[3])
        names = (STATUS, *flow.statuses, *flow.due, *flow.parameters, *flow.shared)
        return self._test(positive(read_claim(self._text, names, self._place)))

    def _known(self, name: str, known: Sequence[str], kind: str) -> str:
        if name not in known:
            hint = did_you_mean(name, known) if known else None
            raise UsageError(f"{self._place}: there is no {kind} {name}", hint)
        return name

    def _receive(self, counter: str, lower: str, bound: str) -> Receive:
        self._known(counter, tuple(self._flow.due), "counter")
        if lower != counter:
            raise UsageError(f"{self._place}: a counter does not decrease: write {counter} <= e")
        most = read_linear(bound, (*self._flow.shared, *self._flow.parameters), self._place)
        if any(factor < 0 for name, factor in most.factors if name in self._flow.shared):
            raise UsageError(
                f"{self._place}: the bound of a counter does not decrease, so shared variables have no negative factor"
            )
        return Receive(counter, most)

    def _test(self, guard: Formula) -> Test:
        match guard:
            case Constant():
                return guard
            case And(left, right) | Or(left, right):
                return type(guard), self._test(left), self._test(right)
            case Comparison():
                return self._compared(guard)
            case _:
                raise AssertionError("a guard in negation normal form has no other operator")

    def _compared(self, comparison: Comparison) -> Test:
        difference, operator = comparison.difference(), comparison.operator
        names = difference.names()
        if names & {STATUS, *self._flow.statuses}:
            return self._with_status(difference, operator)
        counter = next(iter(names & set(self._flow.due)), None)
        factor = dict(difference.factors).get(counter or "", 0)
        if counter is None or abs(factor) != 1 or names - {counter, *self._flow.parameters} or operator in ("==", "!="):
            raise UsageError(
                f"{self._place}: this is not a threshold", "compare a counter with parameters: T + 1 <= rcvd"
            )
        if factor < 0:
            difference, operator = difference.times(-1), {"<": ">", "<=": ">=", ">": "<", ">=": "<="}[operator]
        number = Linear.of({counter: 1}).plus(difference, -1)  # the number that the counter is compared with
        if operator in (">", "<="):
            number = number.plus(Linear(constant=1))
        return Reached(counter, number, operator in (">", ">="))

    def _with_status(self, difference: Linear, operator: str) -> StatusIs:
        factors = dict(difference.factors)
        statuses = [name for name in factors if name != STATUS]
        is_comparison = len(statuses) == 1 and statuses[0] in self._flow.statuses and abs(factors.get(STATUS, 0)) == 1
        if not is_comparison or sum(factors.values()) != 0 or difference.constant or operator not in ("==", "!="):
            raise UsageError(f"{self._place}: a status is compared by sv == STATUS or sv != STATUS")
        return StatusIs(statuses[0], operator == "==")
