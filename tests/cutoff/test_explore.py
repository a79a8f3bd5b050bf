"""Small systems: three processes seen at two are two processes, and both agree with one sender and one receiver."""

from itertools import product
from pathlib import Path

import pytest

from fdverify.cutoff.chandra_toueg_template import chandra_toueg
from fdverify.cutoff.indexed_formula import parse_property
from fdverify.cutoff.rounds import ComputationModel
from fdverify.cutoff.small_system import (
    SUB_ROUNDS,
    ExplorationNode,
    SmallSystem,
    StoredConfiguration,
    explore_small_system,
)
from fdverify.cutoff.template import Template
from fdverify.detectors.chandra_toueg.two_process_system import build_chandra_toueg as model
from fdverify.engines.explore import explore as explore_model
from fdverify.engines.live import live
from fdverify.errors import UsageError
from fdverify.verdict import Verdict, ignore_progress
from tests.sampling import choose, every

ACCURACY, EVENTUALLY, COMPLETENESS = "strong-accuracy", "eventually-strong-accuracy", "strong-completeness"


def verdict(template: Template, processes: int, delta: int, phi: int, claim: str) -> bool:
    """Of processes 1 and 2, with no more stored of the others than where they are."""
    watched = [(1, 2)] if processes > 1 else [(1, 1)]
    shape = parse_property(template, template.find_claim(claim).formula)
    found = explore_small_system(
        SmallSystem(template, processes, delta, phi, watched=watched), shape, equal=processes == 1
    )
    assert found.complete
    assert not found.dead_end
    return found.holds


def seen_at_two(instance: SmallSystem, node: ExplorationNode) -> ExplorationNode:
    """The projection of Construction 4.9, on processes 1 and 2."""
    state = node.state
    places = [place for place, pair in enumerate(instance.pairs) if max(pair) <= 2]
    parts = [part[:2] for part in state[:3]] + [tuple(part[place] for place in places) for part in state[3:]]
    return ExplorationNode(node.following, StoredConfiguration(*parts))


@pytest.mark.parametrize(
    ("computation", "delta", "phi", "rounds"),
    [
        (ComputationModel.PARTIAL_SYNCHRONY, 0, 1, 6),
        (ComputationModel.PARTIAL_SYNCHRONY, 1, 1, 6),
        (ComputationModel.PARTIAL_SYNCHRONY, 0, 2, choose(full=6, sample=3)),
        (ComputationModel.PARTIAL_SYNCHRONY, 1, 2, choose(full=6, sample=3)),
        (ComputationModel.SYNCHRONY, 1, 1, choose(full=3, sample=2)),
        (ComputationModel.ASYNCHRONY, 1, 1, choose(full=4, sample=3)),
    ],
)
def test_runs_of_three_seen_at_two_are_the_runs_of_two(
    computation: ComputationModel, delta: int, phi: int, rounds: int
) -> None:
    """Lemma 4.13 up to so many rounds: wherever three are, the next of them seen at two are the next of two."""
    template = chandra_toueg(timeout=1)
    three = SmallSystem(template, 3, delta, phi, computation)
    two = SmallSystem(template, 2, delta, phi, computation)
    assert seen_at_two(three, three.build_initial_node()) == two.build_initial_node()
    known: dict[ExplorationNode, frozenset[ExplorationNode]] = {}
    frontier = {three.build_initial_node()}
    for _ in range(rounds * len(SUB_ROUNDS)):
        following: set[ExplorationNode] = set()
        for node in frontier:
            seen = seen_at_two(three, node)
            if seen not in known:
                known[seen] = frozenset(two.list_successors(seen))
            after = three.list_successors(node)
            assert {seen_at_two(three, each) for each in after} == known[seen]
            following.update(after)
        frontier = following
    assert len(known) > rounds


AGREEING = [("tla", "send", 2, 1, 7), ("ivy", "receive", 2, 0, 6), ("ivy", "receive", 2, 1, 8)]
"""Variant, first step, Φ, Δ and least safe timeout, where the model and the processes have the same one."""


@pytest.mark.parametrize(("variant", "start", "phi", "delta", "least"), every(2, AGREEING))
@pytest.mark.parametrize("claim", every(2, [ACCURACY, EVENTUALLY, COMPLETENESS]))
@pytest.mark.parametrize("below", [0, 1])
def test_two_processes_three_and_the_model_agree(
    variant: str, start: str, phi: int, delta: int, least: int, claim: str, below: int
) -> None:
    template = chandra_toueg(variant, least - below, start)
    expected = claim != ACCURACY or below == 0
    assert holds_of_model(variant, delta, phi, least - below, claim) == expected
    assert verdict(template, 2, delta, phi, claim) == expected
    if choose(full=True, sample=delta == 0 and (claim, below) in ((ACCURACY, 1), (EVENTUALLY, 0))):
        assert verdict(template, 3, delta, phi, claim) == expected


LEAST_SAFE = {
    (1, 0): ((3, 1, 2), (3, 2, 3)),
    (1, 1): ((3, 1, 2), (5, 2, 3)),
    (1, 2): ((3, 4, 5), (6, 5, 6)),
    (1, 3): ((6, 4, 5), (6, 5, 6)),
    (2, 0): ((6, 4, 5), (6, 5, 6)),
    (2, 1): ((7, 7, 7), (8, 8, 8)),
    (2, 2): ((7, 7, 8), (9, 8, 9)),
}
"""By Φ and Δ, for tla and for ivy: the least safe timeout of the model, of processes that start at Send, at Receive."""


@pytest.mark.slow
@pytest.mark.parametrize(("phi", "delta"), every(3, LEAST_SAFE))
def test_the_least_safe_timeouts_are_those_of_the_page(phi: int, delta: int) -> None:
    for variant, expected in zip(("tla", "ivy"), LEAST_SAFE[phi, delta], strict=True):
        for least, start in zip(expected, (None, "send", "receive"), strict=True):
            safe = {timeout: is_safe(variant, delta, phi, timeout, start) for timeout in (least - 1, least) if timeout}
            assert safe == {timeout: timeout == least for timeout in safe}
    page = (Path(__file__).parents[2] / "docs" / "explanation" / "cutoff.md").read_text()
    figures = [*LEAST_SAFE[phi, delta][0], *LEAST_SAFE[phi, delta][1]]
    assert f"| {phi} | {delta} | {' | '.join(map(str, figures))} |" in page


def is_safe(variant: str, delta: int, phi: int, timeout: int, start: str | None) -> bool:
    """Of two processes that start there, or of the model."""
    if start is None:
        return holds_of_model(variant, delta, phi, timeout, ACCURACY)
    return verdict(chandra_toueg(variant, timeout, start), 2, delta, phi, ACCURACY)


def holds_of_model(variant: str, delta: int, phi: int, timeout: int, claim: str) -> bool:
    """The verdict of the shipped engines about one sender and one receiver."""
    system = model(delta, phi, variant=variant, crash=True, timeout=str(timeout))
    if claim == ACCURACY:
        return explore_model(system, system.find_property(claim), report=ignore_progress).verdict is Verdict.PROVED
    return live(system, system.find_liveness_property(claim), report=ignore_progress).verdict is Verdict.PROVED


@pytest.mark.parametrize(("delta", "phi", "timeout"), every(3, [(1, 1, 1), (0, 2, 4), (2, 1, 3)]))
@pytest.mark.parametrize("claim", [ACCURACY, COMPLETENESS])
def test_what_is_not_watched_does_not_matter(delta: int, phi: int, timeout: int, claim: str) -> None:
    template = chandra_toueg(timeout=timeout)
    shape = parse_property(template, template.find_claim(claim).formula)
    depth = None if phi == 1 else 5
    full = explore_small_system(SmallSystem(template, 2, delta, phi), shape, depth)
    assert (
        full.holds == explore_small_system(SmallSystem(template, 2, delta, phi, watched=[(1, 2)]), shape, depth).holds
    )


def test_a_run_that_violates_is_one_of_the_system() -> None:
    template = chandra_toueg(timeout=2)
    instance = SmallSystem(template, 2, delta=1, phi=2, watched=[(1, 2)])
    found = explore_small_system(instance, parse_property(template, template.find_claim(ACCURACY).formula))
    assert not found.holds
    assert found.run[0] == instance.build_initial_node()
    for before, after in zip(found.run, found.run[1:], strict=False):
        assert after in instance.list_successors(before)


def test_a_detector_that_never_suspects_is_caught_in_a_loop() -> None:
    base = chandra_toueg(timeout=2)
    template = Template(
        **{name: getattr(base, name) for name in ("name", "summary", "locations", "start", "start_value")},
        next_location=base.next_location,
        generate_message=base.generate_message,
        next_value=lambda location, messages, watch: watch,
        predicates=base.predicates,
        claims=base.claims,
    )
    instance = SmallSystem(template, 2, delta=0, phi=1, watched=[(1, 2)])
    found = explore_small_system(instance, parse_property(template, template.find_claim(COMPLETENESS).formula))
    assert not found.holds
    assert found.loop is not None
    assert found.run[found.loop] == found.run[-1]
    for before, after in zip(found.run, found.run[1:], strict=False):
        assert after in instance.list_successors(before)


@pytest.mark.parametrize(("processes", "delta", "phi"), [(0, 1, 1), (1, -1, 1), (1, 1, 0), (4, 1, 1)])
def test_what_is_no_small_system_is_refused(processes: int, delta: int, phi: int) -> None:
    with pytest.raises(UsageError, match=r"at (least|most)"):
        SmallSystem(chandra_toueg(), processes, delta, phi)


def test_a_function_that_remembers_is_refused() -> None:
    base, calls = chandra_toueg(timeout=2), iter(range(10**6))
    template = Template(
        **{name: getattr(base, name) for name in ("name", "summary", "locations", "start", "start_value")},
        next_location=base.next_location,
        generate_message=base.generate_message,
        next_value=lambda location, messages, watch: watch._replace(waiting_time=next(calls) % 2),
        predicates=base.predicates,
        claims=base.claims,
    )
    with pytest.raises(UsageError, match="two answers"):
        explore_small_system(
            SmallSystem(template, 1, 0, 1), parse_property(template, template.find_claim(ACCURACY).formula), equal=True
        )


def test_all_pairs_are_looked_at() -> None:
    """Of three processes each pair is suspected by somebody, if timeouts are too short."""
    template = chandra_toueg(timeout=1)
    shape = parse_property(template, template.find_claim(ACCURACY).formula)
    for p, q in product((1, 2), repeat=2):
        if p != q:
            found = explore_small_system(SmallSystem(template, 2, 1, 2, watched=[(p, q)]), shape)
            assert found.processes == (p, q)
