"""The operations of control flow automata, and their parser."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from fdverify.errors import UsageError, suggest_name
from fdverify.threshold.automaton_names import format_for_message
from fdverify.threshold.claims.nnf import convert_to_nnf
from fdverify.threshold.flow.control_flow import STATUS, ControlFlow
from fdverify.threshold.ltl_formula import And, Constant, Formula, LinearComparison, LinearExpression, Or
from fdverify.threshold.text.read import parse_claim, parse_linear

_BECOME = re.compile(r"\s*sv\s*:=\s*(\w+)\s*", flags=re.ASCII)
_INC = re.compile(r"\s*inc\s+(\w+)\s*", flags=re.ASCII)
_RECEIVE = re.compile(r"\s*(\w+)\s*:=\s*e\s+where\s+(\w+)\s*<=\s*e\s*<=(.*)", flags=re.DOTALL | re.ASCII)


@dataclass(frozen=True)
class SetStatus:
    status: str


@dataclass(frozen=True)
class SendMessage:
    variable: str


@dataclass(frozen=True)
class ReceiveMessages:
    counter: str
    bound: LinearExpression


@dataclass(frozen=True)
class StatusTest:
    status: str
    wanted: bool


@dataclass(frozen=True)
class CounterTest:
    """A test that a counter is at least a number or, if not ``wanted``, that it is less."""

    counter: str
    number: LinearExpression
    wanted: bool


Test: TypeAlias = "Constant | StatusTest | CounterTest | tuple[type[And] | type[Or], Test, Test]"
Operation: TypeAlias = "SetStatus | SendMessage | ReceiveMessages | Test"


def parse_operation(flow: ControlFlow, text: str) -> Operation:
    """Parse an operation; refuse a malformed one."""
    return _OperationParser(flow, text).parse()


class _OperationParser:
    def __init__(self, flow: ControlFlow, text: str) -> None:
        self._flow = flow
        self._text = text
        self._place = f"{flow.name}: {format_for_message(text)}"

    def parse(self) -> Operation:
        flow = self._flow
        if match := _BECOME.fullmatch(self._text):
            return SetStatus(self._check_known(match[1], flow.statuses, "status"))
        if match := _INC.fullmatch(self._text):
            return SendMessage(self._check_known(match[1], flow.shared, "shared variable"))
        if match := _RECEIVE.fullmatch(self._text):
            return self._parse_reception(match[1], match[2], match[3])
        names = (STATUS, *flow.statuses, *flow.due, *flow.parameters, *flow.shared)
        return self._build_test(convert_to_nnf(parse_claim(self._text, names, self._place)))

    def _check_known(self, name: str, known: Sequence[str], kind: str) -> str:
        if name not in known:
            hint = suggest_name(name, known) if known else None
            raise UsageError(f"{self._place}: there is no {kind} {name}", hint)
        return name

    def _parse_reception(self, counter: str, lower: str, bound: str) -> ReceiveMessages:
        self._check_known(counter, tuple(self._flow.due), "counter")
        if lower != counter:
            raise UsageError(f"{self._place}: a counter does not decrease: write {counter} <= e")
        most = parse_linear(bound, (*self._flow.shared, *self._flow.parameters), self._place)
        if any(factor < 0 for name, factor in most.factors if name in self._flow.shared):
            raise UsageError(
                f"{self._place}: the bound of a counter does not decrease, so shared variables have no negative factor"
            )
        return ReceiveMessages(counter, most)

    def _build_test(self, guard: Formula) -> Test:
        match guard:
            case Constant():
                return guard
            case And(left, right) | Or(left, right):
                return type(guard), self._build_test(left), self._build_test(right)
            case LinearComparison():
                return self._build_comparison_test(guard)
            case _:
                raise AssertionError("a guard in negation normal form has no other operator")

    def _build_comparison_test(self, comparison: LinearComparison) -> Test:
        difference, operator = comparison.subtract_sides(), comparison.operator
        names = difference.collect_names()
        if names & {STATUS, *self._flow.statuses}:
            return self._build_status_test(difference, operator)
        counter = next(iter(names & set(self._flow.due)), None)
        factor = dict(difference.factors).get(counter or "", 0)
        if counter is None or abs(factor) != 1 or names - {counter, *self._flow.parameters} or operator in ("==", "!="):
            raise UsageError(
                f"{self._place}: this is not a threshold", "compare a counter with parameters: T + 1 <= rcvd"
            )
        if factor < 0:
            difference, operator = difference.scale(-1), {"<": ">", "<=": ">=", ">": "<", ">=": "<="}[operator]
        number = LinearExpression.from_factors({counter: 1}).add(
            difference, -1
        )  # the number that the counter is compared with
        if operator in (">", "<="):
            number = number.add(LinearExpression(constant=1))
        return CounterTest(counter, number, operator in (">", ">="))

    def _build_status_test(self, difference: LinearExpression, operator: str) -> StatusTest:
        factors = dict(difference.factors)
        statuses = [name for name in factors if name != STATUS]
        is_comparison = len(statuses) == 1 and statuses[0] in self._flow.statuses and abs(factors.get(STATUS, 0)) == 1
        if not is_comparison or sum(factors.values()) != 0 or difference.constant or operator not in ("==", "!="):
            raise UsageError(f"{self._place}: a status is compared by sv == STATUS or sv != STATUS")
        return StatusTest(statuses[0], operator == "==")
