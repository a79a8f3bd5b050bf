"""Proofs that ship with a conjunct dropped, so that a step breaks them."""

from copy import copy
from pathlib import Path
from random import Random

from fdverify.obligations.inductive import build_obligations
from fdverify.proofs.proof import Proof
from fdverify.proofs.proof_files import list_proof_files, load_proof
from fdverify.proofs.tasks import ProofCase
from fdverify.smt.decide import decide_script

INVARIANTS = Path(__file__).parents[2] / "invariants"
SEED = 2026

NOT_NEEDED = {
    "asynchronous_completeness": "crashed_sender_is_idle",
    "eventually_strong_accuracy": "safe_timeout_unchanged timeout_grows_until_safe",
    "lasting_suspicion": "crashed_sender_is_idle suspected_in_time all_delivered waited_for_timeout",
    "strong_accuracy": "safe_timeout unchanged_timeout",
    "strong_completeness_any_timeout": "crashed_sender_is_idle safe_timeout_unchanged timeout_grows_until_safe "
    "suspected_in_time safe_suspicion all_delivered waited_for_timeout",
    "strong_completeness_big_timeout": "safe_timeout unchanged_timeout crashed_sender_is_idle correct_and_trusted "
    "suspected_in_time all_delivered waited_for_timeout",
    "strong_completeness_fixed_timeout": "fixed_timeout unchanged_timeout crashed_sender_is_idle correct_and_trusted "
    "suspected_in_time all_delivered waited_for_timeout",
    "tight_completeness_ivy": "waits_in_threes",
    "tight_completeness_tla": "waits_in_threes",
}
"""Conjuncts that a proof is a proof without."""


def conjuncts() -> list[tuple[str, str]]:
    """Every conjunct of every proof of the Chandra-Toueg detector."""
    files = [file for file in list_proof_files([INVARIANTS]) if file.parent == INVARIANTS]
    return [(file.stem, conjunct.name) for file in files for conjunct in load_proof(file).get_lemmas()]


def broken_pairs() -> list[tuple[str, str]]:
    """Those without which a step breaks the proof."""
    return sorted((file, name) for file, name in conjuncts() if name not in NOT_NEEDED.get(file, "").split())


def ten() -> list[tuple[str, str]]:
    return Random(SEED).sample(broken_pairs(), 10)


def without(file: str, name: str) -> ProofCase:
    """The proof with the conjunct dropped from it, so that nothing that reads the proof can know it."""
    proof: Proof = copy(load_proof(INVARIANTS / f"{file}.py"))  # files are loaded once
    kept = [at for at, conjunct in enumerate(proof.get_lemmas()) if conjunct.name != name]
    proof._conjuncts = [proof._conjuncts[at] for at in kept]
    proof._predicates = [proof._predicates[at] for at in kept]
    proof.written = {other: predicate for other, predicate in proof.written.items() if other != name}
    proof.sources = {other: source for other, source in proof.sources.items() if other != name}
    return ProofCase(proof, {}, {}, 1)


def is_proved(case: ProofCase) -> bool:
    loaded = case.load()
    with loaded.enter_author_context():
        asked = build_obligations(loaded.invariant)
    return all(decide_script(each.script, core=False).status == "unsat" for each in asked)
