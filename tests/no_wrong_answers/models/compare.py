"""A generated model through every engine, as the command line runs them, and where an answer is not the oracle's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from fdverify.detectors.model_catalogue import find_model
from fdverify.errors import FdverifyError
from fdverify.logic import Place, watch_premises
from fdverify.model_check.check_request import CheckRequest
from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.proof_files import load_proof
from fdverify.proofs.proof_result import ProofResult
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.verdict import Result, Verdict, ignore_progress
from tests.no_wrong_answers.models.generate import LEAST, MOST, Generated
from tests.no_wrong_answers.models.oracle import Induction, Instance, Search, has_run, induction

DEPTH, MAX_K = 5, 3
SYMBOLIC_DEPTH, SYMBOLIC_K = 4, 2
"""Claims about all ages of a buffer of arbitrary size make rounds many times as costly."""
TIME_LIMIT = 600.0
"""For a batch of proofs, which takes seconds: what does not end is unknown, and a difference."""
NEAR = (-3, 6)
"""Between what integers a dead end is looked for."""
SMALL = 2
"""How far above their least values parameters are tried when they are arbitrary."""


class Comparison:
    """What the oracle knows of a model, and the differences found so far."""

    def __init__(self, generated: Generated, folder: Path) -> None:
        self.generated = generated
        self.model, self.proof = generated.write(folder)
        self.reference = f"{self.model}:MODEL"
        self.differences: list[str] = []
        self.compared: list[Mapping[str, int | None]] = []
        """The parameters at which the model's functions were compared, whatever the command."""
        fixed: Mapping[str, int | None] = dict(generated.parameters)
        self.arbitrary = dict.fromkeys(fixed) if generated.symbolic else fixed
        self.system = find_model(self.reference).build(**fixed)
        self.claim = self.system.properties[0]
        self.instance = Instance(self.system, {})
        self.search = Search(self.instance, self.claim).run()

    def differs(self, command: str, what: str) -> None:
        self.differences.append(f"seed {self.generated.seed}: {command}: {what}")

    def expect(self, command: str, holds: bool, what: str) -> None:
        if not holds:
            self.differs(command, what)

    def ran(self, command: str, parameters: Mapping[str, int | None], **settings: Any) -> Result | None:
        request = CheckRequest(command, self.reference, parameters, {}, "claim0", settings)
        is_compared = parameters in self.compared
        self.compared.append(parameters)
        try:
            return request.run_engine(ignore_progress) if is_compared else request.compare_and_decide(ignore_progress)
        except FdverifyError as error:
            self.differs(command, f"refused: {error}")
            return None

    def instances(self, system: Any = None) -> Iterator[Instance]:
        """The instances that an answer speaks of: the one at hand, or small ones if parameters are arbitrary."""
        arbitrary = find_model(self.reference).build(**self.arbitrary) if system is None else system
        names = [parameter for parameter in arbitrary.parameters if parameter.value is None]
        for values in product(*(range(each.least, each.least + SMALL + 1) for each in names)):
            chosen = {each.name: value for each, value in zip(names, values, strict=True)}
            instance = Instance(arbitrary, chosen)
            if instance.is_admissible():
                yield instance

    def compare_engines(self) -> None:
        self.compare_explore(subrounds=False)
        if self.generated.seed % 4 == 0:  # the same search once more, in smaller steps
            self.compare_explore(subrounds=True)
        self.compare_bmc()
        self.compare_induct()

    def compare_explore(self, subrounds: bool) -> None:
        result = self.ran("explore", self.generated.parameters, subrounds=subrounds, depth=None)
        if result is None:
            return
        search = Search(self.instance, self.claim, subrounds=True).run() if subrounds else self.search
        command = "explore --subrounds" if subrounds else "explore"
        violated = search.violation is not None
        expected = Verdict.VIOLATED if violated else Verdict.VACUOUS if search.dead_end is not None else Verdict.PROVED
        self.expect(command, result.verdict is expected, f"{result.verdict}, not {expected}: {result.detail}")
        found = (result.statistics["states"], result.statistics["depth"])
        known = (search.states(), search.depth())
        self.expect(command, found == known, f"states and depth {found}, not {known}")
        if violated and result.run is not None:
            phases = len(self.system.phases)
            rounds, last = len(result.run.rounds), result.run.phases_of_last
            steps = rounds if not subrounds else (rounds - 1) * phases + last if last else 0
            self.expect(command, steps == search.violation, f"violated after {steps} steps, not {search.violation}")

    def compare_bmc(self) -> None:
        depth = SYMBOLIC_DEPTH if self.generated.symbolic else DEPTH
        result = self.ran("bmc", self.arbitrary, depth=depth)
        if result is None:
            return
        searches = [Search(instance, self.claim).run(depth) for instance in self.instances()]
        shortest = min((each.violation for each in searches if each.violation is not None), default=None)
        match result.verdict:
            case Verdict.VIOLATED:
                assert result.run is not None
                at = Search(self._at(result.run.parameters), self.claim).run(depth)
                rounds = len(result.run.rounds)
                self.expect("bmc", at.violation == rounds, f"violated after {rounds} rounds, not {at.violation}")
                self.expect("bmc", shortest is None or shortest >= rounds, f"{rounds} rounds, {shortest} are enough")
            case Verdict.BOUNDED:
                self.expect("bmc", shortest is None, f"bounded, but violated after {shortest} rounds")
                lives = any(has_run(each.instance, depth) for each in searches)
                self.expect("bmc", lives or self.generated.symbolic, "bounded, but there is no run of this length")
            case Verdict.VACUOUS:
                self.expect("bmc", shortest is None, f"vacuous, but violated after {shortest} rounds")
                self.expect("bmc", not any(has_run(each.instance, depth) for each in searches), "vacuous, but runs")
            case verdict:
                self.differs("bmc", f"{verdict}: {result.detail}")

    def _at(self, parameters: Mapping[str, int]) -> Instance:
        names = self.generated.parameters
        return Instance(find_model(self.reference).build(**{name: parameters[name] for name in names}), {})

    def compare_induct(self) -> None:
        result = self.ran("induct", self.arbitrary, max_k=SYMBOLIC_K if self.generated.symbolic else MAX_K)
        if result is None:
            return
        match result.verdict:
            case Verdict.PROVED:
                for instance in self.instances():
                    search = Search(instance, self.claim).run()
                    self.expect("induct", search.violation is None, f"proved, but violated at {instance.parameters}")
                    self.expect("induct", search.dead_end is None, f"proved, but a dead end at {instance.parameters}")
                    inside = all(instance.in_ranges(state) for state in search.reached())
                    self.expect("induct", inside, f"proved, but out of range at {instance.parameters}")
            case Verdict.VIOLATED | Verdict.NOT_INDUCTIVE:
                assert result.run is not None
                search = Search(self._at(result.run.parameters), self.claim).run(past_violation=True)
                rounds = len(result.run.rounds)
                if result.verdict is Verdict.VIOLATED:
                    self.expect("induct", search.violation == rounds, f"after {rounds} rounds, not {search.violation}")
                else:
                    out = any(not search.instance.in_ranges(state) for state in search.levels[rounds])
                    self.expect("induct", out, f"not inductive, but in range after {rounds} rounds")
            case Verdict.VACUOUS:
                dead = [Search(each, self.claim).run(past_violation=True) for each in self.instances()]
                self.expect("induct", any(each.dead_end is not None for each in dead), "vacuous without a dead end")

    def compare_proof(self, result: ProofResult) -> None:
        if result.error is not None:
            self.differs("verify-invariant", f"refused: {result.error}")
            return
        fixed = {name: value for name, value in self.arbitrary.items() if value is not None}
        proof = load_proof(self.proof).build_invariant(fixed, {}, self.generated.k)
        found = {instance: self._induction(instance, proof.authored) for instance in self.instances()}
        goal_holds = all(Search(instance, self.claim).run().violation is None for instance in found)
        self._judge_proof(result, found, goal_holds, proof.authored)

    def _induction(self, instance: Instance, conjuncts: tuple[Any, ...]) -> Induction | None:
        """What the oracle makes of the conjuncts, where it can look at all states."""
        if not self.generated.finite:
            return None
        most = MOST + max(instance.parameters.values(), default=0)
        return induction(instance, conjuncts, self.claim, LEAST, most, self.generated.k)

    def _judge_proof(
        self, result: ProofResult, found: Mapping[Instance, Induction | None], goal_holds: bool, authored: Any
    ) -> None:
        known = [each for each in found.values() if each is not None]
        failing = [each for each in known if not each.is_proof]
        command = "verify-invariant"
        match result.verdict:
            case Verdict.PROVED:
                self.expect(command, goal_holds, "proved, but the goal is violated")
                self.expect(command, not failing, f"proved, but {failing[:1]}")
                self.expect(command, not any(each.stuck for each in known), "proved, but stuck in a state of the claim")
            case Verdict.VIOLATED | Verdict.NOT_INDUCTIVE:
                self._judge_failure(result, authored)
            case Verdict.VACUOUS:
                self.expect(command, goal_holds, "vacuous, but the goal is violated")
                self.expect(command, not failing, f"vacuous, but {failing[:1]}")
                self._judge_vacuity(result, found)
            case verdict:
                # A dead end within the claim that no run comes to is all that may be left open.
                stuck = any(_is_stuck(instance, authored) for instance in found)
                self.expect(command, stuck and not failing, f"{verdict}: {result.detail}")

    def _judge_vacuity(self, result: ProofResult, instances: Iterable[Instance]) -> None:
        """Whatever is said to be vacuous is so in small instances."""
        assert result.vacuity is not None
        searches = [Search(instance, self.claim).run() for instance in instances]
        reasons = {
            "phases": lambda: any(_is_idle(number, searches) for number in range(len(self.system.phases))),
            "goal-premise": lambda: _has_unmet_premise(self.claim, searches),
            "no-dead-end": lambda: any(search.dead_end is not None for search in searches),
            "assumptions": lambda: not searches,
        }
        for obligation in result.vacuity.obligations:
            if obligation.verdict is Verdict.VACUOUS:
                self.expect("verify-invariant", reasons[obligation.name](), f"{obligation.name}: {obligation.detail}")

    def _judge_failure(self, result: ProofResult, authored: Any) -> None:
        command = "verify-invariant"
        for checked in result.checked:
            if checked.broken is None:
                continue
            instance = self._at(checked.broken.step.parameters)
            if checked.broken.breaks_goal:
                run = checked.broken.run  # at other parameters, perhaps: the smallest step need not be the one reached
                violation = None if run is None else Search(self._at(run.parameters), self.claim).run().violation
                self.expect(command, violation is not None, f"{checked.question.name}: violated, but the goal holds")
            elif self.generated.finite and sum(instance.parameters.values()) < 10:
                known = self._induction(instance, authored)
                fails = known is not None and not known.is_proof
                self.expect(
                    command, fails, f"{checked.question.name}: not inductive, but it is at {instance.parameters}"
                )


def _is_stuck(instance: Instance, conjuncts: Iterable[Any]) -> bool:
    """Whether the conjuncts hold in a state that no round leads out of; what grows is looked at up to a bound."""
    inside = (state for state in instance.box(*NEAR) if all(instance.holds(each, state) for each in conjuncts))
    return any(not instance.after_round(state) for state in inside)


def _is_idle(number: int, searches: Iterable[Search]) -> bool:
    """Whether the phase of this number never changes anything."""
    for search in searches:
        *before, phase = search.instance.system.phases[: number + 1]
        for state in {each for start in search.reached() for each in search.instance.after(before, start)}:
            if search.instance.after_phase(phase, state) - {state}:
                return False
    return True


def _has_unmet_premise(claim: Any, searches: Iterable[Search]) -> bool:
    """Whether an implication in the claim has a premise that is never true."""
    met: dict[Place, bool] = {}

    def watch(place: Place, premise: bool) -> None:
        met[place] = met.get(place, False) or premise

    with watch_premises(watch):
        for search in searches:
            for state in search.reached():
                search.instance.holds(claim, state)
    return not all(met.values())


def compare_proofs(comparisons: Iterable[Comparison]) -> None:
    """Put every proof through verify-invariant, those with the same settings together."""
    groups: dict[Any, list[Comparison]] = {}
    for each in comparisons:
        fixed = {name: value for name, value in each.arbitrary.items() if value is not None}
        groups.setdefault((tuple(fixed.items()), each.generated.k), []).append(each)
    for (fixed_items, k), group in groups.items():
        settings = ProofSettings(parameters=dict(fixed_items), k=k, jobs=1, cache=False, time_limit=TIME_LIMIT)
        for each, result in zip(group, check_proofs([each.proof for each in group], settings), strict=True):
            each.compare_proof(result)
