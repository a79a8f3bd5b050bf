"""Messages of a run: each is where a simulation of single messages with true ages has it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fdverify.detectors.chandra_toueg import ReceiverPc, SenderPc, build_chandra_toueg
from fdverify.detectors.model_catalogue import find_model
from fdverify.engines.simulate import simulate
from fdverify.models.system import Choices, Phase, Property, State, System, Update, update
from fdverify.runs.concrete_interpreter import ChoiceValues, PlainValue
from fdverify.runs.messages import Message
from fdverify.runs.run import Run
from fdverify.runs.run_table import ShownRun, ShownValue, show_run
from tests.runs.asking import ASKING

EXAMPLES = Path(__file__).parents[2] / "examples"
FOREVER = Property("fine", lambda s: True, "nothing is wrong")
LOSSY = find_model(f"{EXAMPLES}/gst/_detector.py:LOSSY")
LATE_AGEING = find_model(f"{EXAMPLES}/broken_detectors.py:LATE_AGEING")


def detector(delta: int, phi: int, variant: str, crash: bool) -> System:
    return build_chandra_toueg(delta, phi, variant=variant, crash=crash, timeout="3")


def late_ageing(delta: int, phi: int, variant: str, crash: bool) -> System:
    options = {"variant": variant, "crash": crash, "timeout": "3", "buffer": None}
    return LATE_AGEING.build(delta=delta, phi=phi, **options)


def lossy(delta: int, phi: int, variant: str, crash: bool) -> System:
    return LOSSY.build(delta=delta, phi=phi, gst=6, variant="ivy", crash=crash, timeout="3", buffer=None)


@dataclass
class Single:
    """A message with its true age, and how it ends."""

    sent: int
    age: int = 0
    ended: int | None = None
    by: str | None = None


def ages(value: ShownValue) -> tuple[int, ...]:
    assert isinstance(value, tuple)
    return value


def singles(system: System, trace: ShownRun) -> list[Single]:
    """The messages by what the choices mean, each on its own."""
    delta = system.compute_parameters()["delta"]
    found: list[Single] = []
    for row in trace.steps[1:]:
        for phase in (phase.name for phase in system.phases):
            transit = [each for each in found if each.ended is None]
            if phase == "age_messages" and _grow(row.state, row.choices):
                for each in transit:
                    each.age += 1
            elif phase == "send" and row.choices["sender_active"]:
                found.append(Single(row.round))
            elif phase in ("receive", "lose"):
                choice = "delivered" if phase == "receive" else "lost"
                for each in transit:
                    if min(each.age, delta) in ages(row.choices[choice]):
                        each.ended, each.by = row.round, choice
    return found


def _grow(state: Mapping[str, Any], choices: Mapping[str, Any]) -> bool:
    """Before GST it is a choice whether messages grow older."""
    return "ages" not in choices or state["since_gst"] > 0 or bool(choices["ages"])


def end(trace: ShownRun, message: Message) -> tuple[int | None, str | None]:
    """Where it ends, or the message that stands for it."""
    while message.into is not None:
        message = trace.messages[message.into]
    return message.ended, message.by


def random_run(system: System, seed: int, rounds: int = 40) -> Run:
    run = simulate(system, FOREVER, rounds, seed).run
    assert run is not None
    return run


@given(
    build=st.sampled_from((detector, late_ageing, lossy)),
    delta=st.integers(0, 7),
    phi=st.integers(1, 4),
    variant=st.sampled_from(("tla", "ivy")),
    crash=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_every_message_is_where_its_true_age_says(
    build: Any, delta: int, phi: int, variant: str, crash: bool, seed: int
) -> None:
    system = build(delta, phi, variant, crash)
    trace = show_run(system, random_run(system, seed))
    expected = singles(system, trace)
    assert [message.sent for message in trace.messages] == [each.sent for each in expected]
    assert [end(trace, message) for message in trace.messages] == [(each.ended, each.by) for each in expected]
    for message in trace.messages:
        if message.into is not None:
            assert message.into < trace.messages.index(message)
            assert message.by is None


@given(bound=st.integers(0, 6), seed=st.integers(0, 10**6), subrounds=st.booleans())
def test_at_every_step_the_messages_are_the_buffer(bound: int, seed: int, subrounds: bool) -> None:
    system = ASKING.build(bound=bound)
    trace = show_run(system, random_run(system, seed), subrounds)
    for step, row in enumerate(trace.steps):
        for buffer in ("questions", "answers"):
            there = [age_at(message, step) for message in trace.messages if message.buffer == buffer]
            assert sorted(age for age in there if age is not None) == sorted(ages(row.state[buffer]))


def age_at(message: Message, step: int) -> int | None:
    since = step - (message.sent or 0)
    return message.ages[since] if 0 <= since < len(message.ages) else None


@pytest.mark.parametrize(("delta", "subrounds"), list(product((0, 1, 3), (False, True))))
def test_a_message_ends_a_step_after_its_last_age(delta: int, subrounds: bool) -> None:
    system = detector(delta, 2, "ivy", crash=False)
    trace = show_run(system, random_run(system, seed=5), subrounds)
    assert trace.messages
    for message in trace.messages:
        end = len(trace.steps) if message.ended is None else message.ended
        assert message.sent is not None
        assert len(message.ages) == end - message.sent
        assert message.ages == sorted(message.ages)


def test_what_is_in_transit_at_the_start_was_sent_before() -> None:
    system = detector(2, 1, "tla", crash=True)
    start: dict[str, PlainValue] = {
        "suspected": False,
        "waiting_time": 0,
        "timeout": 8,
        "sender_pc": int(SenderPc.Crashed),
        "receiver_pc": int(ReceiverPc.Compute),
        "buffer": frozenset({0, 1, 2}),
        "sender_timer": 0,
        "receiver_timer": 0,
        "hlfsc": 1,
    }
    none = frozenset[int]()
    idle: ChoiceValues = {"crash": False, "sender_active": False, "receiver_active": True, "delivered": none}
    run = Run({}, (idle, {**idle, "delivered": frozenset({2})}), start=start)
    first, second, third = show_run(system, run).messages
    assert (first.sent, first.ages, first.ended, first.by) == (None, [2, 2], 2, "delivered")
    assert (second.sent, second.ages, second.ended, second.into) == (None, [1], 1, 0)
    assert (third.sent, third.ages, third.ended, third.into) == (None, [0, 1], 2, 0)


def test_a_phase_that_does_as_it_likes_with_a_buffer() -> None:
    """A message that no choice has taken is gone, and one that nobody sent has appeared."""

    def empties(s: State, c: Choices) -> Update:
        return update(buffer=s.buffer.deliver(s.buffer))

    def moves_in_pairs(s: State, c: Choices) -> Update:
        return update(buffer=s.buffer.age(when=s.buffer.any(1, 9)))

    system = detector(3, 1, "ivy", crash=False)
    dropping = replace(system, phases=(*system.phases, Phase("drop", empties)))
    trace = show_run(dropping, random_run(dropping, seed=1, rounds=6))
    assert {(message.by, message.into) for message in trace.messages} == {("delivered", None), (None, None)}
    assert all(message.ended == message.sent for message in trace.messages)
    odd = replace(system, phases=(*system.phases, Phase("move", moves_in_pairs)))
    trace = show_run(odd, random_run(odd, seed=1, rounds=20))
    for step, row in enumerate(trace.steps):
        there = [age_at(message, step) for message in trace.messages]
        assert sorted(age for age in there if age is not None) == sorted(ages(row.state["buffer"]))


def test_a_phase_that_does_not_run_without_the_others() -> None:
    """Then only the ages and the choices can tell, and they do."""
    system = ASKING.build(bound=2)
    answer = system.phase("answer")

    def needs_an_older_one(s: State, c: Choices) -> Update:
        return replace(answer.run(s, c), assume=s.questions.has(1))

    start: dict[str, PlainValue] = {"asking_pc": 0, "answered": 0, "questions": frozenset({0}), "answers": frozenset()}
    made: ChoiceValues = {"asking_active": True, "got": frozenset({0}), "heard": frozenset({0})}
    trace = show_run(system.with_phase("answer", needs_an_older_one), Run({}, (made,), start=start))
    assert [(m.buffer, m.sent, m.ages, m.ended, m.by) for m in trace.messages] == [
        ("questions", None, [0, 1], None, None),
        ("questions", 1, [], 1, "got"),
        ("answers", 1, [], 1, "heard"),
    ]
