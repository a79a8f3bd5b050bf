"""What solvers should know of products of two unknowns: they are slow to find it out, and linear reasoning is not.

Each lemma is true of all integers, so adding it changes no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import permutations

from fdverify.smt.script import Assertion

_SYMBOL = r"(\|[^|]*\||[A-Za-z_][^\s()|]*)"
_DECLARED = re.compile(r"^\(declare-\S+ (\|[^|]*\||\S+)")
_PRODUCT = re.compile(rf"\(\* {_SYMBOL} {_SYMBOL}\)")


def product_lemmas(assertions: Iterable[Assertion]) -> tuple[Assertion, ...]:
    """Of products of constants with a factor in common: how they compare, given how the other factors do."""
    cofactors: dict[str, dict[str, str]] = {}
    declared: dict[str, str] = {}
    for assertion in assertions:
        products = set(_PRODUCT.findall(assertion.formula))
        for left, right in sorted(products):
            cofactors.setdefault(left, {})[right] = f"(* {left} {right})"
            cofactors.setdefault(right, {})[left] = f"(* {left} {right})"
        if products:
            declared.update({_DECLARED.findall(line)[0]: line for line in assertion.declarations})
    found: dict[str, tuple[str, ...]] = {}
    for factor, others in cofactors.items():
        for other, product in others.items():
            found |= dict.fromkeys(zero_lemmas(factor, other, product), (factor, other))
        for (a, fa), (b, fb) in permutations(others.items(), 2):
            found |= dict.fromkeys(order_lemmas(factor, a, fa, b, fb), (factor, a, b))
    return tuple(Assertion(text, tuple(sorted(declared[symbol] for symbol in about))) for text, about in found.items())


def zero_lemmas(f: str, a: str, fa: str) -> list[str]:
    return [f"(=> (= {a} 0) (= {fa} 0))", f"(=> (and (>= {f} 0) (>= {a} 0)) (>= {fa} 0))"]


def order_lemmas(f: str, a: str, fa: str, b: str, fb: str) -> list[str]:
    return [
        f"(=> (and (>= {f} 0) (<= {a} {b})) (<= {fa} {fb}))",
        f"(=> (and (>= {f} 0) (< {a} {b})) (<= (+ {fa} {f}) {fb}))",
        f"(=> (and (>= {f} 0) (<= {a} (+ {b} 1))) (<= {fa} (+ {fb} {f})))",
    ]
