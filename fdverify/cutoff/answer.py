"""What the cutoff says of a template and a property, put together: in a process that can be given up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from fdverify.cutoff.catalogue import DEFAULT_VARIANT, SHIPPED, find_template
from fdverify.cutoff.check import Carried, Checked, check_lemmas
from fdverify.cutoff.explore import Found, Instance, explore, in_words
from fdverify.cutoff.formula import Shape, shape_of
from fdverify.cutoff.rounds import Computation, Rounds
from fdverify.cutoff.template import Claim, Template
from fdverify.errors import UsageError
from fdverify.models.user_files import blaming, neighbours_importable
from fdverify.smt.worker import TimeLimitReached, WorkerDied, run_in_worker
from fdverify.verdict import Verdict, worst


@dataclass(frozen=True)
class Small:
    """A small system to be explored."""

    processes: int
    delta: int
    phi: int
    computation: Computation = Computation.PARTIAL_SYNCHRONY
    depth: int | None = None


@dataclass(frozen=True)
class Question:
    """A template and a property by name or formula; options are the shipped template's."""

    template: str
    options: Mapping[str, str | int] = field(default_factory=dict)
    property: str | None = None
    second: str | None = None
    small: Small | None = None
    proofs: tuple[Path, ...] = ()
    """Proofs that are to carry over to N processes; those that ship, by default."""

    def found_template(self) -> Template:
        return find_template(self.template, self.options)

    def claims(self, template: Template) -> list[Claim]:
        """What is asked about: a property of the template, a formula, or all that the template claims."""
        if self.property is None:
            return list(template.claims)
        if "(" in self.property:
            return [Claim(self.property, self.property, "as it was given")]
        return [template.claim(self.property)]


@dataclass(frozen=True)
class Explored:
    """What became of a claim in a small system, of different processes or of each ``with_itself``.

    ``run`` are the configurations of a run that violates it, in words; those after ``loop`` can come back for ever.
    """

    property: str
    with_itself: bool
    verdict: Verdict
    configurations: int
    rounds: int
    processes: tuple[int, ...] = ()
    run: tuple[Mapping[str, str], ...] = ()
    loop: int | None = None


Event: TypeAlias = Checked | Carried | Explored


@dataclass
class Answer:
    checked: list[Checked] = field(default_factory=list)
    carried: list[Carried] = field(default_factory=list)
    explored: list[Explored] = field(default_factory=list)
    lost: str | None = None
    """Why the rest is not known."""

    @property
    def verdict(self) -> Verdict:
        """Of the lemmas alone."""
        verdicts = {checked.verdict for checked in self.checked}
        for verdict in (Verdict.VIOLATED, Verdict.VACUOUS, Verdict.UNKNOWN):
            if verdict in verdicts:
                return verdict
        return Verdict.UNKNOWN if self.lost is not None else Verdict.PROVED

    @property
    def exit_code(self) -> int:
        codes = {self.verdict.exit_code, *(each.verdict.exit_code for each in self.explored)}
        if any(each.undecided_at_start for each in self.carried):
            codes.add(Verdict.UNKNOWN.exit_code)
        return worst(codes)


def _explored_verdict(found: Found) -> Verdict:
    if not found.holds:
        return Verdict.VIOLATED
    if found.dead_end:
        return Verdict.VACUOUS
    return Verdict.PROVED if found.complete else Verdict.BOUNDED


def shapes(question: Question) -> dict[str, Shape]:
    """The shape of each claim, or why it has none that fits."""
    template = question.found_template()
    found = {claim.name: shape_of(template, claim.formula) for claim in question.claims(template)}
    for name, shape in found.items():
        if question.small is not None and shape.temporal is None:
            raise UsageError(
                f"only G and F G of what is true of states is explored, not {name}", "leave out --processes"
            )
    return found


def answer(question: Question, time_limit: float | None, report: Callable[[str], None]) -> Answer:
    """Check, in a worker process; what is not done in time is not known."""
    made = Answer()

    def heard(event: Event) -> None:
        match event:
            case Checked():
                made.checked.append(event)
                report(event.name)
            case Carried():
                made.carried.append(event)
                report(event.proof)
            case Explored():
                made.explored.append(event)
                report(event.property)

    try:
        run_in_worker(_Work(question), time_limit, heard)
    except TimeLimitReached:
        limit = "" if time_limit is None else f" of {time_limit:g} s"
        made.lost = f"the time limit{limit} was reached"
    except WorkerDied as end:
        made.lost = str(end)
    return made


@dataclass(frozen=True)
class _Work:
    question: Question

    def __call__(self, send: Callable[[Event], None]) -> None:
        question = self.question
        template = question.found_template()
        path = Path(question.template.rsplit(":", 1)[0])
        with neighbours_importable(path), blaming(path):
            check_lemmas(template.rounds, question.second, send)
        if question.template == SHIPPED:
            self._detector(send)
        if question.small is not None:
            with neighbours_importable(path), blaming(path):
                self._explore(template, question.small, send)

    def _detector(self, send: Callable[[Event], None]) -> None:
        from fdverify.cutoff.detector import check_carried, check_detector

        template = self.question.found_template()
        variant = str(self.question.options.get("variant", DEFAULT_VARIANT))
        check_detector(variant, template.rounds, self.question.second, send)
        check_carried(variant, template.start, self.question.proofs, send)

    def _explore(self, template: Template, small: Small, send: Callable[[Event], None]) -> None:
        for claim in self.question.claims(template):
            shape = shape_of(template, claim.formula)
            for equal in (False, True) if len(shape.indexes) == 2 else (False,):
                if not equal and len(shape.indexes) > small.processes:
                    continue
                # Rounds of the class never read a pair for another one; others may.
                watched = None if type(template.rounds) is not Rounds else _watched(small.processes, shape, equal)
                instance = Instance(template, small.processes, small.delta, small.phi, small.computation, watched)
                send(_told(claim, equal, instance, explore(instance, shape, small.depth, equal)))


def _told(claim: Claim, equal: bool, instance: Instance, found: Found) -> Explored:
    rows = tuple(in_words(instance, found.run))
    loop = None if found.loop is None else len(in_words(instance, found.run[: found.loop + 1])) - 1
    return Explored(
        claim.name, equal, _explored_verdict(found), found.states, found.rounds, found.processes, rows, loop
    )


def _watched(processes: int, shape: Shape, equal: bool) -> list[tuple[int, int]]:
    """The pairs that the property reads, of the first processes: they stand for all, by symmetry."""
    first = [1] * len(shape.indexes) if equal else list(range(1, processes + 1))
    meant = dict(zip(shape.indexes, first, strict=False))
    read = [part.indexes for part in shape.formula.walk() if len(part.indexes) == 2]
    return list(dict.fromkeys((meant[p], meant[q]) for p, q in read)) or [(1, 1)]
