"""Reading formulas and sums."""

from __future__ import annotations

import re

from tests.threshold.oracle.formulas import (
    COMPARISONS,
    NOTHING,
    Always,
    Both,
    Compared,
    Either,
    Formula,
    Later,
    Negated,
    Sum,
    Truth,
)

TOKEN = re.compile(r"\s+|/\*.*?\*/|([A-Za-z_]\w*|\d+|->|<>|\[\]|[=!<>]=|&&|\|\||[-+*<>!(){}\[\];:,'])", re.DOTALL)


def tokens_of(text: str) -> list[str]:
    found, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"what is {text[at : at + 10]!r}?")
        if match[1]:
            found.append(match[1])
        at = match.end()
    return found


class ExpressionReader:
    """Recursive descent, one method for each level of precedence."""

    def __init__(self, text: str) -> None:
        self.tokens = tokens_of(text)
        self.at = 0
        self.macros: dict[str, Sum | Formula] = {}

    def next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def skip(self, token: str) -> bool:
        """Whether the next token is this one, which is then taken."""
        found = self.next() == token
        self.at += found
        return found

    def need(self, *tokens: str) -> None:
        for token in tokens:
            if not self.skip(token):
                raise ValueError(f"{token!r} was expected instead of {self.next()!r}")

    def implication(self) -> Sum | Formula:
        found = self.disjunction()
        while self.skip("->"):
            found = Either(Negated(truth(found)), truth(self.disjunction()))
        return found

    def disjunction(self) -> Sum | Formula:
        found = self.conjunction()
        while self.skip("||"):
            found = Either(truth(found), truth(self.conjunction()))
        return found

    def conjunction(self) -> Sum | Formula:
        found = self.prefixed()
        while self.skip("&&"):
            found = Both(truth(found), truth(self.prefixed()))
        return found

    def prefixed(self) -> Sum | Formula:
        if self.skip("!"):
            return Negated(truth(self.prefixed()))
        if self.skip("<>"):
            return Later(truth(self.prefixed()))
        if self.skip("[]"):
            return Always(truth(self.prefixed()))
        return self.comparison()

    def comparison(self) -> Sum | Formula:
        found = self.sum()
        if self.next() not in COMPARISONS:
            return found
        operator = self.take()
        return Compared(number(found).plus(number(self.sum()), -1), operator)

    def sum(self) -> Sum | Formula:
        found = self.product()
        while self.next() in ("+", "-"):
            sign = 1 if self.take() == "+" else -1
            found = number(found).plus(number(self.product()), sign)
        return found

    def product(self) -> Sum | Formula:
        found = self.signed()
        while self.skip("*"):
            one, other = number(found), number(self.signed())
            if one.factors and other.factors:
                raise ValueError("a product of names is not linear")
            found = NOTHING.plus(one, other.constant) if one.factors else NOTHING.plus(other, one.constant)
        return found

    def signed(self) -> Sum | Formula:
        if self.skip("-"):
            return NOTHING.plus(number(self.signed()), -1)
        if self.skip("("):
            found = self.implication()
            self.need(")")
            return found
        token = self.take()
        if token.isdigit():
            return Sum((), int(token))
        if token in ("true", "false"):
            return Truth(token == "true")
        if token in self.macros:
            return self.macros[token]
        if not token.isidentifier():
            raise ValueError(f"{token!r} was not expected")
        return Sum(((token, 1),), 0)


def truth(value: Sum | Formula) -> Formula:
    if isinstance(value, Sum):
        raise ValueError("a number stands for a truth value")
    return value


def number(value: Sum | Formula) -> Sum:
    if not isinstance(value, Sum):
        raise ValueError("a truth value stands for a number")
    return value
