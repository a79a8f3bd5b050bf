"""Claims about a detector, as tests."""

from fdverify import Verify


def test_the_proof_holds_of_the_other_variant(verify: Verify) -> None:
    verify.proved("invariants/strong_accuracy.py", variant="tla")


def test_a_short_timeout_is_too_short(verify: Verify) -> None:
    steps = verify.violated("chandra-toueg", "strong-accuracy", delta=3, phi=2, timeout="phi+delta")
    assert steps.steps[-1].state["suspected"]


def test_as_many_states_as_tlc_counts(verify: Verify) -> None:
    found = verify.explored("chandra-toueg", "strong-accuracy", delta=2, phi=4, subrounds=True)
    assert found.statistics["states"] == 10158
