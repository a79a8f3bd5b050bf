"""The step table: text is printed as it is, changed cells are starred or coloured, every column has its own value."""

from enum import IntEnum
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from fdverify.model_check.report import report_check
from fdverify.models.system import Flag, Integers, Labels, Parameter, Phase, Property, System, Update, Variable, update
from fdverify.runs.run_table import ShownRun, ShownStep, ShownValue
from fdverify.verdict import Result, Verdict

Pc = IntEnum("Pc", ["[p0]", "[bold]p1[/bold]"], start=0)
GOOD = Property("good", lambda s: True, "[all] is well")
VIOLATED = Result(Verdict.VIOLATED, "[red]good[/red] is violated", {"depth": 2})


def stay(s: Any, c: Any) -> Update:
    return update()


def system() -> System:
    return System(
        name="[i]lift[/i]",
        options={"start": "[p0]", "style": "[link=x]"},
        parameters=(Parameter("floors", 1, 3),),
        variables=(
            Variable("pc", Labels(Pc), initial=lambda s: Pc(0)),
            Variable("floor", Integers(), initial=lambda s: 0),
        ),
        phases=(Phase("[dim]", stay, (Flag("up"),)),),
        properties=(GOOD,),
    )


ROWS = [
    ShownStep(0, None, {}, {"pc": "[p0]", "floor": 0}, {"floor*[2]": 0}),
    ShownStep(1, "[dim]", {"[u]up[/u]": True}, {"pc": "[p0]", "floor": 1}, {"floor*[2]": 2}),
    ShownStep(2, "[dim]", {"[u]up[/u]": False, "[b]": (1, 4)}, {"pc": "[/p1]", "floor": 1}, {"floor*[2]": 2}),
]


def printed(rows: list[ShownStep], colour: bool) -> str:
    file = StringIO()
    looks: dict[str, Any] = {"force_terminal": True, "color_system": "truecolor"} if colour else {"color_system": None}
    run = ShownRun({"floors": 3}, tuple(rows)) if rows else None
    outcome = report_check("bmc", system(), GOOD, VIOLATED, run, 1.25)
    outcome.render(Console(file=file, width=200, highlight=False, **looks))
    return file.getvalue()


def cells(text: str) -> list[list[str]]:
    return [[c.strip() for c in line.strip("│").split("│")] for line in text.splitlines() if line.startswith("│")]


@pytest.mark.parametrize("colour", [False, True])
def test_markup_is_text(colour: bool) -> None:
    text = printed(ROWS, colour)
    for part in (
        "[i]lift[/i], start [p0], style [link=x]",
        "│ 1 [dim] │ [u]up[/u]",
        "[b] {1, 4}",
        "[p0]",
        "[/p1]",
        "floor*[2]",
        ": [red]good[/red] is violated",
        "good: [all] is well",
    ):
        assert part in text
    assert "floors = 3" in text


def test_stars_without_colour() -> None:
    text = printed(ROWS, colour=False)
    assert "\x1b" not in text
    assert cells(text) == [
        ["0", "", "[p0]", "0", "0"],
        ["1 [dim]", "[u]up[/u]", "[p0]", "1*", "2*"],
        ["2 [dim]", "[b] {1, 4}", "[/p1]*", "1", "2"],
    ]


def test_colour_without_stars() -> None:
    first, second, third = cells(printed(ROWS, colour=True))
    assert [["\x1b" in cell for cell in row] for row in (first, second, third)] == [
        [False, False, False, False, False],
        [False, False, False, True, True],
        [False, False, True, False, False],
    ]
    assert not any("*" in cell for row in (first, second, third) for cell in row)


def test_a_shown_expression_may_be_a_variable() -> None:
    rows = [ShownStep(0, None, {}, {"pc": "[p0]", "floor": 7}, {"floor": 7, "floors": 3})]
    assert cells(printed(rows, colour=False)) == [["0", "", "[p0]", "7", "7", "3"]]


def test_values_in_words() -> None:
    state: dict[str, ShownValue] = {"on": True, "off": False, "ages": (9, 10), "none": (), "number": -1}
    assert cells(printed([ShownStep(0, None, {}, state, {})], colour=False)) == [
        ["0", "", "yes", "no", "{9, 10}", "{}", "-1"]
    ]


def test_verdict_without_a_run() -> None:
    lines = printed([], colour=False).splitlines()
    assert lines[0] == "violated: [red]good[/red] is violated"
    assert lines[-1] == "[i]lift[/i], start [p0], style [link=x], depth 2, 1.2 s"
    assert not any("│" in line for line in lines)
