"""Small systems: three processes seen at two are two processes, and both agree with one sender and one receiver."""

from itertools import product

import pytest

from fdverify.cutoff.chandra_toueg import chandra_toueg
from fdverify.cutoff.explore import SUB_ROUNDS, Instance, Node, State, explore
from fdverify.cutoff.formula import shape_of
from fdverify.cutoff.rounds import Computation
from fdverify.cutoff.template import Template
from fdverify.engines.explore import explore as explore_model
from fdverify.engines.live import live
from fdverify.errors import UsageError
from fdverify.models.chandra_toueg.model import chandra_toueg as model
from fdverify.verdict import Verdict, silent
from tests.sampling import FULL, every

ACCURACY, EVENTUALLY, COMPLETENESS = "strong-accuracy", "eventually-strong-accuracy", "strong-completeness"


def verdict(template: Template, processes: int, delta: int, phi: int, claim: str) -> bool:
    """Of processes 1 and 2, with no more stored of the others than where they are."""
    watched = [(1, 2)] if processes > 1 else [(1, 1)]
    shape = shape_of(template, template.claim(claim).formula)
    found = explore(Instance(template, processes, delta, phi, watched=watched), shape, equal=processes == 1)
    assert found.complete
    assert not found.dead_end
    return found.holds


def seen_at_two(instance: Instance, node: Node) -> Node:
    """The projection of Construction 4.9, on processes 1 and 2."""
    state = node.state
    places = [place for place, pair in enumerate(instance.pairs) if max(pair) <= 2]
    parts = [part[:2] for part in state[:3]] + [tuple(part[place] for place in places) for part in state[3:]]
    return Node(node.following, State(*parts))


@pytest.mark.parametrize(
    ("computation", "delta", "phi", "rounds"),
    [
        (Computation.PARTIAL_SYNCHRONY, 0, 1, 4),
        (Computation.PARTIAL_SYNCHRONY, 1, 1, 4),
        (Computation.PARTIAL_SYNCHRONY, 1, 2, 3 if FULL else 2),
        (Computation.SYNCHRONY, 1, 1, 3),
        (Computation.ASYNCHRONY, 1, 1, 3),
    ],
)
def test_runs_of_three_seen_at_two_are_the_runs_of_two(
    computation: Computation, delta: int, phi: int, rounds: int
) -> None:
    """Lemma 4.13 up to so many rounds: wherever three are, the next of them seen at two are the next of two."""
    template = chandra_toueg(timeout=1)
    three = Instance(template, 3, delta, phi, computation)
    two = Instance(template, 2, delta, phi, computation)
    assert seen_at_two(three, three.first()) == two.first()
    known: dict[Node, frozenset[Node]] = {}
    frontier = {three.first()}
    for _ in range(rounds * len(SUB_ROUNDS)):
        following: set[Node] = set()
        for node in frontier:
            seen = seen_at_two(three, node)
            if seen not in known:
                known[seen] = frozenset(two.successors(seen))
            after = three.successors(node)
            assert {seen_at_two(three, each) for each in after} == known[seen]
            following.update(after)
        frontier = following
    assert len(known) > rounds


BELOW_AND_ABOVE = [(2, 0, 4), (2, 0, 5), (2, 0, 6), (2, 1, 6), (2, 1, 7), (1, 1, 1)]
"""Φ, Δ and timeouts, the least safe one and others."""


@pytest.mark.parametrize(("phi", "delta", "timeout"), BELOW_AND_ABOVE)
@pytest.mark.parametrize("claim", [ACCURACY, EVENTUALLY, COMPLETENESS])
def test_two_and_three_agree(phi: int, delta: int, timeout: int, claim: str) -> None:
    if not FULL and (phi, delta, timeout) not in ((2, 0, 4), (2, 0, 5), (1, 1, 1)):
        pytest.skip("takes long")
    template = chandra_toueg(timeout=timeout)
    assert verdict(template, 3, delta, phi, claim) == verdict(template, 2, delta, phi, claim)


@pytest.mark.parametrize("variant", ["tla", "ivy"])
@pytest.mark.parametrize(("phi", "delta"), [(1, 0), (1, 1), (2, 0), (2, 1)])
@pytest.mark.parametrize("claim", [ACCURACY, EVENTUALLY, COMPLETENESS])
def test_two_processes_do_what_the_sender_and_the_receiver_do(
    variant: str, phi: int, delta: int, claim: str
) -> None:
    """What holds of the model where two processes start holds of them; for Φ above 1 the other way round as well."""
    timeouts = {(1, 0): (1, 3), (1, 1): (1, 4), (2, 0): (4, 6), (2, 1): (6, 7)}[phi, delta]
    for timeout in timeouts:
        two = verdict(chandra_toueg(variant, timeout, "receive"), 2, delta, phi, claim)
        assert two or not holds_of_model(variant, delta, phi, timeout, claim)
        if timeout == timeouts[-1]:
            assert two
            assert holds_of_model(variant, delta, phi, timeout, claim)


def holds_of_model(variant: str, delta: int, phi: int, timeout: int, claim: str) -> bool:
    """The verdict of the shipped engines about one sender and one receiver."""
    system = model(delta, phi, variant=variant, crash=True, timeout=str(timeout))
    if claim == ACCURACY:
        return explore_model(system, system.property(claim), report=silent).verdict is Verdict.PROVED
    return live(system, system.liveness_property(claim), report=silent).verdict is Verdict.PROVED


def test_a_safe_timeout_of_the_tla_model_is_not_one_of_two_processes() -> None:
    """With Φ = 1 the model's sender and receiver are one step apart, and two processes that start alike are not."""
    assert holds_of_model("tla", 2, 1, 3, ACCURACY)
    assert not verdict(chandra_toueg("tla", 3), 2, 2, 1, ACCURACY)


@pytest.mark.parametrize(("delta", "phi", "timeout"), every(2, [(1, 1, 1), (0, 2, 4), (2, 1, 3)]))
@pytest.mark.parametrize("claim", [ACCURACY, COMPLETENESS])
def test_what_is_not_watched_does_not_matter(delta: int, phi: int, timeout: int, claim: str) -> None:
    template = chandra_toueg(timeout=timeout)
    shape = shape_of(template, template.claim(claim).formula)
    depth = None if phi == 1 else 5
    full = explore(Instance(template, 2, delta, phi), shape, depth)
    assert full.holds == explore(Instance(template, 2, delta, phi, watched=[(1, 2)]), shape, depth).holds


def test_a_run_that_violates_is_one_of_the_system() -> None:
    template = chandra_toueg(timeout=2)
    instance = Instance(template, 2, delta=1, phi=2, watched=[(1, 2)])
    found = explore(instance, shape_of(template, template.claim(ACCURACY).formula))
    assert not found.holds
    assert found.run[0] == instance.first()
    for before, after in zip(found.run, found.run[1:], strict=False):
        assert after in instance.successors(before)


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
    instance = Instance(template, 2, delta=0, phi=1, watched=[(1, 2)])
    found = explore(instance, shape_of(template, template.claim(COMPLETENESS).formula))
    assert not found.holds
    assert found.loop is not None
    assert found.run[found.loop] == found.run[-1]
    for before, after in zip(found.run, found.run[1:], strict=False):
        assert after in instance.successors(before)


@pytest.mark.parametrize(("processes", "delta", "phi"), [(0, 1, 1), (1, -1, 1), (1, 1, 0), (4, 1, 1)])
def test_what_is_no_small_system_is_refused(processes: int, delta: int, phi: int) -> None:
    with pytest.raises(UsageError, match="at (least|most)"):
        Instance(chandra_toueg(), processes, delta, phi)


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
        explore(Instance(template, 1, 0, 1), shape_of(template, template.claim(ACCURACY).formula), equal=True)


def test_all_pairs_are_looked_at() -> None:
    """Of three processes each pair is suspected by somebody, if timeouts are too short."""
    template = chandra_toueg(timeout=1)
    shape = shape_of(template, template.claim(ACCURACY).formula)
    for p, q in product((1, 2), repeat=2):
        if p != q:
            found = explore(Instance(template, 2, 1, 2, watched=[(p, q)]), shape)
            assert found.processes == (p, q)
