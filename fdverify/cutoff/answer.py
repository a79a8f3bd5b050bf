"""Questions to the cutoff about a template and its properties, and their answers, computed in a worker process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from fdverify.cutoff.indexed_formula import CutoffProperty, parse_property
from fdverify.cutoff.lemma_check import CarriedProof, LemmaResult, check_lemmas
from fdverify.cutoff.rounds import ComputationModel, Rounds
from fdverify.cutoff.small_system import ExplorationResult, SmallSystem, explore_small_system, format_run
from fdverify.cutoff.template import Claim, Template
from fdverify.cutoff.template_catalogue import DEFAULT_VARIANT, SHIPPED, find_template
from fdverify.errors import UsageError
from fdverify.models.loading import allow_neighbour_imports, blame_errors_on
from fdverify.verdict import Verdict, choose_exit_code
from fdverify.workers.worker_process import TimeLimitReached, WorkerDied, run_in_worker


@dataclass(frozen=True)
class SmallSystemBounds:
    """The size of a small system to explore."""

    processes: int
    delta: int
    phi: int
    computation: ComputationModel = ComputationModel.PARTIAL_SYNCHRONY
    depth: int | None = None


@dataclass(frozen=True)
class CutoffQuestion:
    """A template, and a property by name or formula; the options are those of the shipped template."""

    template: str
    options: Mapping[str, str | int] = field(default_factory=dict)
    property: str | None = None
    second: str | None = None
    small: SmallSystemBounds | None = None
    proofs: tuple[Path, ...] = ()
    """The proofs to carry over to N processes; by default the shipped ones."""

    def load_template(self) -> Template:
        return find_template(self.template, self.options)

    def list_claims(self, template: Template) -> list[Claim]:
        """List the claims in question: one of the template, a formula, or all claims of the template."""
        if self.property is None:
            return list(template.claims)
        if "(" in self.property:
            return [Claim(self.property, self.property, "given on the command line")]
        return [template.find_claim(self.property)]


@dataclass(frozen=True)
class ExploredClaim:
    """The result of a claim in a small system, about different processes or about each process ``with_itself``.

    ``run`` has the configurations of a run that violates the claim, as text; those after ``loop`` repeat for ever.
    """

    property: str
    with_itself: bool
    verdict: Verdict
    configurations: int
    rounds: int
    processes: tuple[int, ...] = ()
    run: tuple[Mapping[str, str], ...] = ()
    loop: int | None = None


Event: TypeAlias = LemmaResult | CarriedProof | ExploredClaim


@dataclass
class CutoffAnswer:
    """The results of lemmas, carried proofs and explored claims, as far as they are known."""

    checked: list[LemmaResult] = field(default_factory=list)
    carried: list[CarriedProof] = field(default_factory=list)
    explored: list[ExploredClaim] = field(default_factory=list)
    lost: str | None = None
    """The reason why the rest is not known."""

    @property
    def verdict(self) -> Verdict:
        """The verdict of the lemmas alone."""
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
        return choose_exit_code(codes)


def _decide_verdict(exploration: ExplorationResult) -> Verdict:
    if not exploration.holds:
        return Verdict.VIOLATED
    if exploration.dead_end:
        return Verdict.VACUOUS
    return Verdict.PROVED if exploration.complete else Verdict.BOUNDED


def parse_properties(question: CutoffQuestion) -> dict[str, CutoffProperty]:
    """Parse each claim into the shape that the cutoff needs; refuse other claims."""
    template = question.load_template()
    shapes = {claim.name: parse_property(template, claim.formula) for claim in question.list_claims(template)}
    for name, shape in shapes.items():
        if question.small is not None and shape.temporal is None:
            raise UsageError(f"only G and F G of state formulas can be explored, not {name}", "leave out --processes")
    return shapes


def answer_question(question: CutoffQuestion, time_limit: float | None, report: Callable[[str], None]) -> CutoffAnswer:
    """Answer in a worker process; at the time limit, return the partial answer."""
    answer = CutoffAnswer()

    def record_event(event: Event) -> None:
        match event:
            case LemmaResult():
                answer.checked.append(event)
                report(event.name)
            case CarriedProof():
                answer.carried.append(event)
                report(event.proof)
            case ExploredClaim():
                answer.explored.append(event)
                report(event.property)

    try:
        run_in_worker(_CutoffTask(question), time_limit, record_event)
    except TimeLimitReached:
        limit = "" if time_limit is None else f" of {time_limit:g} s"
        answer.lost = f"the time limit{limit} was reached"
    except WorkerDied as end:
        answer.lost = str(end)
    return answer


@dataclass(frozen=True)
class _CutoffTask:
    question: CutoffQuestion

    def __call__(self, send: Callable[[Event], None]) -> None:
        question = self.question
        template = question.load_template()
        path = Path(question.template.rsplit(":", 1)[0])
        with allow_neighbour_imports(path), blame_errors_on(path):
            check_lemmas(template.rounds, question.second, send)
        if question.template == SHIPPED:
            self._check_detector(send)
        if question.small is not None:
            with allow_neighbour_imports(path), blame_errors_on(path):
                self._explore_claims(template, question.small, send)

    def _check_detector(self, send: Callable[[Event], None]) -> None:
        from fdverify.cutoff.detector_lemmas import check_carried_proofs, check_detector_lemmas

        template = self.question.load_template()
        variant = str(self.question.options.get("variant", DEFAULT_VARIANT))
        check_detector_lemmas(variant, template.rounds, self.question.second, send)
        check_carried_proofs(variant, template.start, self.question.proofs, send)

    def _explore_claims(self, template: Template, small: SmallSystemBounds, send: Callable[[Event], None]) -> None:
        for claim in self.question.list_claims(template):
            shape = parse_property(template, claim.formula)
            for equal in (False, True) if len(shape.indexes) == 2 else (False,):
                if not equal and len(shape.indexes) > small.processes:
                    continue
                # Rounds of this very class read no other pairs; those of a subclass may.
                watched = (
                    None if type(template.rounds) is not Rounds else _list_watched_pairs(small.processes, shape, equal)
                )
                instance = SmallSystem(template, small.processes, small.delta, small.phi, small.computation, watched)
                send(
                    _summarise_exploration(
                        claim, equal, instance, explore_small_system(instance, shape, small.depth, equal)
                    )
                )


def _summarise_exploration(
    claim: Claim, equal: bool, instance: SmallSystem, exploration: ExplorationResult
) -> ExploredClaim:
    rows = tuple(format_run(instance, exploration.run))
    loop = None if exploration.loop is None else len(format_run(instance, exploration.run[: exploration.loop + 1])) - 1
    return ExploredClaim(
        claim.name,
        equal,
        _decide_verdict(exploration),
        exploration.states,
        exploration.rounds,
        exploration.processes,
        rows,
        loop,
    )


def _list_watched_pairs(processes: int, shape: CutoffProperty, equal: bool) -> list[tuple[int, int]]:
    """List the pairs that the property reads, for the first processes, which by symmetry stand for all."""
    first = [1] * len(shape.indexes) if equal else list(range(1, processes + 1))
    meant = dict(zip(shape.indexes, first, strict=False))
    read = [part.indexes for part in shape.formula.walk() if len(part.indexes) == 2]
    return list(dict.fromkeys((meant[p], meant[q]) for p, q in read)) or [(1, 1)]
