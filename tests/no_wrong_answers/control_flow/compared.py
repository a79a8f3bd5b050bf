"""A control flow automaton decided twice: translated, and process by process."""

from __future__ import annotations

from fdverify.errors import UsageError
from fdverify.threshold.check_specification import check
from fdverify.threshold.fixed_parameters import fix_parameters
from fdverify.threshold.flow import build_threshold_automaton
from fdverify.verdict import Verdict
from tests.no_wrong_answers.control_flow.generator import PREMISES, Drawn
from tests.threshold.composition import Composition, TooLarge


def outcome(drawn: Drawn) -> str:
    """What both say; ``refused`` if the engine does not; otherwise the difference."""
    try:
        automaton = fix_parameters(build_threshold_automaton(drawn.flow), drawn.parameters)
        (specification,) = (each for each in automaton.specifications if each.name == drawn.specification)
        checked = check(automaton, specification)
    except UsageError as error:
        return f"refused: {error.message}"
    composition = Composition(drawn.flow, drawn.parameters)
    try:
        holds = composition.holds(drawn.specification)
    except TooLarge:
        return "too large"
    if checked.verdict is Verdict.UNKNOWN:
        return f"refused: {checked.detail}"
    expected = Verdict.VIOLATED
    if holds:
        expected = Verdict.PROVED if composition.has_run(PREMISES[drawn.specification]) else Verdict.VACUOUS
    if checked.verdict is expected:
        return str(expected)
    return f"{drawn.specification} is {expected}, not {checked.verdict}: {drawn}"
