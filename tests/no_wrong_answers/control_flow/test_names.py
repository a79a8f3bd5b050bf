"""Automata built in Python: no text can say more than its place allows, and a name is a name of one thing."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fdverify.errors import UsageError
from fdverify.threshold.automaton import Automaton, Specification
from fdverify.threshold.builder import build_automaton, move
from fdverify.threshold.flow import ControlFlow, build_threshold_automaton, write_threshold_text
from fdverify.threshold.text.read import parse_automaton
from fdverify.threshold.text.write import write_automaton
from fdverify.verdict import Verdict
from tests.no_wrong_answers.control_flow.cases import paths
from tests.threshold.small import found


def built(**changes: Any) -> Automaton:
    """A process goes from A to B, and counts; T + 1 >= 1 is there to be dropped."""
    parts: dict[str, Any] = {
        "parameters": ("N", "T"),
        "shared": ("x",),
        "assumptions": ("N >= 1", "T >= 1"),
        "locations": ("A", "B"),
        "initial": ("A == N", "B == 0", "x == 0"),
        "rules": (move("A", "B", "x < T", x=1),),
        "specifications": {"s": "[](x <= T)", "t": "[](B == 0)"},
    }
    return build_automaton(**({"name": "Built"} | parts | changes))


def flowing(**changes: Any) -> ControlFlow:
    parts: dict[str, Any] = {
        "name": "Flowing",
        "parameters": ("N", "T"),
        "assumptions": ("N >= 1", "T >= 1"),
        "processes": "N",
        "statuses": ("A", "B"),
        "initial": ("A",),
        "shared": ("m",),
        "edges": paths("sv == A; receive r <= m + 1; r >= 1; inc m; sv := B"),
        "due": {"r": "m"},
        "specifications": {"s": "[](m <= N)", "t": "[](B == 0)"},
    }
    return ControlFlow(**(parts | changes))


def test_what_is_built_is_as_before() -> None:
    assert [found(built(), name).verdict for name in "st"] == [Verdict.PROVED, Verdict.VIOLATED]
    assert parse_automaton(write_automaton(built()), "t") == built()
    flow = build_threshold_automaton(flowing())
    assert [found(flow, name).verdict for name in "st"] == [
        Verdict.VIOLATED if name == "t" else Verdict.PROVED for name in "st"
    ]


OPEN_ENDS = ("/*", "N >= 1 /*", "N >= 1 */", "// N", "N >= 1 // more", "N >= 1; N < 0", "N >= 1; }", "N >= 1 } rules {")


@pytest.mark.parametrize("text", OPEN_ENDS)
def test_no_text_reaches_beyond_its_end(text: str) -> None:
    """A comment that is opened in one claim used to end in another one, and all between was dropped."""
    closing = "T >= 1 */ && T >= 1"
    for change in (
        {"assumptions": (text, closing)},
        {"assumptions": ("N >= 1",), "initial": ("A == N", "B == 0", "x == 0", text, "x == 0 */ && x == 0")},
        {"rules": (move("A", "B", text), move("B", "A", "x < T */ && x < T"))},
        {"specifications": {"s": f"[]({text})", "t": "[](B == 0 */ && B == 0)"}},
    ):
        with pytest.raises(UsageError) as raised:
            built(**change)
        assert str(raised.value).startswith("Built: ")
        assert "\n" not in str(raised.value)
    for changed in (
        {"assumptions": (text, closing)},
        {"processes": f"{text}"},
        {"due": {"r": f"{text}"}},
        {"edges": (*paths("sv == A; sv := B"), ("qI", f"sv == A && {text}", "qF"))},
        {"specifications": {"s": f"[]({text})", "t": "[](B == 0 */ && B == 0)"}},
    ):
        with pytest.raises(UsageError) as raised:
            build_threshold_automaton(flowing(**changed))
        assert str(raised.value).startswith("Flowing: ")
        assert "\n" not in str(raised.value)


def test_a_comment_within_a_claim_is_one() -> None:
    assert built(assumptions=("N >= 1 /* one at least */", "T >= 1")) == built()


@pytest.mark.parametrize("about", ["ends */ skel B {", "*/ /*", "/* twice", "a\nb", "*/*/", "**/"])
def test_what_is_said_about_an_automaton_stays_a_comment(about: str) -> None:
    flow = flowing(about=about)
    assert (
        parse_automaton(write_threshold_text(flow), "t")
        == build_threshold_automaton(flow)
        == build_threshold_automaton(flowing())
    )


NO_NAMES = ("", "a b", "A;", "A}", "x'", "1x", "é", "A\n", "A\x1b[31m", "/*", "true", "when", "rules", "skel", None, 3)


@pytest.mark.parametrize("name", NO_NAMES, ids=repr)
def test_what_is_no_name_is_refused_in_one_line(name: Any) -> None:
    makers: tuple[Callable[[], object], ...] = (
        lambda: built(name=name),
        lambda: built(parameters=("N", "T", name)),
        lambda: built(shared=("x", name)),
        lambda: built(locations=("A", "B", name)),
        lambda: built(specifications={name: "[](B == 0)"}),
        lambda: replace(built(), name=name),
        lambda: replace(built(), specifications=(Specification(name, built().specifications[0].formula),)),
        lambda: build_threshold_automaton(flowing(name=name)),
        lambda: build_threshold_automaton(flowing(parameters=("N", "T", name))),
        lambda: build_threshold_automaton(flowing(shared=("m", name))),
        lambda: build_threshold_automaton(flowing(statuses=("A", "B", name))),
        lambda: build_threshold_automaton(flowing(due={"r": "m", name: "m"})),
        lambda: build_threshold_automaton(flowing(specifications={name: "[](B == 0)"})),
    )
    for make in makers:
        with pytest.raises(UsageError) as raised:
            make()
        assert str(raised.value).isprintable()


TWICE: dict[str, Callable[[], object]] = {
    "parameters": lambda: built(parameters=("N", "T", "N")),
    "shared variables": lambda: built(shared=("x", "x")),
    "locations": lambda: built(locations=("A", "B", "A")),
    "a location and a parameter": lambda: built(locations=("A", "B", "N")),
    "a shared variable and a location": lambda: built(shared=("x", "B")),
    "specifications": lambda: replace(built(), specifications=built().specifications * 2),
    "parameters of a flow": lambda: build_threshold_automaton(flowing(parameters=("N", "T", "N"))),
    "statuses": lambda: build_threshold_automaton(flowing(statuses=("A", "B", "A"))),
    "initial statuses": lambda: build_threshold_automaton(flowing(initial=("A", "A"))),
    "statuses that are left": lambda: build_threshold_automaton(flowing(left=("A", "A"))),
    "shared variables of a flow": lambda: build_threshold_automaton(flowing(shared=("m", "m"))),
    "a counter and a shared variable": lambda: build_threshold_automaton(flowing(due={"m": "m"})),
    "a counter and a status": lambda: build_threshold_automaton(flowing(due={"A": "m"})),
    "a status and a word": lambda: build_threshold_automaton(flowing(statuses=("A", "B", "sv"))),
    "a shared variable and FAIR": lambda: build_threshold_automaton(flowing(shared=("m", "FAIR"))),
    "a counter and the new value": lambda: build_threshold_automaton(flowing(due={"r": "m", "e": "m"})),
}


@pytest.mark.parametrize("make", TWICE.values(), ids=TWICE)
def test_a_name_is_of_one_thing(make: Callable[[], object]) -> None:
    with pytest.raises(UsageError, match="twice") as raised:
        make()
    assert "\n" not in str(raised.value)


NO_TEXT: Any = True
NOTHING: dict[str, tuple[Callable[[], object], str]] = {
    "a rule from nowhere": (lambda: built(rules=(move("C", "B"),)), "there is no location C"),
    "a rule that adds to nothing": (lambda: built(rules=(move("A", "B", y=1),)), "there is no shared variable y"),
    "a rule that takes away": (lambda: built(rules=(move("A", "B", x=-1),)), "x grows by -1"),
    "a rule that adds no number": (lambda: built(rules=(move("A", "B", x=True),)), "x grows by True"),
    "a guard about locations": (lambda: built(rules=(move("A", "B", "B >= 1"),)), "there is no B"),
    "an assumption about locations": (lambda: built(assumptions=("A >= 1",)), "there is no A"),
    "a guard with times": (lambda: built(rules=(move("A", "B", "<>(x >= 1)"),)), "belong to specifications"),
    "letters for names": (lambda: built(parameters="NT"), "parameters is 'NT', but must be a list of strings"),
    "letters for statuses": (
        lambda: build_threshold_automaton(flowing(statuses="AB")),
        "statuses is 'AB', but must be a list of strings",
    ),
    "an unknown initial status": (lambda: build_threshold_automaton(flowing(initial=("C",))), "there is no status C"),
    "an unknown status that is left": (lambda: build_threshold_automaton(flowing(left=("C",))), "there is no status C"),
    "no initial status": (lambda: build_threshold_automaton(flowing(initial=())), "no status is initial"),
    "a counter in a specification": (
        lambda: build_threshold_automaton(flowing(specifications={"s": "[](r == 0)"})),
        "there is no r",
    ),
    "processes that depend on messages": (lambda: build_threshold_automaton(flowing(processes="m")), "there is no m"),
    "no list": (lambda: built(shared=None), "shared is None, but must be a list of strings"),
    "no rule": (lambda: built(rules=("A -> B",)), "'A -> B' is not a rule"),
    "a guard that is no text": (
        lambda: built(rules=(move("A", "B", NO_TEXT),)),
        "a rule has True, which is not a string",
    ),
    "no specifications": (lambda: built(specifications=["[](B == 0)"]), "but must be a dict of strings"),
    "what is due without a counter": (
        lambda: build_threshold_automaton(flowing(due="m")),
        "due is 'm', but must be a dict",
    ),
    "a number that is due": (
        lambda: build_threshold_automaton(flowing(due={"r": 1})),
        "due has 1, which is not a string",
    ),
    "a number of processes": (lambda: build_threshold_automaton(flowing(processes=3)), "has 3, which is not a string"),
    "no edge": (lambda: build_threshold_automaton(flowing(edges=(("qI", "qF"),))), "is not an edge"),
    "no way": (lambda: build_threshold_automaton(flowing(start="q", end="q")), "starts and ends at q"),
}


@pytest.mark.parametrize(("make", "says"), NOTHING.values(), ids=NOTHING)
def test_what_there_is_not_is_not_spoken_of(make: Callable[[], object], says: str) -> None:
    with pytest.raises(UsageError) as raised:
        make()
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)
