"""Properties of N processes: formulas of linear temporal logic (LTL) over predicates of process indexes.

The indexes are universally quantified.  A cutoff is known for formulas over one or two indexes, without the operator X.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce

from fdverify.cutoff.template import Template, Temporal
from fdverify.errors import UsageError, suggest_name

_TOKEN = re.compile(r"\s*(?:(->|[!&|(),])|([A-Za-z_][A-Za-z0-9_-]*))")
_UNARY = ("!", "G", "F", "X")
_BINARY = ("U", "&", "|", "->")
"""In order of precedence, the tightest first."""


@dataclass(frozen=True)
class IndexedFormula:
    """A predicate applied to indexes, or an operator applied to formulas."""

    operator: str
    parts: tuple[IndexedFormula, ...] = ()
    indexes: tuple[str, ...] = ()

    def walk(self) -> Iterator[IndexedFormula]:
        yield self
        for part in self.parts:
            yield from part.walk()


@dataclass(frozen=True)
class CutoffProperty:
    """A formula for which a cutoff is known.

    If it is G f or F G f with f free of temporal operators, the explorer can decide it: ``temporal`` says which of the
    two, and ``state`` is f.  Otherwise ``temporal`` is ``None``.
    """

    formula: IndexedFormula
    indexes: tuple[str, ...]
    temporal: Temporal | None
    state: IndexedFormula

    @property
    def cutoffs(self) -> tuple[int, ...]:
        """The numbers of processes that suffice: for two indexes, two if they differ and one if they are equal."""
        return (1,) if len(self.indexes) == 1 else (1, 2)

    def holds(self, truth_of: Callable[[str, tuple[str, ...]], bool]) -> bool:
        """Evaluate the claim about states."""
        return _evaluate_formula(self.state, truth_of)


def parse_formula(text: str) -> IndexedFormula:
    tokens = _split_tokens(text)
    formula, rest = _parse_binary(tokens, len(_BINARY) - 1, text)
    if rest:
        raise _build_syntax_error(text, rest[0])
    return formula


def _split_tokens(text: str) -> list[str]:
    tokens, position = [], 0
    while text[position:].strip():
        match = _TOKEN.match(text, position)
        if match is None:
            raise _build_syntax_error(text, text[position:].strip()[0])
        tokens.append(match[1] or match[2])
        position = match.end()
    return tokens


def _build_syntax_error(text: str, token: str | None) -> UsageError:
    where = "at its end" if token is None else f"at {token}"
    return UsageError(f"the property cannot be read {where}: {text}", "for example G (correct(p) -> !suspected(q, p))")


def _parse_binary(tokens: list[str], level: int, text: str) -> tuple[IndexedFormula, list[str]]:
    if level < 0:
        return _parse_unary(tokens, text)
    left, rest = _parse_binary(tokens, level - 1, text)
    if rest and rest[0] == _BINARY[level]:
        right, rest = _parse_binary(rest[1:], level, text)
        return IndexedFormula(_BINARY[level], (left, right)), rest
    return left, rest


def _parse_unary(tokens: list[str], text: str) -> tuple[IndexedFormula, list[str]]:
    if not tokens:
        raise _build_syntax_error(text, None)
    first, rest = tokens[0], tokens[1:]
    if first in _UNARY and rest[:1] != [","]:
        part, rest = _parse_unary(rest, text)
        return IndexedFormula(first, (part,)), rest
    if first == "(":
        inside, rest = _parse_binary(rest, len(_BINARY) - 1, text)
        if rest[:1] != [")"]:
            raise _build_syntax_error(text, rest[0] if rest else None)
        return inside, rest[1:]
    if not first[0].isalpha() or rest[:1] != ["("] or ")" not in rest:
        raise _build_syntax_error(text, first)
    end = rest.index(")")
    words = rest[1:end]
    if any((word == ",") != (place % 2 == 1) for place, word in enumerate(words)) or len(words) % 2 == 0:
        raise _build_syntax_error(text, first)
    if not all(word[0].isalpha() or word[0] == "_" for word in words[::2]):
        raise _build_syntax_error(text, first)
    return IndexedFormula(first, indexes=tuple(words[::2])), rest[end + 1 :]


def parse_property(template: Template, text: str) -> CutoffProperty:
    """Parse a property; refuse one to which the cutoff theorems do not apply."""
    try:
        return _check_property(template, text)
    except RecursionError:
        raise UsageError("the property is nested too deeply to be read") from None


def _check_property(template: Template, text: str) -> CutoffProperty:
    formula = parse_formula(text)
    atoms = [part for part in formula.walk() if part.indexes]
    for atom in atoms:
        known = template.arities
        if atom.operator not in known:
            raise UsageError(f"{template.name} has no predicate {atom.operator}", suggest_name(atom.operator, known))
        if len(atom.indexes) != known[atom.operator]:
            raise UsageError(f"{atom.operator} has {known[atom.operator]} indexes, not {len(atom.indexes)}: {text}")
    indexes = tuple(dict.fromkeys(index for atom in atoms for index in atom.indexes))
    if any(part.operator == "X" for part in formula.walk()):
        raise UsageError(
            f"the property uses the operator X (next): {text}",
            "the cutoff theorem compares runs up to stuttering, so it is about formulas without X",
        )
    if len(indexes) > 2:
        raise UsageError(
            f"the property is about {len(indexes)} indexes, {', '.join(indexes)}: {text}",
            "a cutoff is known only for properties of one or two indexes",
        )
    return CutoffProperty(formula, indexes, *_split_temporal(formula))


def _split_temporal(formula: IndexedFormula) -> tuple[Temporal | None, IndexedFormula]:
    """Split G f and F G f into operator and f."""
    inside = formula.parts[0] if formula.parts else formula
    if formula.operator == "G" and _is_state_formula(inside):
        return Temporal.ALWAYS, inside
    if formula.operator == "F" and inside.operator == "G" and _is_state_formula(inside.parts[0]):
        return Temporal.EVENTUALLY_ALWAYS, inside.parts[0]
    return None, formula


def _is_state_formula(formula: IndexedFormula) -> bool:
    return all(part.operator not in ("G", "F", "U", "X") or part.indexes for part in formula.walk())


def _evaluate_formula(formula: IndexedFormula, truth_of: Callable[[str, tuple[str, ...]], bool]) -> bool:
    if formula.indexes:
        return truth_of(formula.operator, formula.indexes)
    values = [_evaluate_formula(part, truth_of) for part in formula.parts]
    meanings: Mapping[str, Callable[[bool, bool], bool]] = {
        "&": lambda a, b: a and b,
        "|": lambda a, b: a or b,
        "->": lambda a, b: not a or b,
    }
    return not values[0] if formula.operator == "!" else reduce(meanings[formula.operator], values)
