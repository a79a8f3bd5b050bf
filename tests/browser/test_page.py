"""The HTML page in a real browser: it shows the numbers of its document, step by step, and can be read by anyone."""

import json
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest

from fdverify.reports.html_page import build_page
from tests.browser.conftest import Pages
from tests.browser.page import LOW_CONTRAST, PHONE, WIDE, Browser
from tests.cli.processes import wait_until
from tests.cli.test_html import COMMANDS, VERIFY, Parts
from tests.sampling import every

# What selenium calls them; it is imported only where there is a browser.
HOME, END, LEFT, RIGHT, TAB = "\ue011", "\ue010", "\ue012", "\ue014", "\ue004"

PAGES: dict[str, tuple[str, ...]] = {
    "counterexample": ("bmc", "--delta", "20", "--phi", "20", "--timeout", "delta+1", "--show", "phi*timeout"),
    "completeness": (VERIFY, "invariants/lasting_suspicion.py"),
    "witnesses": (VERIFY, "invariants/lasting_suspicion.py", "--witness"),
    "several": (VERIFY, "examples/first_proof.py", "examples/spaced_messages.py", "examples/meant_to_fail.py"),
    "threshold": COMMANDS["threshold"][1],
    "failure": COMMANDS["failure"][1],
    "loop": COMMANDS["live"][1],
    "sub-rounds": COMMANDS["explore"][1],
    "two channels": ("simulate", "tests/runs/asking.py:ASKING", "--bound", "4", "--depth", "30"),
    "lossy": (
        *("simulate", "examples/gst/_detector.py:LOSSY", "--delta", "4", "--phi", "2", "--gst", "25"),
        *("--seed", "1", "--depth", "50"),
    ),
}
RUNS = ("counterexample", "failure", "loop", "sub-rounds", "two channels", "lossy")


def document_of(path: Path) -> Any:
    return json.loads(Parts(path.read_text()).texts["document"])


def trace_of(document: Any) -> Any:
    """The first run or step of a document."""
    if "proofs" not in document:
        return document["trace"]
    return next(each["failure"]["step"] for each in document["proofs"][0]["obligations"] if each["failure"])


def words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "{" + ", ".join(map(str, value)) + "}" if isinstance(value, list) else str(value)


def values_at(trace: Any, step: int) -> dict[str, str]:
    entry = trace["steps"][step]
    return {name: words(value) for name, value in {**entry["state"], **entry["show"]}.items()}


def changes_at(trace: Any, step: int) -> dict[str, str]:
    if step == 0:
        return {}
    before, now = values_at(trace, step - 1), values_at(trace, step)
    return {name: f"was {before[name]}" for name in now if before[name] != now[name]}


def ages_at(trace: Any, step: int) -> list[int]:
    spans = [(message["sent"] or 0, message["ages"]) for message in trace["messages"]]
    return [ages[step - start] for start, ages in spans if 0 <= step - start < len(ages)]


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_every_step_shows_the_numbers_of_the_document(browser: Browser, pages: Pages, name: str) -> None:
    path = pages.of(*PAGES[name])
    trace = trace_of(document_of(path))
    browser.open(path)
    for step, entry in enumerate(trace["steps"]):
        shown = browser.state()
        assert shown["step"] == step
        assert shown["values"] == values_at(trace, step)
        assert shown["was"] == changes_at(trace, step)
        assert sorted(shown["ages"]) == sorted(ages_at(trace, step))
        assert sorted(shown["ages"]) == sorted(age for c in trace["channels"] for age in entry["state"][c["buffer"]])
        phase = "" if entry["phase"] is None else f", {entry['phase']}"
        assert shown["status"].startswith(f"round {entry['round']} of {trace['steps'][-1]['round']}{phase} ")
        for choice, value in entry["choices"].items():
            assert (choice in shown["status"]) is bool(value)
        browser.press(RIGHT)
    assert browser.state()["step"] == len(trace["steps"]) - 1, "the last step stays"
    assert browser.complaints() == []


def test_a_run_can_be_walked_in_every_way(browser: Browser, pages: Pages) -> None:
    path = pages.of(*PAGES["counterexample"])
    trace = trace_of(document_of(path))
    last = len(trace["steps"]) - 1
    browser.open(path)

    def at() -> int:
        step: int = browser.state()["step"]
        assert browser.state()["values"] == values_at(trace, step)
        return step

    browser.press(LEFT)
    assert at() == 0, "before the first there is none"
    browser.press(END)
    assert at() == last == 24
    browser.press(LEFT, LEFT)
    assert at() == last - 2
    browser.press(HOME)
    assert at() == 0
    for button, step in (("last", last), ("back", last - 1), ("first", 0), ("forward", 1)):
        browser.click(f'button[aria-label^="{button}"]')
        assert at() == step
    column = browser.run("return Number(document.querySelector('rect.now').getAttribute('width'))")
    browser.click(".scroller svg", x=round(7.5 * column))
    assert at() == 7
    browser.click('input[type="range"]')
    assert at() == last // 2
    browser.press(RIGHT)
    assert at() == last // 2 + 1, "the slider and the page do not both step"


@pytest.mark.parametrize("name", ["counterexample", "sub-rounds"])
def test_only_what_changed(browser: Browser, pages: Pages, name: str) -> None:
    path = pages.of(*PAGES[name])
    trace = trace_of(document_of(path))
    browser.open(path)
    browser.press("d")
    pressed = "return document.querySelector('button.wide').getAttribute('aria-pressed')"
    assert browser.run(pressed) == "true"
    for step in range(len(trace["steps"])):
        shown = browser.state()
        assert shown["was"] == changes_at(trace, step)
        assert set(shown["values"]) == set(shown["was"])
        browser.press(RIGHT)
    browser.click("button.wide")
    assert browser.run(pressed) == "false"
    assert browser.state()["values"] == values_at(trace, len(trace["steps"]) - 1)


BARS = """
const column = Number(document.querySelector(".now").getAttribute("width"));
const step = (text) => Math.floor(Number(text.getAttribute("x")) / column);
return [...document.querySelectorAll(".message")].map((bar) => {
  const rect = bar.querySelector("rect");
  const left = Number(rect.getAttribute("x"));
  return {
    from: bar.dataset.from, to: bar.dataset.to, buffer: bar.dataset.buffer, kind: bar.classList[1],
    first: left / column, last: (left + Number(rect.getAttribute("width"))) / column,
    ages: [...bar.querySelectorAll("text")].map((age) => [step(age), Number(age.textContent)]),
  };
});
"""


@pytest.mark.parametrize("name", every(2, RUNS))
def test_a_bar_goes_from_where_a_message_is_sent_to_where_it_ends(browser: Browser, pages: Pages, name: str) -> None:
    path = pages.of(*PAGES[name])
    trace = trace_of(document_of(path))
    steps = len(trace["steps"])
    browser.open(path)
    bars = browser.run(BARS)
    assert len(bars) == len(trace["messages"]) > 0
    delivering = {channel["buffer"]: channel["delivered"] for channel in trace["channels"]}
    for bar, message in zip(bars, trace["messages"], strict=True):
        sent, ended = message["sent"], message["ended"]
        assert (bar["from"], bar["to"]) == ("" if sent is None else str(sent), "" if ended is None else str(ended))
        assert bar["buffer"] == message["buffer"]
        assert bar["ages"] == [[(sent or 0) + index, age] for index, age in enumerate(message["ages"])]
        assert bar["first"] < 0 if sent is None else sent <= bar["first"] < sent + 1
        assert bar["last"] > steps if ended is None else ended < bar["last"] <= ended + 1
        delivered = message["by"] == delivering[message["buffer"]]
        fate = (
            "open" if ended is None else "delivered" if delivered else "lost" if message["into"] is None else "merged"
        )
        assert bar["kind"] == fate


def test_lanes_tell_who_was_active(browser: Browser, pages: Pages) -> None:
    path = pages.of(*PAGES["counterexample"])
    trace = trace_of(document_of(path))
    browser.open(path)
    assert browser.texts(".labels .lane") == ["sender", "receiver"]
    kinds = browser.run("return [...document.querySelectorAll('.box')].map((box) => box.classList[1])")
    active = [[step["choices"].get(f"{who}_active") for step in trace["steps"]] for who in ("sender", "receiver")]
    said = ["start" if c is None else "active" if c else "idle" for lane in active for c in lane]
    assert kinds == said
    suspected = sum(step["state"]["suspected"] for step in trace["steps"])
    assert browser.run("return document.querySelectorAll('.strip').length") == suspected == 1


def test_the_premises_of_a_liveness_proof_are_a_tree(browser: Browser, pages: Pages) -> None:
    path = pages.of(*PAGES["completeness"])
    (proof,) = document_of(path)["proofs"]
    browser.open(path)
    branches = browser.texts(".tree > li > ul > li")
    assert len(proof["premises"]) == 11
    for premise, branch in zip(proof["premises"], branches, strict=False):
        assert branch == f"{premise['verdict']} {premise['name']} {premise['meaning']}"
    bounds = [f"{bound['of']}: {bound['formula']}" for bound in proof["bounds"]]
    assert browser.texts(".tree .bounds > li") == bounds
    assert len(branches) == len(proof["premises"]) + 1
    rows = browser.run("return [...document.querySelectorAll('details tbody tr')].map((row) => row.innerText)")
    assert len(rows) == len(proof["obligations"]) == 66
    assert browser.texts("h1") == [f"{proof['proof']} {proof['verdict']}"]
    table = browser.texts("details tbody tr")
    for text, obligation in zip(table, proof["obligations"], strict=True):
        said = [obligation["name"], obligation["verdict"], obligation["meaning"], obligation["source"]]
        assert all(each in text for each in said if each is not None)
    assert browser.complaints() == []


def test_a_run_of_a_threshold_automaton(browser: Browser, pages: Pages) -> None:
    path = pages.of(*PAGES["threshold"])
    document = document_of(path)
    (trace,) = (each["trace"] for each in document["specifications"] if each["trace"])
    values = [trace["start"], *(step["after"] for step in trace["steps"])]
    browser.open(path)
    verdicts = [f"{each['name']} {each['verdict']}" for each in document["specifications"]]
    assert browser.texts("h2") == verdicts
    assert "and from then on nothing moves" in browser.texts("section p")
    for step, after in enumerate(values):
        shown = browser.state()
        assert shown["values"] == {name: str(value) for name, value in after.items()}
        assert shown["boxes"] == [str(value) for value in after.values()]
        if step > 0:
            taken = trace["steps"][step - 1]
            assert f"rule {taken['rule']}: {taken['source']} \u2192 {taken['target']}, " in shown["status"]
            assert any(taken["guard"] in note for note in shown["notes"])
            changed = {name: f"was {values[step - 1][name]}" for name in after if after[name] != values[step - 1][name]}
            assert shown["was"] == changed
        browser.press(RIGHT)
    assert browser.state()["step"] == len(values) - 1


@pytest.mark.parametrize(("name", "width", "scheme"), every(19, product(PAGES, (WIDE, PHONE), ("light", "dark"))))
def test_it_can_be_read(browser: Browser, pages: Pages, name: str, width: int, scheme: str) -> None:
    path = pages.of(*PAGES[name])
    browser.open(path, width, scheme)
    assert browser.run("return getComputedStyle(document.body).colorScheme") == "light dark"
    browser.press(RIGHT, RIGHT)
    texts, hard = browser.run(LOW_CONTRAST)
    assert texts > 10
    assert hard == []
    # All tables are open by now: they scroll, the page does not.
    assert browser.run("return document.documentElement.scrollWidth") <= width
    assert browser.complaints() == []
    assert browser.requests() == [path.as_uri()]


def test_the_two_schemes_differ(browser: Browser, pages: Pages) -> None:
    path = pages.of(*PAGES["completeness"])
    colours = []
    for scheme in ("light", "dark"):
        browser.open(path, scheme=scheme)
        colours.append(browser.run("return getComputedStyle(document.body).backgroundColor"))
    assert colours == ["rgb(252, 252, 250)", "rgb(21, 24, 27)"]


@pytest.mark.parametrize("name", every(4, PAGES))
def test_it_is_in_order_for_those_who_listen(browser: Browser, pages: Pages, name: str) -> None:
    browser.open(pages.of(*PAGES[name]))
    levels = browser.run("return [...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map((h) => Number(h.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert browser.run("return document.documentElement.lang") == "en"
    assert browser.run("return document.title") != "fdverify"
    unnamed = "return [...document.querySelectorAll('button, input')].filter((b) => !(b.ariaLabel || b.textContent))"
    assert browser.run(f"{unnamed}.length") == 0
    runs = browser.run("return document.querySelectorAll('.run').length")
    assert browser.run("return document.querySelectorAll('.run [aria-live=polite]').length") == runs


def test_where_the_focus_is_can_be_seen(browser: Browser, pages: Pages) -> None:
    browser.open(pages.of(*PAGES["counterexample"]))
    browser.press(RIGHT)
    seen = []
    for _ in range(7):
        browser.press(TAB)
        look = "const s = getComputedStyle(document.activeElement); return [s.outlineStyle, parseFloat(s.outlineWidth)]"
        assert browser.run(look) == ["solid", 3]
        seen.append(browser.run("return document.activeElement.ariaLabel || document.activeElement.textContent"))
    assert [name.split(" (")[0] for name in seen[:6]] == [
        "first",
        "back",
        "forward",
        "last",
        "step",
        "only what changed",
    ]


def test_nothing_moves_for_those_who_prefer_that(browser: Browser, pages: Pages) -> None:
    path = pages.of(*PAGES["counterexample"])
    durations = []
    for motion in ("no-preference", "reduce"):
        browser.open(path, motion=motion)
        durations.append(browser.run("return getComputedStyle(document.querySelector('button')).transitionDuration"))
    assert durations == ["0.15s, 0.15s", "0s"]


@pytest.mark.slow
def test_keys_go_to_the_run_that_was_used_last(browser: Browser, pages: Pages) -> None:
    browser.open(pages.of(*PAGES["witnesses"]))
    first, second = browser.state(0), browser.state(1)
    assert (first["step"], second["step"]) == (0, 0)
    browser.press(RIGHT)
    assert (browser.state(0)["step"], browser.state(1)["step"]) == (1, 0)
    browser.run("document.querySelectorAll('.run')[1].querySelector('button.wide').focus()")
    browser.press(RIGHT, RIGHT)
    assert (browser.state(0)["step"], browser.state(1)["step"]) == (1, 2)


def test_texts_of_a_model_are_texts(browser: Browser, pages: Pages) -> None:
    browser.open(pages.of(*PAGES["two channels"]))
    assert "</script><b>it is \\u2028 not yet late</b>" in browser.texts("main > p")
    assert browser.run("return document.querySelectorAll('main b').length") == 0


def test_numbers_of_any_size_are_exact(browser: Browser, pages: Pages, tmp_path: Path) -> None:
    document = document_of(pages.of(*PAGES["counterexample"]))
    huge = 2**70 + 1
    document["trace"]["steps"][0]["state"]["timeout"] = huge
    document["trace"]["steps"][0]["state"]["waiting_time"] = -huge
    path = tmp_path / "page.html"
    path.write_text(build_page(json.dumps(document)))
    browser.open(path)
    shown = browser.state()["values"]
    assert (shown["timeout"], shown["waiting_time"]) == (str(huge), str(-huge))


def test_the_whole_run_is_there_as_a_table(browser: Browser, pages: Pages) -> None:
    path = pages.of(*PAGES["counterexample"])
    trace = trace_of(document_of(path))
    browser.open(path)
    browser.click(".run summary")
    assert wait_until(lambda: len(browser.texts(".run details tbody tr")) == len(trace["steps"]), seconds=60)
    headings = browser.texts(".run details th")
    rows = browser.run(
        "const rows = [...document.querySelectorAll('.run details tbody tr')];"
        "return rows.map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    for step, row in enumerate(rows):
        assert dict(zip(headings[2:], row[2:], strict=True)) == values_at(trace, step)
