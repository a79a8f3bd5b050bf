"""Proof files for the tests of verify-invariant: one that holds, and some with one thing wrong."""

HEAD = """
from fdverify.logic import And, Implies, Not
from fdverify.proofs import Proof

"""

GOOD = (
    HEAD
    + '''
proof = Proof("chandra-toueg", variant="ivy")


@proof.goal
def timers(s):
    """The receiver is idle for less than Φ."""
    return s.receiver_timer < s.phi


@proof.invariant
def bounded(s):
    """The same."""
    return s.receiver_timer < s.phi
'''
)

SYNTAX_ERROR = HEAD + "proof = Proof(\n"
NO_GOAL = GOOD.replace("@proof.goal\n", "")
NAME_CLASH = GOOD + GOOD.split("\n\n\n")[-1]
SYMBOLIC_AND = GOOD.replace(
    "return s.receiver_timer < s.phi", "return s.receiver_timer < s.phi and s.waiting_time >= 0"
)
RETURNS_INT = GOOD.replace('"""The same."""\n    return s.receiver_timer < s.phi', '"""The same."""\n    return 3')
FAILED_IMPORT = "import no_such_module_anywhere\n" + GOOD
ENDLESS = "while True:\n    pass\n" + GOOD

FACTORS = 1000000007 * 1000000009
HOURS = (
    HEAD
    + f'''
proof = Proof("chandra-toueg", variant="ivy", timeout="any")


@proof.goal
def timers(s):
    """The receiver is idle for less than Φ."""
    return s.receiver_timer < s.phi


@proof.invariant
def no_factors(s):
    """Nobody waits for one factor of a large number with the other as timeout."""
    return Not(And(s.waiting_time > 1, s.timeout > 1, s.waiting_time * s.timeout == {FACTORS}))
'''
)

VACUOUS_PREMISE = GOOD.replace(
    'Φ."""\n    return s.receiver_timer < s.phi',
    'Φ."""\n    return Implies(s.timeout < s.initial_timeout, s.receiver_timer < s.phi)',
)
UNSATISFIABLE = GOOD.replace(
    "@proof.goal",
    '''@proof.assumption
def impossible(s):
    """Δ is below what it can be."""
    return s.delta < 0


@proof.goal''',
)
NOT_INDUCTIVE = (
    HEAD
    + '''
proof = Proof("chandra-toueg", goal="strong-accuracy", variant="ivy")


@proof.invariant
def trusted(s):
    """The receiver trusts the sender."""
    return Not(s.suspected)


@proof.invariant
def waits(s):
    """The receiver waits for at most 3Φ."""
    return s.waiting_time <= 3 * s.phi
'''
)
VIOLATED = (
    HEAD
    + '''
proof = Proof("chandra-toueg", goal="strong-accuracy", variant="ivy", timeout="1")


@proof.invariant
def trusted(s):
    """The receiver trusts the sender."""
    return Not(s.suspected)
'''
)
