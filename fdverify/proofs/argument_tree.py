"""An argument for liveness as a tree: the goal, its premises with what came of each, and the bounds it ends in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rich.tree import Tree

from fdverify.obligations.obligation import NO_DEAD_END, VACUITY, ObligationKind
from fdverify.proofs.proof_result import ProofResult, ProofSubject
from fdverify.reports.safe_text import Text
from fdverify.verdict import Obligation, Verdict


@dataclass(frozen=True)
class ArgumentPremise:
    """What an argument rests on, and what came of it."""

    verdict: Verdict
    name: str
    meaning: str

    WRITTEN = ("name", "meaning", "verdict")


def list_premises(result: ProofResult, subject: ProofSubject) -> list[ArgumentPremise]:
    obligations = result.obligations
    premises = [
        ArgumentPremise(each.verdict, each.name, subject.meanings[each.name])
        for each in obligations
        if each.kind == ObligationKind.PREMISE
    ]
    going_on = "every state of the invariant has a next round"
    premises += [
        ArgumentPremise(each.verdict, "time-goes-on", going_on) for each in obligations if each.name == NO_DEAD_END
    ]
    inductive = [each for each in obligations if each.kind in (ObligationKind.INITIATION, ObligationKind.CONSECUTION)]
    if inductive:
        premises.append(
            ArgumentPremise(_combine_verdicts(inductive), "invariant", f"{len(inductive)} obligations of its conjuncts")
        )
    seen = [each for each in obligations if each.kind == ObligationKind.VACUITY and each.name in VACUITY[:-1]]
    if seen:
        happens = "what it is about happens in runs: --witness shows them"
        premises.append(ArgumentPremise(_combine_verdicts(seen), "not-vacuous", happens))
    return premises


def build_argument_tree(result: ProofResult, subject: ProofSubject) -> Tree:
    tree = Tree(
        _render_premise(ArgumentPremise(result.verdict, f"{result.name}: {subject.goal}", f"by {subject.reduction}"))
    )
    for premise in list_premises(result, subject):
        tree.add(_render_premise(premise))
    if subject.fairness:
        fair = tree.add(Text("assuming fairness: again and again,"))
        for meaning in subject.fairness.values():
            fair.add(Text(meaning))
    if result.verdict is Verdict.PROVED:
        bounds = tree.add(Text("bounds"))
        for bound in subject.bounds:
            remark = f" ({bound.remark})" if bound.remark else ""
            bounds.add(Text(f"{bound.of}: {bound.formula}{remark}"))
    return tree


def _combine_verdicts(obligations: Iterable[Obligation]) -> Verdict:
    """One verdict for many: proved if all are, else the first that is not."""
    return next((each.verdict for each in obligations if each.verdict is not Verdict.PROVED), Verdict.PROVED)


def _render_premise(premise: ArgumentPremise) -> Text:
    style = "green" if premise.verdict is Verdict.PROVED else "bold red"
    line = Text()
    line.append(str(premise.verdict), style=style)
    line.append(f" {premise.name}: {premise.meaning}")
    return line
