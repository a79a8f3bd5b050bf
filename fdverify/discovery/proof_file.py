"""A proof file as a person would write it, from clauses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import IntEnum

from fdverify.discovery.clauses import AtMost, Clause, Condition, InTransit, Is, IsAt, Linear
from fdverify.job import Job
from fdverify.models.system import Labels, System

_WIDEST = 120
_WIDEST_WORDS = _WIDEST - 12


def proof_text(job: Job, system: System, clauses: Sequence[Clause]) -> str:
    """The text of a proof of the job's property with these conjuncts."""
    fixed = {name: value for name, value in job.parameters.items() if value is not None}
    names = _names(clauses)
    conjuncts = [conjunct_text(clause, name) for clause, name in zip(clauses, names, strict=True)]
    assumptions = [_assumption(name, value) for name, value in fixed.items()]
    header = f'"""{job.claim} of {system.name}: an inductive invariant that was found by fdverify infer."""'
    return (
        "\n\n\n".join(["\n".join([header, "", *_imports(system, clauses), "", _proof(job)]), *assumptions, *conjuncts])
        + "\n"
    )


def conjunct_text(clause: Clause, name: str) -> str:
    """One conjunct of a proof file."""
    meaning = _words(clause)
    line = f"    return {clause.source()}"
    if len(line) > _WIDEST and clause.premises:
        premises = ", ".join(premise.source() for premise in clause.premises)
        premise = premises if len(clause.premises) == 1 else f"And({premises})"
        line = f"    premise = {premise}\n    return Implies(premise, {clause.conclusion.source()})"
    return f'@proof.invariant\ndef {name}(s: State) -> Truth:\n    """{meaning}"""\n{line}'


def _proof(job: Job) -> str:
    model = job.find_model()
    defaults = {option.name: option.default for option in model.options}
    chosen = {name: value for name, value in job.options.items() if value != defaults[name]}
    arguments = [_quoted(str(job.model)), f"goal={_quoted(str(job.claim))}"]
    arguments += [f"{name}={_quoted(value) if isinstance(value, str) else value}" for name, value in chosen.items()]
    return f"proof = Proof({', '.join(arguments)})"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _assumption(name: str, value: int) -> str:
    return (
        f'@proof.assumption\ndef {name}_is_{value}(s: State) -> Truth:\n    """{name} is {value}."""\n'
        f"    return s.{name} == {value}"
    )


def _imports(system: System, clauses: Iterable[Clause]) -> list[str]:
    """What the conjuncts use; the names of a user's own program counters are written down once more."""
    text = "\n".join(clause.source() for clause in clauses)
    logic = [name for name in ("And", "Implies", "Not") if f"{name}(" in text]
    enums = [
        v.sort.names for v in system.variables if isinstance(v.sort, Labels) and f"{v.sort.names.__name__}." in text
    ]
    shipped = [names for names in enums if names.__module__.startswith("fdverify.")]
    own = [names for names in enums if names not in shipped]
    lines = ["from enum import IntEnum", ""] if own else []
    lines.append(f"from fdverify.logic import {', '.join([*logic, 'Truth'])}")
    packages = {names.__module__.rpartition(".")[0] for names in shipped}
    for package in sorted(packages):
        listed = sorted(names.__name__ for names in shipped if names.__module__.rpartition(".")[0] == package)
        lines.append(f"from {package} import {', '.join(dict.fromkeys(listed))}")
    lines += ["from fdverify.models.system import State", "from fdverify.proofs import Proof"]
    for names in dict.fromkeys(own):
        lines += ["", _written(names)]
    return lines


def _written(names: type[IntEnum]) -> str:
    members = ", ".join(f'"{member.name}": {member.value}' for member in names)
    return f'{names.__name__} = IntEnum("{names.__name__}", {{{members}}})'


def _names(clauses: Sequence[Clause]) -> list[str]:
    """A name for each conjunct that says what it is about; a number where two say the same."""
    plain = ["_".join([_name(clause.conclusion), *map(_short, clause.premises)]) for clause in clauses]
    count, seen = Counter(plain), Counter[str]()
    names = []
    for name in plain:
        seen[name] += 1
        names.append(name if count[name] == 1 else f"{name}_{seen[name]}")
    return names


def _name(condition: Condition) -> str:
    match condition:
        case IsAt(subject, label):
            return f"{subject}_is_{label.name.lower()}"
        case Is(subject, yes):
            return subject if yes else f"not_{subject}"
        case InTransit(low=low, high=high, yes=yes):
            age = "" if low == high is None else "old_" if low is not None else "young_"
            return f"{'' if yes else 'no_'}{age}message"
        case AtMost(left, right):
            return f"bound_on_{_first(left) or _first(right)}"


def _first(total: Linear) -> str:
    return next((name for name, _ in total.coefficients), "")


def _short(condition: Condition) -> str:
    match condition:
        case IsAt(label=label):
            return f"at_{label.name.lower()}"
        case InTransit(subject=subject, yes=yes, low=None, high=None):
            return f"while_{subject}_is_{'not_' if yes else ''}empty"
        case _:
            return f"while_{_name(condition)}"


def _words(clause: Clause) -> str:
    """The clause in words, as a sentence that fits into a line."""
    conclusion = _said(clause.conclusion)
    if not clause.premises:
        return f"Always {conclusion}."
    sentence = f"While {' and '.join(_said(premise) for premise in clause.premises)}: {conclusion}."
    return sentence if len(sentence) <= _WIDEST_WORDS else f"Under the premise below: {conclusion}."


def _said(condition: Condition) -> str:
    match condition:
        case IsAt(subject, label):
            return f"{subject} is {label.name}"
        case Is(subject, yes):
            return subject if yes else f"not {subject}"
        case InTransit(subject=subject, yes=yes, low=None, high=None):
            return f"{subject} is not empty" if yes else f"{subject} is empty"
        case InTransit(subject=subject, yes=yes, low=low, high=high):
            number = low or high or Linear(())
            relation = "" if low == high else ">= " if low is not None else "<= "
            return f"{subject} has {'an' if yes else 'no'} age {relation}{number.source().replace('s.', '')}"
        case AtMost():
            return condition.source().replace("s.", "")
