"""A model with two channels for the tests of pictures: one process asks, the other one answers what it got."""

from dataclasses import replace
from enum import IntEnum

from fdverify.logic import If, Not
from fdverify.models.model import Model
from fdverify.models.participants import Cast, Channel, Role
from fdverify.models.system import (
    Ages,
    Choices,
    Flag,
    Integers,
    Labels,
    Parameter,
    Phase,
    Property,
    State,
    Subset,
    System,
    Update,
    Variable,
    update,
)

BOUND = Parameter("bound", least=0, value=None, meaning="bound on message delay")


class Pc(IntEnum):
    Idle = 0
    Waits = 1


def _grow_older(s: State, c: Choices) -> Update:
    return update(questions=s.questions.age(), answers=s.answers.age())


def _ask(s: State, c: Choices) -> Update:
    asks = c.asking_active
    return update(questions=s.questions.send(when=asks), asking_pc=If(asks, Pc.Waits, s.asking_pc))


def _answer(s: State, c: Choices) -> Update:
    answers = Not(c.got.empty())
    return update(questions=s.questions.deliver(c.got), answers=s.answers.send(when=answers), answered=s.answered + 1)


def _hear(s: State, c: Choices) -> Update:
    return update(answers=s.answers.deliver(c.heard), asking_pc=If(c.heard.empty(), s.asking_pc, Pc.Idle))


def asking(bound: int | None) -> System:
    """Without a cast: the names have to do."""
    none = frozenset[int]()
    return System(
        name="asking",
        options={},
        parameters=(replace(BOUND, value=bound),),
        variables=(
            Variable("asking_pc", Labels(Pc), initial=lambda s: Pc.Idle),
            Variable("answered", Integers(), initial=lambda s: 0),
            Variable("questions", Ages("bitvector", "bound"), initial=lambda s: none),
            Variable("answers", Ages("bitvector", "bound"), initial=lambda s: none),
        ),
        phases=(
            Phase("grow_older", _grow_older),
            Phase("ask", _ask, (Flag("asking_active"),)),
            Phase("answer", _answer, (Subset("got", of="questions"),)),
            Phase("hear", _hear, (Subset("heard", of="answers"),)),
        ),
        properties=(Property("patient", lambda s: s.answered < 1000, "</script><b>it is \u2028 not yet late</b>"),),
    )


CAST = Cast(
    processes=(
        Role("client", pc="asking_pc", active="asking_active", owns=("heard",)),
        Role("server", owns=("answered", "got")),
    ),
    channels=(
        Channel("questions", sender="client", receiver="server", delivered="got"),
        Channel("answers", sender="server", receiver="client", delivered="heard"),
    ),
)
ASKING = Model("asking", "two channels", (BOUND,), (), "patient", lambda bound: replace(asking(bound), cast=CAST))
