"""The two processes of the ping-pong detector, and predicates about them."""

from enum import IntEnum

from fdverify import Process, State, Truth


class MonitorPc(IntEnum):
    """The step of the monitor's last active round."""

    Ask = 0
    Receive = 1
    Compute = 2


class TargetPc(IntEnum):
    """The step of the target's last active round, or that it has crashed."""

    Receive = 0
    Answer = 1
    Crashed = 2


MONITOR = Process("monitor", tuple(MonitorPc), bound=lambda s: s.phi)
TARGET = Process("target", (TargetPc.Receive, TargetPc.Answer), bound=lambda s: s.phi, crashed=TargetPc.Crashed)


def correct(s: State) -> Truth:
    """The target has not crashed."""
    return TARGET.correct(s)


def crashed(s: State) -> Truth:
    """The target has crashed."""
    return s.target_pc == TargetPc.Crashed


def suspected(s: State) -> Truth:
    """The monitor suspects the target."""
    flag: Truth = s.suspected
    return flag
