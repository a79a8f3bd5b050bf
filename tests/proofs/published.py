"""Formulas of the paper's appendices as printed, where they are not what the shipped proofs use."""

from fdverify.detectors.chandra_toueg import ReceiverPc
from fdverify.logic import And, Implies, Not, Or, Truth
from fdverify.models.system import Property, State


def safe(s: State) -> Truth:
    return 6 * s.phi + s.delta


def guard(s: State) -> Truth:
    """The paper's G: from there on the receiver has waited as long as its timeout."""
    return 3 * s.phi + s.delta + s.phi * s.timeout


def formula_30(s: State) -> Truth:
    waited = s.waiting_time - 5 * s.phi - s.delta
    return Implies(waited >= 0, And(s.receiver_timer >= waited, s.receiver_pc == ReceiverPc.NoSnd))


def formula_31_compute(s: State) -> Truth:
    waited = s.waiting_time - 4 * s.phi - s.delta
    premise = And(waited >= 0, waited < s.phi, s.receiver_pc == ReceiverPc.Compute)
    return Implies(premise, s.receiver_timer >= waited)


def formula_32(s: State) -> Truth:
    waited = s.waiting_time - 3 * s.phi - s.delta
    premise = And(waited >= 0, waited < s.phi, s.receiver_pc == ReceiverPc.Receive)
    return Implies(premise, s.receiver_timer > waited)


def formula_52(s: State) -> Truth:
    return Implies(s.timeout >= safe(s), s.hlfsc <= guard(s) + 3 * s.phi)


def formula_68(s: State) -> Truth:
    """With the precedence of the printed symbols: what was to be claimed has become a premise."""
    overdue = s.hlfsc - s.phi - s.delta
    premise = And(overdue >= 0, overdue < s.phi, Not(s.buffer.empty()))
    allowed = Or(s.receiver_pc == ReceiverPc.NoSnd, s.receiver_pc == ReceiverPc.Compute)
    return Implies(premise, Implies(And(allowed, s.receiver_pc == ReceiverPc.Compute), s.receiver_timer >= overdue))


def formula_71_first(s: State) -> Truth:
    just_before = And(s.hlfsc == guard(s) - 1, Not(s.suspected))
    waited = Or(
        And(s.waiting_time == safe(s) - 1, s.receiver_timer == s.phi - 1),
        s.waiting_time == safe(s),
    )
    return Implies(just_before, waited)


def formula_73(s: State) -> Truth:
    overdue = s.hlfsc - guard(s) - 2 * s.phi
    return Implies(
        And(overdue >= 0, Not(s.suspected)),
        And(s.receiver_pc == ReceiverPc.Receive, s.receiver_timer >= overdue),
    )


def formula_74_no_send(s: State) -> Truth:
    overdue = s.hlfsc - guard(s) - s.phi
    premise = And(overdue >= 0, overdue < s.phi, Not(s.suspected), s.receiver_pc == ReceiverPc.NoSnd)
    return Implies(premise, s.receiver_timer >= overdue)


def formula_75_compute(s: State) -> Truth:
    overdue = s.hlfsc - guard(s)
    premise = And(overdue >= 0, overdue < s.phi, Not(s.suspected), s.receiver_pc == ReceiverPc.Compute)
    return Implies(premise, s.receiver_timer >= overdue)


def formula_89(s: State) -> Truth:
    return s.hlfsc <= guard(s) + 3 * s.phi


def formula_90(s: State) -> Truth:
    return Implies(s.hlfsc == guard(s) + 3 * s.phi, s.suspected)


FALSE = {
    "71": (Property("(71)", formula_71_first, ""), (0, 1, "1")),
    "52": (Property("(52)", formula_52, ""), (0, 1, "6")),
    "89": (Property("(89)", formula_89, ""), (0, 1, "6")),
}
"""Formulas that are false in a reachable state, with the parameters at which a shortest run is shown."""

NEVER = {
    "30": (Property("(30)", formula_30, ""), False),
    "31": (Property("(31)", formula_31_compute, ""), False),
    "32": (Property("(32)", formula_32, ""), False),
    "73": (Property("(73)", formula_73, ""), True),
    "74": (Property("(74)", formula_74_no_send, ""), True),
    "75": (Property("(75)", formula_75_compute, ""), True),
}
"""Formulas whose premises never hold, and whether they are about a sender that may crash."""
