"""The phases of one round, which _doubling.py describes in words."""

from enum import IntEnum

from fdverify import And, Choices, Flag, If, Implies, Max, Not, Or, Phase, State, Subset, Truth, Update, update


class Step(IntEnum):
    """The monitor's step when it was last active."""

    Listen = 0
    Judge = 1


def correct(s: State) -> Truth:
    """The sender has not crashed."""
    return Not(s.crashed)


def crashed(s: State) -> Truth:
    """The sender has crashed."""
    flag: Truth = s.crashed
    return flag


def suspected(s: State) -> Truth:
    """The monitor suspects the sender."""
    flag: Truth = s.suspected
    return flag


def takes(s: State, step: Step) -> Truth:
    """Whether the monitor takes this step in this round; use it after the phase monitor_turn."""
    return And(s.monitor_idle == 0, s.step == step)


def listens(s: State) -> Truth:
    return takes(s, Step.Listen)


def hears(c: Choices) -> Truth:
    """Whether a heartbeat arrives."""
    return Not(c.heard.empty())


def crash(s: State, c: Choices) -> Update:
    return update(
        crashed=Or(s.crashed, c.crash),
        since_crash=If(Or(s.crashed, c.crash), s.since_crash + 1, s.since_crash),
    )


def sender_turn(s: State, c: Choices) -> Update:
    idles = And(correct(s), Not(c.sender_active))
    return update(
        assume=Implies(idles, s.sender_idle + 1 < s.phi),
        sender_idle=If(idles, s.sender_idle + 1, 0),
    )


def monitor_turn(s: State, c: Choices) -> Update:
    following = If(s.step == Step.Listen, Step.Judge, Step.Listen)
    return update(
        assume=Or(c.monitor_active, s.monitor_idle + 1 < s.phi),
        monitor_idle=If(c.monitor_active, 0, s.monitor_idle + 1),
        step=If(c.monitor_active, following, s.step),
    )


def grow_older(s: State, c: Choices) -> Update:
    return update(transit=s.transit.age())


def send(s: State, c: Choices) -> Update:
    return update(transit=s.transit.send(when=And(correct(s), s.sender_idle == 0)))


def listen(s: State, c: Choices) -> Update:
    heard = hears(c)
    timeout = If(And(heard, s.suspected), 2 * s.timeout, s.timeout)
    return update(
        # A heartbeat of age Δ must be heard at the first opportunity, whatever else is heard.
        assume=Implies(And(listens(s), s.transit.has(s.delta)), c.heard.has(s.delta)),
        transit=s.transit.deliver(c.heard),
        suspected=And(s.suspected, Not(heard)),
        timeout=timeout,
        left=If(heard, timeout, If(listens(s), Max(s.left - 1, 0), s.left)),
    )


def judge(s: State, c: Choices) -> Update:
    left = If(takes(s, Step.Judge), Max(s.left - 1, 0), s.left)
    return update(left=left, suspected=Or(s.suspected, And(takes(s, Step.Judge), left == 0)))


def phases_of(with_crash: bool) -> tuple[Phase, ...]:
    crashing = (Phase("crash", crash, (Flag("crash", when=correct),)),) if with_crash else ()
    return (
        *crashing,
        Phase("sender_turn", sender_turn, (Flag("sender_active", when=correct),)),
        Phase("monitor_turn", monitor_turn, (Flag("monitor_active"),)),
        Phase("grow_older", grow_older),
        Phase("send", send),
        Phase("listen", listen, (Subset("heard", of="transit", when=listens),)),
        Phase("judge", judge),
    )
