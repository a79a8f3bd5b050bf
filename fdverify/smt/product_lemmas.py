"""Lemmas about products of two unknowns.  They let the solver reason linearly where nonlinear reasoning is slow.

Each lemma holds for all integers, so adding it changes no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import permutations

from fdverify.smt.script import Assertion

_SYMBOL = r"(\|[^|]*\||[A-Za-z_][^\s()|]*)"
_DECLARED = re.compile(r"^\(declare-\S+ (\|[^|]*\||\S+)")
_PRODUCT = re.compile(rf"\(\* {_SYMBOL} {_SYMBOL}\)")


def build_product_lemmas(assertions: Iterable[Assertion]) -> tuple[Assertion, ...]:
    """Build lemmas that compare products with a common factor by comparing their other factors."""
    cofactors: dict[str, dict[str, str]] = {}
    declared: dict[str, str] = {}
    for assertion in assertions:
        products = set(_PRODUCT.findall(assertion.formula))
        for left, right in sorted(products):
            cofactors.setdefault(left, {})[right] = f"(* {left} {right})"
            cofactors.setdefault(right, {})[left] = f"(* {left} {right})"
        if products:
            declared.update({_DECLARED.findall(line)[0]: line for line in assertion.declarations})
    lemmas: dict[str, tuple[str, ...]] = {}
    for factor, others in cofactors.items():
        for other, product in others.items():
            lemmas |= dict.fromkeys(build_sign_lemmas(factor, other, product), (factor, other))
        for (a, fa), (b, fb) in permutations(others.items(), 2):
            lemmas |= dict.fromkeys(build_order_lemmas(factor, a, fa, b, fb), (factor, a, b))
    return tuple(
        Assertion(formula, tuple(sorted(declared[symbol] for symbol in symbols))) for formula, symbols in lemmas.items()
    )


def build_sign_lemmas(f: str, a: str, fa: str) -> list[str]:
    return [f"(=> (= {a} 0) (= {fa} 0))", f"(=> (and (>= {f} 0) (>= {a} 0)) (>= {fa} 0))"]


def build_order_lemmas(f: str, a: str, fa: str, b: str, fb: str) -> list[str]:
    return [
        f"(=> (and (>= {f} 0) (<= {a} {b})) (<= {fa} {fb}))",
        f"(=> (and (>= {f} 0) (< {a} {b})) (<= (+ {fa} {f}) {fb}))",
        f"(=> (and (>= {f} 0) (<= {a} (+ {b} 1))) (<= {fa} (+ {fb} {f})))",
    ]
