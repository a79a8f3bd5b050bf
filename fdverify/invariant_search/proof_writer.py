"""Text of proof files, written from clauses as a person would write it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import IntEnum
from itertools import count

from fdverify.invariant_search.clause import (
    AtMost,
    Clause,
    Condition,
    FlagIs,
    HasResidue,
    InTransit,
    LabelIs,
    LinearSum,
)
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.system import System
from fdverify.printable import make_printable

_WIDEST = 120
_WIDEST_WORDS = _WIDEST - 12
_RANGES_SUFFICE = '''@proof.invariant
def ranges_suffice(s: State) -> Truth:
    """The ranges of the variables are enough."""
    return True'''
"""What a proof without conjuncts says, because each proof has at least one."""


def render_proof_file(request: CheckRequest, system: System, clauses: Sequence[Clause]) -> str:
    """Render a proof of the requested property with these conjuncts."""
    subject = _escape_docstring(f"{request.claim} of {system.name}")
    docstring = f'"""{subject}: an inductive invariant that was found by fdverify infer."""'
    own = _list_user_enums(clauses)
    head = [
        docstring,
        "",
        *(["from enum import IntEnum", ""] if own else []),
        *list_imports(clauses),
        "from fdverify.proofs import Proof",
        "",
        *(_render_enum(names) for names in own),
        *([""] if own else []),
        _render_proof_call(request),
    ]
    fixed = {name: value for name, value in request.parameters.items() if value is not None}
    assumptions = [_render_assumption(name, value) for name, value in fixed.items()]
    conjuncts = list(map(render_conjunct, clauses, name_conjuncts(clauses))) or [_RANGES_SUFFICE]
    return "\n\n\n".join(["\n".join(head), *assumptions, *conjuncts]) + "\n"


def render_conjunct(clause: Clause, name: str) -> str:
    """Render one conjunct of a proof file."""
    meaning = _escape_docstring(_describe_clause(clause))
    line = f"    return {clause.to_source()}"
    if len(line) > _WIDEST and clause.premises:
        line = (
            f"    premise = {clause.premises_to_source()}\n    return Implies(premise, {clause.conclusion.to_source()})"
        )
    return f'@proof.invariant\ndef {name}(s: State) -> Truth:\n    """{meaning}"""\n{line}'


def _render_proof_call(request: CheckRequest) -> str:
    model = request.find_model()
    defaults = {option.name: option.default for option in model.options}
    chosen = {name: value for name, value in request.options.items() if value != defaults[name]}
    arguments = [_quote_text(str(request.model)), f"goal={_quote_text(str(request.claim))}"]
    arguments += [f"{name}={_quote_text(value) if isinstance(value, str) else value}" for name, value in chosen.items()]
    return f"proof = Proof({', '.join(arguments)})"


def _quote_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    letters = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in escaped)
    return f'"{"".join(letters)}"'


def _escape_docstring(text: str) -> str:
    """Escape text so that it can stand in a docstring without ending it."""
    return make_printable(text).replace("\\", "\\\\").replace('"', "'")


def _render_assumption(name: str, value: int) -> str:
    return (
        f'@proof.assumption\ndef {name}_is_{value}(s: State) -> Truth:\n    """{name} is {value}."""\n'
        f"    return s.{name} == {value}"
    )


def list_imports(clauses: Iterable[Clause]) -> list[str]:
    """List the import lines that conjuncts need at the top of a file."""
    text = "\n".join(clause.to_source() for clause in clauses)
    logic = [name for name in ("And", "Implies", "Not") if f"{name}(" in text]
    packages: dict[str, list[str]] = {}
    for names in filter(_is_shipped, _list_enums(clauses)):
        packages.setdefault(names.__module__.rpartition(".")[0], []).append(names.__name__)
    return [
        f"from fdverify.logic import {', '.join([*logic, 'Truth'])}",
        *(f"from {package} import {', '.join(sorted(names))}" for package, names in sorted(packages.items())),
        "from fdverify.models.system import State",
    ]


def list_required_lines(clauses: Iterable[Clause]) -> list[str]:
    """List all lines that conjuncts need above them: imports, and copies of the program counters of a user's model."""
    own = _list_user_enums(clauses)
    return [*(["from enum import IntEnum"] if own else []), *list_imports(clauses), *map(_render_enum, own)]


def _list_user_enums(clauses: Iterable[Clause]) -> list[type[IntEnum]]:
    return [names for names in _list_enums(clauses) if not _is_shipped(names)]


def _list_enums(clauses: Iterable[Clause]) -> list[type[IntEnum]]:
    """List the program counters that the clauses mention."""
    conditions = [condition for clause in clauses for condition in (*clause.premises, clause.conclusion)]
    return list(dict.fromkeys(type(condition.label) for condition in conditions if isinstance(condition, LabelIs)))


def _is_shipped(names: type[IntEnum]) -> bool:
    return names.__module__.startswith("fdverify.")


def _render_enum(names: type[IntEnum]) -> str:
    members = ", ".join(f'"{member.name}": {member.value}' for member in names)
    return f'{names.__name__} = IntEnum("{names.__name__}", {{{members}}})'


def name_conjuncts(clauses: Sequence[Clause], taken: Collection[str] = ()) -> list[str]:
    """Name each clause by its subject, with a number where that name is not unique or is taken."""
    plain = [_build_name(clause) for clause in clauses]
    names: list[str] = []
    for name in plain:
        numbered = (f"{name}_{number}" for number in count(1))
        unique = plain.count(name) == 1 and name not in taken
        names.append(name if unique else next(free for free in numbered if free not in (*taken, *names)))
    return names


def _build_name(clause: Clause) -> str:
    places = [f"at_{c.label.name.lower()}" for c in clause.premises if isinstance(c, LabelIs) and c.yes]
    return "_".join([_name_subject(clause.conclusion), *places])


def _name_subject(condition: Condition) -> str:
    match condition:
        case LabelIs(subject, label, yes):
            return f"{subject}_is_{'' if yes else 'not_'}{label.name.lower()}"
        case FlagIs(subject, yes):
            return subject if yes else f"not_{subject}"
        case InTransit(low=low, high=high, yes=yes):
            age = "" if low == high is None else "old_" if low is not None else "young_"
            return f"{'' if yes else 'no_'}{age}message"
        case AtMost(left, right):
            return f"bound_on_{_get_first_name(left) or _get_first_name(right)}"
        case HasResidue(sum=total):
            return f"residue_of_{_get_first_name(total)}"


def _get_first_name(total: LinearSum) -> str:
    return next((name.replace("*", "_") for name, _ in total.coefficients), "")


def _describe_clause(clause: Clause) -> str:
    """Describe the clause in a sentence that fits into a line."""
    conclusion = _describe_condition(clause.conclusion)
    if not clause.premises:
        return f"Always {conclusion}."
    sentence = f"While {' and '.join(_describe_condition(premise) for premise in clause.premises)}: {conclusion}."
    return sentence if len(sentence) <= _WIDEST_WORDS else f"Under the premise below: {conclusion}."


def _describe_condition(condition: Condition) -> str:
    match condition:
        case LabelIs(subject, label, yes):
            return f"{subject} is {'' if yes else 'not '}{label.name}"
        case FlagIs(subject, yes):
            return subject if yes else f"not {subject}"
        case InTransit(subject=subject, yes=yes, low=None, high=None):
            return f"{subject} is not empty" if yes else f"{subject} is empty"
        case InTransit(subject=subject, yes=yes, low=low, high=high):
            return f"{subject} has {'an' if yes else 'no'} age {_describe_ages(low, high)}"
        case AtMost() | HasResidue():
            return _render_plain(condition)


def _describe_ages(low: LinearSum | None, high: LinearSum | None) -> str:
    if low is None or high is None:
        return f">= {_render_plain(low)}" if low is not None else f"<= {_render_plain(high or LinearSum(()))}"
    return _render_plain(low) if low == high else f"from {_render_plain(low)} to {_render_plain(high)}"


def _render_plain(part: Condition | LinearSum) -> str:
    return part.to_source().replace("s.", "")
