"""What solvers should know of products of two unknowns: they are slow to find it out, and linear reasoning is not.

Each lemma is true of all integers, so adding it changes no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

import z3


@dataclass
class Products:
    """The products in some formulas, of two factors that are no numbers; by factor, the other one and the product."""

    _by_factor: dict[int, dict[int, tuple[Any, Any, Any]]] = field(default_factory=dict)
    _seen: dict[int, Any] = field(default_factory=dict)
    _lemmas: dict[tuple[int, ...], list[Any]] = field(default_factory=dict)

    def with_those_of(self, formulas: Iterable[Any]) -> Products:
        """These products and those in more formulas; what was built for these is used again."""
        by_factor = {factor: dict(others) for factor, others in self._by_factor.items()}
        more = Products(by_factor, dict(self._seen), self._lemmas)
        for product in more._new(formulas):
            for factor, other in permutations(product.children()):
                more._by_factor.setdefault(factor.get_id(), {})[other.get_id()] = (factor, other, product)
        return more

    def lemmas(self) -> list[Any]:
        """Of products with a factor in common: the larger the other factor, the larger the product, and by how much."""
        found: list[Any] = []
        for others in self._by_factor.values():
            for factor, other, product in others.values():
                found += self._once(zero_lemmas, factor, other, product)
            for (factor, a, fa), (_, b, fb) in permutations(others.values(), 2):
                found += self._once(order_lemmas, factor, a, fa, b, fb)
        return found

    def _once(self, build: Any, *terms: Any) -> list[Any]:
        key = tuple(term.get_id() for term in terms)
        if key not in self._lemmas:
            self._lemmas[key] = build(*terms)
        return self._lemmas[key]

    def _new(self, formulas: Iterable[Any]) -> Iterator[Any]:
        waiting = list(formulas)
        while waiting:
            term = waiting.pop()
            if term.get_id() in self._seen:
                continue
            self._seen[term.get_id()] = term  # kept: Z3 gives the identity of a dead term to another one
            children = term.children()
            waiting += children
            if z3.is_mul(term) and len(children) == 2 and not any(z3.is_int_value(child) for child in children):
                yield term


def zero_lemmas(f: Any, a: Any, fa: Any) -> list[Any]:
    return [z3.Implies(a == 0, fa == 0), z3.Implies(z3.And(f >= 0, a >= 0), fa >= 0)]


def order_lemmas(f: Any, a: Any, fa: Any, b: Any, fb: Any) -> list[Any]:
    return [
        z3.Implies(z3.And(f >= 0, a <= b), fa <= fb),
        z3.Implies(z3.And(f >= 0, a < b), fa + f <= fb),
        z3.Implies(z3.And(f >= 0, a <= b + 1), fa <= fb + f),
    ]
