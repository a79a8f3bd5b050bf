"""An argument for liveness as a tree: the goal, its premises with what came of each, and the bounds it ends in."""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text
from rich.tree import Tree

from fdverify.engines.inductive import NO_DEAD_END, VACUITY, Kind
from fdverify.proofs.result import ProofResult
from fdverify.proofs.work import Subject
from fdverify.verdict import Obligation, Verdict


def argument_tree(result: ProofResult, subject: Subject) -> Tree:
    tree = Tree(_line(result.verdict, f"{result.name}: {subject.goal}", f"by {subject.reduction}"))
    obligations = result.obligations
    for premise in (found for found in obligations if found.kind == Kind.PREMISE):
        tree.add(_line(premise.verdict, premise.name, subject.meanings[premise.name]))
    for found in (found for found in obligations if found.name == NO_DEAD_END):
        tree.add(_line(found.verdict, "time-goes-on", "every state of the invariant has a next round"))
    inductive = [found for found in obligations if found.kind in (Kind.INITIATION, Kind.CONSECUTION)]
    if inductive:
        what = f"{len(inductive)} obligations of its conjuncts"
        tree.add(_line(_together(inductive), "invariant", what))
    seen = [found for found in obligations if found.kind == Kind.VACUITY and found.name in VACUITY[:-1]]
    if seen:
        tree.add(_line(_together(seen), "not-vacuous", "what it is about happens in runs: --witness shows them"))
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


def _together(obligations: Iterable[Obligation]) -> Verdict:
    """One verdict for many: proved if all are, else the first that is not."""
    return next((found.verdict for found in obligations if found.verdict is not Verdict.PROVED), Verdict.PROVED)


def _line(verdict: Verdict, name: str, meaning: str) -> Text:
    style = "green" if verdict is Verdict.PROVED else "bold red"
    return Text.assemble((str(verdict), style), f" {name}: {meaning}")
