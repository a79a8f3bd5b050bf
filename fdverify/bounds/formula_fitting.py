"""The simplest formula that gives all measured values.

The order of simplicity is: one sum; one sum of rounded numbers; a sum for each residue of some numbers; and finally all
of this separately where some numbers have their least value.  A sum counts only where there are more measurements than
unknown coefficients.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import TypeAlias

import numpy as np

from fdverify.bounds.bound_formula import (
    ROUNDINGS,
    BoundFormula,
    Factor,
    FormulaCase,
    Monomial,
    Polynomial,
    evaluate_monomial,
)
from fdverify.models.system import Labels, State, System

ParameterPoint: TypeAlias = tuple[int, ...]
ProductShape: TypeAlias = Sequence[tuple[str, ...]]
"""The products of names that a sum may have."""


def list_moduli(system: System) -> tuple[int, ...]:
    """List the lengths of the cycles of program counters: a measured value may depend on a residue by such a length."""
    return tuple(sorted({len(v.sort.names) for v in system.variables if isinstance(v.sort, Labels)}, reverse=True))


def fit_formula(
    names: Sequence[str],
    least: Mapping[str, int],
    measured: Mapping[ParameterPoint, int],
    shape: ProductShape,
    moduli: Sequence[int],
) -> BoundFormula | None:
    """Fit a formula that is built from the products in ``shape``; ``None`` if there is none.

    Each point lists the values of the ``names`` in order.
    """
    for distinguished in _enumerate_subsets(names):
        regions = [
            _fit_cases(names, measured, shape, where, moduli)
            for where in _list_least_value_combinations(distinguished, least)
        ]
        if all(cases is not None for cases in regions):
            return BoundFormula(tuple(case for cases in regions for case in _merge_cases(cases or [])))
    return None


def _enumerate_subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Enumerate all subsets, the smallest first."""
    for size in range(len(names) + 1):
        yield from combinations(names, size)


def _list_least_value_combinations(
    names: Sequence[str], least: Mapping[str, int]
) -> list[tuple[tuple[str, int, bool], ...]]:
    """List every combination of having the least value and not having it."""
    combinations_of_flags = product((False, True), repeat=len(names))
    return [
        tuple((name, least[name], yes) for name, yes in zip(names, flags, strict=True))
        for flags in combinations_of_flags
    ]


def _fit_cases(
    names: Sequence[str],
    measured: Mapping[ParameterPoint, int],
    shape: ProductShape,
    where: tuple[tuple[str, int, bool], ...],
    moduli: Sequence[int],
) -> list[FormulaCase] | None:
    """Fit one sum; else one of rounded numbers, or a sum for each residue of as few names as possible."""
    known = {name: value for name, value, yes in where if yes}
    here = {
        point: result
        for point, result in measured.items()
        if all((point[names.index(name)] == value) is yes for name, value, yes in where)
    }
    left = [name for name in names if name not in known]
    plain = _build_monomials(shape, {name: Factor(name) for name in left})
    sum_ = _fit_sum(names, here, plain)
    if sum_ is not None:
        return [FormulaCase(where, (), sum_)]
    for modulus in moduli:
        for rounded in sorted(product(ROUNDINGS, repeat=len(left)), key=lambda choice: sum(map(bool, choice))):
            factors = {name: Factor(name, how, modulus if how else 1) for name, how in zip(left, rounded, strict=True)}
            sum_ = _fit_sum(names, here, _build_monomials(shape, factors))
            if sum_ is not None:
                return [FormulaCase(where, (), sum_)]
        for by_residue in _enumerate_subsets(left):
            cells = _group_by_residues(names, here, by_residue, modulus)
            sums = {residues: _fit_sum(names, points, plain) for residues, points in cells.items()}
            cases = [
                FormulaCase(where, tuple((name, (residue,)) for name, residue in residues), sum_, modulus)
                for residues, sum_ in sums.items()
                if sum_ is not None
            ]
            if len(cases) == len(sums):
                return cases
    return None


def _group_by_residues(
    names: Sequence[str], measured: Mapping[ParameterPoint, int], by_residue: Sequence[str], modulus: int
) -> dict[tuple[tuple[str, int], ...], dict[ParameterPoint, int]]:
    cells: dict[tuple[tuple[str, int], ...], dict[ParameterPoint, int]] = defaultdict(dict)
    for point, value in measured.items():
        residues = tuple((name, point[names.index(name)] % modulus) for name in by_residue)
        cells[residues][point] = value
    return dict(sorted(cells.items()))


def _build_monomials(shape: ProductShape, factors: Mapping[str, Factor]) -> list[Monomial]:
    """Build the products, without the names that have a known value."""
    return list(dict.fromkeys(tuple(factors[name] for name in product_ if name in factors) for product_ in shape))


def _fit_sum(
    names: Sequence[str], points: Mapping[ParameterPoint, int], shape: Sequence[Monomial]
) -> Polynomial | None:
    """Solve for integer coefficients that give every point exactly; ``None`` if the points do not determine any."""
    if len(points) <= len(shape):
        return None
    states = [State(dict(zip(names, point, strict=True))) for point in points]
    rows = np.array([[evaluate_monomial(monomial, s) for monomial in shape] for s in states])
    values = np.array(list(points.values()))
    solution, _, rank, _ = np.linalg.lstsq(rows.astype(float), values.astype(float), rcond=None)
    whole = np.rint(solution).astype(np.int64)
    if rank < len(shape) or not (rows @ whole == values).all():
        return None
    return Polynomial(tuple((monomial, int(times)) for monomial, times in zip(shape, whole, strict=True)))


def _merge_cases(cases: Sequence[FormulaCase]) -> list[FormulaCase]:
    """Join the residues of one name in cases with the same sum, as long as there are such cases."""
    joined = list(cases)
    merging = True
    while merging:
        merging = False
        for one, other in combinations(joined, 2):
            both = _join_residues(one, other)
            if both is not None:
                joined = [both if case is one else case for case in joined if case is not other]
                merging = True
                break
    return [_drop_full_residues(case) for case in joined]


def _join_residues(one: FormulaCase, other: FormulaCase) -> FormulaCase | None:
    if one.least != other.least or one.formula != other.formula or len(one.residues) != len(other.residues):
        return None
    """Join two cases that differ in the residues of one name only; ``None`` if they differ otherwise."""
    different = [index for index, (a, b) in enumerate(zip(one.residues, other.residues, strict=True)) if a != b]
    if len(different) != 1:
        return None
    (index,) = different
    (name, values), (_, other_values) = one.residues[index], other.residues[index]
    residues = list(one.residues)
    residues[index] = (name, tuple(sorted({*values, *other_values})))
    return replace(one, residues=tuple(residues))


def _drop_full_residues(case: FormulaCase) -> FormulaCase:
    return replace(case, residues=tuple((n, values) for n, values in case.residues if len(values) < case.modulus))
