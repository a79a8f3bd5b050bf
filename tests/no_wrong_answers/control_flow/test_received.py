"""Verdicts that hang on what each process has received: the cases that were met, more of them, and random ones."""

import re
from collections import Counter
from dataclasses import replace
from itertools import product

import pytest

from fdverify.errors import UsageError
from fdverify.threshold.check_specification import check
from fdverify.threshold.fixed_parameters import fix_parameters
from fdverify.threshold.flow import ControlFlow, build_threshold_automaton, write_threshold_text
from fdverify.verdict import Verdict
from tests.no_wrong_answers.control_flow import cases
from tests.no_wrong_answers.control_flow.compared import outcome
from tests.no_wrong_answers.control_flow.generator import FAIR_AGAIN, FAIR_LASTING, SAFETY, draw
from tests.sampling import every
from tests.threshold.composition import Composition
from tests.threshold.small import found

SMALL = [dict(zip("NTF", values, strict=True)) for values in product((1, 2), (0, 1), (0, 2))]
DECIDED = {"proved", "violated", "vacuous"}
PARTS = range(4)
COUNT = 3_000


@pytest.mark.parametrize("flow", cases.HOLDS.values(), ids=cases.HOLDS)
def test_what_holds_is_not_called_violated(flow: ControlFlow) -> None:
    assert found(build_threshold_automaton(flow)).verdict in (Verdict.PROVED, Verdict.VACUOUS)


@pytest.mark.parametrize("flow", cases.BROKEN.values(), ids=cases.BROKEN)
def test_what_is_broken_is_not_called_proved(flow: ControlFlow) -> None:
    checked = found(build_threshold_automaton(flow))
    assert checked.verdict is Verdict.VIOLATED
    example = checked.trace
    assert example is not None
    assert not Composition(flow, example.parameters).holds("s")


@pytest.mark.parametrize("flow", cases.EITHER.values(), ids=cases.EITHER)
def test_what_is_not_decided_is_refused_in_one_line_that_says_why(flow: ControlFlow) -> None:
    broken = any(not Composition(flow, at).holds("s") for at in SMALL)
    try:
        said = found(build_threshold_automaton(flow)).word
    except UsageError as error:
        said = str(error)
    if broken:
        assert said == "violated" or re.fullmatch(r"s: .*, which is not kept \(hint: .*\)", said)
    else:
        assert said in ("proved", "vacuous") or re.fullmatch(r"s: .*, which is not kept \(hint: .*\)", said)


@pytest.mark.parametrize("flow", (cases.HOLDS | cases.BROKEN | cases.EITHER).values())
def test_small_instances_agree_process_by_process(flow: ControlFlow) -> None:
    free = replace(flow, assumptions=())
    automaton = build_threshold_automaton(free)
    for parameters in every(4, SMALL):
        try:
            verdict = check(fix_parameters(automaton, parameters), automaton.specifications[0]).verdict
        except UsageError:
            continue
        assert (verdict is not Verdict.VIOLATED) == Composition(free, parameters).holds("s"), parameters


@pytest.mark.parametrize("part", PARTS)
def test_random_automata_agree_process_by_process(part: int) -> None:
    seeds = every(20, range(part, COUNT, len(PARTS)))
    drawn = [draw(seed) for seed in seeds]
    outcomes = [outcome(each) for each in drawn]
    wrong = [each for each in outcomes if each not in DECIDED | {"too large"} and not each.startswith("refused")]
    assert not wrong
    decided = [each.specification for each, said in zip(drawn, outcomes, strict=True) if said in DECIDED]
    assert len(decided) >= len(seeds) / 3
    for kind in (SAFETY, FAIR_AGAIN, FAIR_LASTING):
        assert any(name in kind for name in decided)
    assert len({said for said in outcomes if said in DECIDED}) == len(DECIDED)
    assert Counter(outcomes)["too large"] <= len(seeds) / 10


def test_what_is_not_exact_is_not_written_as_text() -> None:
    """The text could only say one of two things that differ."""
    flow = cases.flow(
        "sv == V; inc m; sv := S", "sv == S; receive r <= m; r >= 1; sv := D", spec=cases.REACHED, left=("V",)
    )
    with pytest.raises(UsageError, match="the automaton cannot be written as text"):
        write_threshold_text(flow)
    assert write_threshold_text(replace(flow, specifications={"s": "[](D == 0)"})).startswith("skel Case {")
