"""Runs as Mermaid sequence diagrams: every line is of a known kind, and the diagram has what the document has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import pytest
import typer

from fdverify.app import build_app, list_products
from fdverify.models.participants import Channel, Role
from fdverify.printable import make_printable
from fdverify.reports.documents import Document
from fdverify.reports.mermaid import write_mermaid
from fdverify.reports.outcome import Outcome
from fdverify.runs.messages import Message
from fdverify.runs.run_table import ShownRun, ShownStep
from tests.cli.script import found, run

EXAMPLES = Path(__file__).parents[2] / "examples"
RUNS = Path(__file__).parents[1] / "runs"
SMALL = ("--delta", "2", "--phi", "2", "--timeout", "3")
STUBBORN = ("live", f"{EXAMPLES}/broken_detectors.py:STUBBORN", "--delta", "1", "--phi", "2", "--timeout", "1")
BROKEN = ("threshold", "check", f"{EXAMPLES}/threshold/strb.ta", "--spec", "relay", "--assume", "N >= 3*T")
EVIL = 'a;b#c\nend\x1b[2J\u202e%%{init}%% $$x$$ <br/> &amp; "q" style:x\\n \ufb02\u00b0\u00b0 \U0001f600 -->>p1: wrap:'

TEXT = r"((?:[A-Za-z0-9 _=,.()\[\]{}+*/'!?|-]|#[0-9]+;)+)"
KINDS = {
    "title": re.compile(rf"title: {TEXT}"),
    "participant": re.compile(rf"participant (p\d+) as {TEXT}"),
    "note": re.compile(rf"Note over (p\d+(?:,p\d+)?): {TEXT}"),
    "arrow": re.compile(rf"(p\d+)(->>|-x|--x)(p\d+): {TEXT}"),
    "loop": re.compile(rf"loop {TEXT}"),
    "end": re.compile(r"end"),
}


@dataclass
class Diagram:
    """What a diagram says: texts are decoded, and notes and arrows are in order."""

    title: str = ""
    names: dict[str, str] = field(default_factory=dict)
    notes: list[tuple[str, str]] = field(default_factory=list)
    arrows: list[tuple[str, str, str, str]] = field(default_factory=list)
    looped: list[str] = field(default_factory=list)
    """The notes in the loop."""
    loops: list[str] = field(default_factory=list)


def decode(text: str) -> str:
    return re.sub(r"#([0-9]+);", lambda code: chr(int(code[1])), text)


def read_diagram(text: str) -> Diagram:
    """Read a diagram; fail at a line of no kind, an unknown participant, or a loop without its end."""
    assert text.isascii()
    first, *lines, last = text.split("\n")
    assert (first, last) == ("sequenceDiagram", "")
    diagram, depth = Diagram(), 0
    for line in lines:
        matches = {kind: match for kind, each in KINDS.items() if (match := each.fullmatch(line.strip(" ")))}
        assert len(matches) == 1, line
        ((kind, match),) = matches.items()
        depth -= kind == "end"
        assert len(line) - len(line.lstrip(" ")) == 4 * (depth + 1), line
        depth += kind == "loop"
        assert depth in (0, 1)
        parts = [decode(part) for part in match.groups()]
        if kind == "title":
            diagram.title = parts[0]
        elif kind == "participant":
            assert parts[0] not in diagram.names
            assert not diagram.notes + diagram.loops, "participants come first"
            diagram.names[parts[0]] = parts[1]
        elif kind == "note":
            assert set(parts[0].split(",")) <= set(diagram.names)
            diagram.notes.append((parts[0], parts[1]))
            diagram.looped += [parts[1]] if depth else []
        elif kind == "arrow":
            assert {parts[0], parts[2]} <= set(diagram.names)
            diagram.arrows.append((parts[0], parts[1], parts[2], parts[3]))
        elif kind == "loop":
            diagram.loops.append(parts[0])
    assert depth == 0
    return diagram


def draw(run: ShownRun) -> Diagram:
    outcome = Outcome(1, Document(command="bmc"), lambda console: None, (run,))
    text = write_mermaid(outcome)
    assert text is not None
    assert write_mermaid(outcome) == text
    return read_diagram(text)


def drawn(folder: Path, *arguments: str) -> tuple[Diagram, Any]:
    """The diagram that a command writes, and its document."""
    file = folder / "run.mmd"
    _, document = found(*arguments, "--mermaid", str(file))
    return read_diagram(file.read_text()), document


def fates(trace: Any) -> Counter[str]:
    """How many messages of a document are drawn with each arrow."""
    delivered = {channel["buffer"]: channel["delivered"] for channel in trace["channels"]}
    counted: Counter[str] = Counter()
    for message in trace["messages"]:
        if message["ended"] is None:
            counted["--x"] += 1
        else:
            counted["->>" if message["by"] is not None and message["by"] == delivered[message["buffer"]] else "-x"] += 1
    return counted


def shown_rounds(trace: Any) -> list[str]:
    return [f"round {step['round']}" + (f", {step['phase']}" if step["phase"] else "") for step in trace["steps"]]


def delivered_ages(trace: Any) -> list[int]:
    """The ages that are delivered, in the order of the steps and the oldest first."""
    names = [channel["delivered"] for channel in trace["channels"]]
    chosen = [step["choices"].get(name, []) for step in trace["steps"] for name in names]
    return [age for ages in chosen for age in sorted(ages, reverse=True)]


def test_a_violated_property(tmp_path: Path) -> None:
    diagram, document = drawn(tmp_path, "bmc", *SMALL)
    trace = document["trace"]
    assert document["verdict"] == "violated"
    assert diagram.title.startswith("chandra-toueg, variant tla, crash false, timeout 3")
    assert diagram.names == {"p0": "sender", "p1": "receiver"}
    assert diagram.notes[0] == ("p0,p1", "delta = 2, phi = 2, initial_timeout = 3")
    assert [text for _, text in diagram.notes if text.startswith("round")] == shown_rounds(trace)
    (suspects,) = [note for note in diagram.notes if "suspected = yes" in note[1]]
    assert suspects[0] == "p1"
    assert ("p0", "sender_active") in diagram.notes
    assert diagram.arrows == [("p0", "--x", "p1", "message, age 2, in transit")]
    assert diagram.loops == []


CASES = {
    "bmc": ("bmc", *SMALL),
    "simulate": ("simulate", "--delta", "2", "--phi", "2", "--seed", "1"),
    "sub-rounds": ("simulate", "--delta", "2", "--phi", "2", "--seed", "1", "--subrounds", "--depth", "15"),
    "asynchrony": ("simulate", "--delta", "1", "--phi", "1", "--computation", "asynchrony", "--seed", "5"),
    "two channels": ("simulate", f"{RUNS}/asking.py:ASKING", "--bound", "2"),
    "lost messages": ("simulate", f"{EXAMPLES}/gst/_detector.py:LOSSY", "--delta", "2", "--phi", "2", "--gst", "20"),
    "lasso": STUBBORN,
}


@pytest.mark.parametrize("case", CASES)
def test_every_message_is_an_arrow(case: str, tmp_path: Path) -> None:
    diagram, document = drawn(tmp_path, *CASES[case])
    trace = document["trace"]
    assert Counter(arrow for _, arrow, _, _ in diagram.arrows) == fates(trace)
    ages = [int(text.rpartition("age ")[2]) for _, arrow, _, text in diagram.arrows if arrow == "->>"]
    assert ages == delivered_ages(trace)
    last = [arrow for _, arrow, _, _ in diagram.arrows][len(diagram.arrows) - fates(trace)["--x"] :]
    assert set(last) <= {"--x"}, "what is in transit comes last"
    assert [text for _, text in diagram.notes if text.startswith("round")] == shown_rounds(trace)


def test_the_cases_have_every_kind_of_arrow(tmp_path: Path) -> None:
    arrows = {case: drawn(tmp_path, *CASES[case])[0].arrows for case in ("two channels", "lost messages", "simulate")}
    assert {arrow for _, arrow, _, _ in arrows["lost messages"]} == {"->>", "-x"}
    assert any(
        re.fullmatch(r"message, age \d, lost", text) for _, arrow, _, text in arrows["lost messages"] if arrow == "-x"
    )
    assert {(sender, receiver) for sender, _, receiver, _ in arrows["two channels"]} == {("p0", "p1"), ("p1", "p0")}
    assert any(text.startswith("message of questions, age ") for *_, text in arrows["two channels"])
    assert "->>" in {arrow for _, arrow, _, _ in arrows["simulate"]}


def test_a_crash_is_a_note_over_the_process(tmp_path: Path) -> None:
    arguments = ("simulate", "--crash", "--delta", "2", "--phi", "2", "--seed", "3", "--subrounds", "--depth", "2")
    diagram, document = drawn(tmp_path, *arguments)
    crashes = sum(step["choices"].get("crash", False) for step in document["trace"]["steps"])
    assert crashes == 1
    assert diagram.notes.count(("p0", "crash")) == 1


def test_a_lasso(tmp_path: Path) -> None:
    diagram, document = drawn(tmp_path, *STUBBORN)
    trace = document["trace"]
    first, last = trace["loop"] + 1, trace["steps"][-1]["round"]
    assert diagram.loops == [f"for ever, round {first} to round {last}"]
    rounds = [text for text in diagram.looped if text.startswith("round")]
    assert rounds == [f"round {number}" for number in range(first, last + 1)]


def test_a_threshold_automaton(tmp_path: Path) -> None:
    diagram, document = drawn(tmp_path, *BROKEN, "--assume", "T >= F")
    (specification,) = document["specifications"]
    trace = specification["trace"]
    assert diagram.names == {"p0": "STRB"}
    assert diagram.arrows == []
    assert diagram.notes[0] == ("p0", ", ".join(f"{name} = {n}" for name, n in trace["parameters"].items()))
    taken = [text for _, text in diagram.notes if text.startswith("rule")]
    assert taken == [f"rule {step['rule']}, processes {step['processes']}" for step in trace["steps"]]
    assert diagram.loops == ["for ever"]
    assert diagram.looped == ["nothing changes"], "the run stays in its last configuration"


def test_a_run_without_processes_but_with_messages() -> None:
    steps = (
        ShownStep(0, None, {}, {"box": (1,)}),
        ShownStep(1, None, {"taken": (2,)}, {"box": ()}),
    )
    channel = Channel("box", delivered="taken")
    diagram = draw(ShownRun({}, steps, channels=(channel,), messages=(Message("box", None, [1], 1, "taken"),)))
    assert diagram.names == {"p0": "(no name)"}
    assert diagram.arrows == [("p0", "->>", "p0", "message, age 2")]


def test_a_channel_without_ends_is_a_variable() -> None:
    steps = (
        ShownStep(0, None, {}, {"box": (1,)}),
        ShownStep(1, None, {"taken": (2,)}, {"box": ()}, {"1+1": 2}),
    )
    run = ShownRun(
        {}, steps, None, (Role("x"), Role("y"), Role("z")), (Channel("box", delivered="taken"),),
        (Message("box", None, [1], 1, "taken"),),
    )  # fmt: skip
    diagram = draw(run)
    assert diagram.arrows == []
    assert [text for _, text in diagram.notes] == ["round 0", "box = {1}", "round 1", "taken {2}", "box = {}, 1+1 = 2"]
    assert {place for place, _ in diagram.notes} == {"p0,p2"}


def test_a_chosen_message_that_stays_leaves_the_ages_open() -> None:
    steps = (
        ShownStep(0, None, {}, {"box": (0, 1)}),
        ShownStep(1, None, {"taken": (0, 1)}, {"box": (0,)}),
    )
    messages = (Message("box", None, [1], 1, "taken"), Message("box", None, [0, 0]))
    channel = Channel("box", "x", "x", "taken")
    diagram = draw(ShownRun({}, steps, None, (Role("x"),), (channel,), messages))
    assert diagram.arrows == [("p0", "->>", "p0", "message"), ("p0", "--x", "p0", "message, age 0, in transit")]


def test_odd_names_stay_in_their_place() -> None:
    names = [f"{number}{EVIL}" for number in range(7)]
    process, variable, flag, buffer, label, phase, model = names
    steps = (
        ShownStep(0, None, {}, {variable: 0, buffer: ()}),
        ShownStep(1, phase, {flag: True, "d" + EVIL: ()}, {variable: label, buffer: (0,)}),
    )
    roles = (Role(process, owns=(variable, flag)), Role("end"))
    run = ShownRun(
        {EVIL: 3}, steps, 0, roles, (Channel(buffer, process, "end", "d" + EVIL), Channel("other")),
        (Message(buffer, 1, [0]),), model, {"option" + EVIL: EVIL},
    )  # fmt: skip
    diagram, shown = draw(run), [make_printable(name) for name in names]
    assert diagram.title == f"{shown[6]}, option{make_printable(EVIL)} {make_printable(EVIL)}"
    assert diagram.names == {"p0": shown[0], "p1": "end"}
    assert diagram.notes == [
        ("p0,p1", f"{make_printable(EVIL)} = 3"),
        ("p0,p1", "round 0"),
        ("p0", f"{shown[1]} = 0"),
        ("p0,p1", f"round 1, {shown[5]}"),
        ("p0", shown[2]),
        ("p0", f"{shown[1]} = {shown[4]}"),
    ]
    assert diagram.arrows == [("p0", "--x", "p1", f"message of {shown[3]}, age 0, in transit")]


@pytest.mark.parametrize(
    "line", ["Note over p0: a;b", "p0->>p1: x", "loop a", "participant p0 as #", "Note over p0: a%"]
)
def test_the_reader_of_this_file_refuses(line: str) -> None:
    with pytest.raises(AssertionError):
        read_diagram(f"sequenceDiagram\n    participant p0 as x\n    {line}\n")


def test_without_a_run_nothing_is_written(tmp_path: Path) -> None:
    file = tmp_path / "run.mmd"
    assert run("live", "--delta", "1", "--phi", "2", "--timeout", "1", "--mermaid", str(file)).code == 0
    assert not file.exists()
    file.write_text("precious")
    assert run("bmc", "--delta", "1", "--phi", "1", "--depth", "3", "--mermaid", str(file)).code == 0
    assert file.read_text() == "precious"


def test_the_same_run_is_the_same_text(tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert run("bmc", *SMALL, "--quiet", "--mermaid", name, cwd=tmp_path).code == 1
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def commands(group: Any) -> Iterator[click.Command]:
    for each in group.commands.values():
        yield each
        if hasattr(each, "commands"):
            yield from commands(each)


def test_every_command_that_shows_runs_has_it() -> None:
    flags = [
        {flag for option in command.params for flag in option.opts}
        for command in commands(typer.main.get_command(build_app("chandra-toueg", list_products())))
    ]
    assert sum("--mermaid" in each for each in flags) > 8
    assert [each for each in flags if ("--mermaid" in each) != ("--itf" in each)] == []
    assert "--mermaid FILE" in run("--help", name="verify-invariant").stdout
