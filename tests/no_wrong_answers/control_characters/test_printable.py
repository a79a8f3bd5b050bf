"""What is spelt out, and what is left as it is."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from rich.console import Console

from fdverify.errors import InternalError, UsageError
from fdverify.invariant_search.proof_writer import _escape_docstring, _quote_text
from fdverify.printable import make_printable
from fdverify.reports.safe_text import Text
from fdverify.reports.step_table import render_text
from fdverify.smt.script import Assertion, Script
from fdverify.sweep.map_svg import escape_text
from fdverify.threshold.text.diagram import _escape_text
from tests.sampling import every

SPELT_OUT = {
    "\x1b[31m": "\\x1b[31m",
    "a\nb": "a\\nb",
    "a\r\nb": "a\\r\\nb",
    "a\tb": "a\\tb",
    "\x00\x07\x7f": "\\x00\\x07\\x7f",
    "\x9b31m": "\\x9b31m",
    "\x85": "\\x85",
    "\u202eabc\u202c": "\\u202eabc\\u202c",
    "\u2066\u2069\u200e\u200f\u061c": "\\u2066\\u2069\\u200e\\u200f\\u061c",
    "\u2028\u2029": "\\u2028\\u2029",
    "\u200b\ufeff": "\\u200b\\ufeff",
    "\udcff": "\\xff",
    "\U000e0041": "\\U000e0041",
    "\ue000": "\\ue000",
}


@pytest.mark.parametrize(("text", "shown"), SPELT_OUT.items(), ids=map(ascii, SPELT_OUT))
def test_what_is_no_letter_is_spelt_out(text: str, shown: str) -> None:
    assert make_printable(text) == shown
    assert make_printable(f"({text})") == f"({shown})"
    assert make_printable(shown) == shown, "once is enough"


@pytest.mark.parametrize(
    "text", ["", "plain", "Δ ≤ Φ·2", "né", "שלום", "状态", "نمی‌خواهم", "👩‍🔬", "a\u00a0b", "\\x1b"]
)
def test_all_else_is_left_as_it_is(text: str) -> None:
    assert make_printable(text) == text


def test_no_character_does_anything() -> None:
    for code in (*range(0x3000), *every(20, range(0x3000, sys.maxunicode + 1))):
        shown = make_printable(chr(code))
        assert "\n" not in shown
        if shown != chr(code):
            assert shown.isascii()
        else:
            assert unicodedata.category(shown) not in ("Cc", "Cs", "Zl", "Zp")
            assert unicodedata.bidirectional(shown) not in (
                "LRE",
                "RLE",
                "LRO",
                "RLO",
                "PDF",
                "LRI",
                "RLI",
                "FSI",
                "PDI",
            )


@pytest.mark.parametrize("kind", [UsageError, InternalError])
def test_errors_are_one_line(kind: type[UsageError | InternalError]) -> None:
    error = kind("no model \x1b[2J\nerror: all is well", "did you mean \u202e?")
    assert str(error) == "no model \\x1b[2J\\nerror: all is well (hint: did you mean \\u202e?)"
    assert len(str(error).splitlines()) == 1


@pytest.mark.parametrize("terminal", [True, False])
def test_text_on_a_terminal(terminal: bool) -> None:
    def show(console: Console) -> None:
        line = Text("a\x1b[31m\nb", style="bold")
        line.append("\u202ec")
        console.print(line)
        console.print("[bold]no markup[/] :smile: [/x]")

    shown = render_text(show, terminal)
    for odd in ("\x1b[31m", "\u202e", "a\x1b"):
        assert odd not in shown
    assert "a\\x1b[31m\\nb\\u202ec" in shown.replace("\x1b[0m", "").replace("\x1b[1m", "")
    assert "[bold]no markup[/] :smile: [/x]" in shown


def test_the_title_of_a_question_adds_nothing_to_it() -> None:
    question = Script("x\n(assert false)\n;", (), (), Assertion("(> x 0)", ("(declare-fun x () Int)",)))
    assert question.render().count("\n") == 3
    assert "(assert false)" not in question.render().splitlines()


def test_drawings() -> None:
    assert escape_text("<a>\x1b\n&\u202e") == "&lt;a&gt;\\x1b\\n&amp;\\u202e"
    assert _escape_text('a"b\n<\x1b') == "a&quot;b\\n&lt;\\x1b"


@pytest.mark.parametrize("text", ['"""', "a\nb", "\\", "\\n", "\x1b", '"', "\udcff", "\u202e", "é", "'", "#", "{}"])
def test_what_is_written_into_a_proof_file(text: str) -> None:
    """A name neither ends the text it is in nor comes back as another."""
    values: dict[str, object] = {}
    exec(f'name = {_quote_text(text)}\n\n\ndef f():\n    """{_escape_docstring(text)}."""\n', values)
    assert values["name"] == text
    doc = values["f"].__doc__
    assert doc == f"{make_printable(text)}.".replace('"', "'")
    assert _quote_text(text).isprintable()
