"""``--html``: one file that needs nothing else, with the very document that ``--json`` prints."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from fdverify.reports.html_page import build_page
from tests.cli.script import Outcome, run
from tests.sampling import every

ROOT = Path(__file__).parents[2]
VERIFY = "verify-invariant"
THRESHOLD = ("threshold", "check", "examples/threshold/strb.ta")
COMMANDS: dict[str, tuple[int, tuple[str, ...]]] = {
    "bmc": (1, ("bmc", "--delta", "2", "--phi", "2", "--timeout", "3", "--show", "phi*timeout")),
    "explore": (1, ("explore", "--delta", "1", "--phi", "1", "--timeout", "1", "--subrounds")),
    "induct": (0, ("induct", "--delta", "1", "--phi", "1")),
    "live": (1, ("live", "examples/broken_detectors.py:STUBBORN", "--delta", "1", "--phi", "3", "--timeout", "3")),
    "simulate": (0, ("simulate", "--delta", "2", "--phi", "2", "--depth", "9")),
    "threshold": (1, (*THRESHOLD, "--assume", "N >= 3*T", "--assume", "T >= F", "--assume", "T >= 1")),
    "proof": (0, (VERIFY, "examples/first_proof.py")),
    "failure": (1, (VERIFY, "examples/first_attempt.py")),
}


def called(*arguments: str) -> Outcome:
    """Either of the two scripts, in the project's folder."""
    if arguments[0] != VERIFY:
        return run(*arguments, cwd=ROOT)
    return run(*arguments[1:], "--no-cache", name=VERIFY, cwd=ROOT)


class Parts(HTMLParser):
    """What a browser would read of a page: the tags with their attributes, and the texts of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self._inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = dict(attrs).get("id") or tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        self.texts[self._inside] = self.texts.get(self._inside, "") + data


def timeless(document: Any) -> Any:
    """Without what differs from run to run."""
    if isinstance(document, dict):
        kept = {key: value for key, value in document.items() if key not in ("seconds", "cached")}
        return {key: timeless(value) for key, value in kept.items()}
    return [timeless(each) for each in document] if isinstance(document, list) else document


@pytest.mark.parametrize("name", every(2, COMMANDS))
def test_the_page_has_the_document_and_needs_nothing_else(name: str, tmp_path: Path) -> None:
    code, arguments = COMMANDS[name]
    page = tmp_path / "page.html"
    outcome = called(*arguments, "--json", "--html", str(page))
    assert outcome.code == code
    text = page.read_text()
    parts = Parts(text)
    assert json.loads(parts.texts["document"]) == json.loads(outcome.stdout)
    assert text.isascii()
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    for tag, attributes in parts.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form", "audio", "video")
        assert not {"src", "href", "srcset", "data", "action", "style"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)
    assert not re.search(r"https?:|//[a-z]|url\(|@import|fetch\(|XMLHttpRequest|import\(|innerHTML", text)


@pytest.mark.slow
def test_the_same_run_gives_the_same_page(tmp_path: Path) -> None:
    code, arguments = COMMANDS["bmc"]
    pages = [tmp_path / "one.html", tmp_path / "two.html"]
    shown = [called(*arguments, "--html", str(page)) for page in pages]
    assert [outcome.code for outcome in shown] == [code, code]
    one, two = (page.read_text() for page in pages)
    seconds = re.compile(r'(?<="seconds": )[0-9.]+|[0-9.]+(?= s\\n)')
    assert seconds.sub("", one) == seconds.sub("", two)
    assert shown[0].stdout.splitlines()[:-1] == called(*arguments).stdout.splitlines()[:-1]
    document = json.loads(called(*arguments, "--json").stdout)
    assert timeless(json.loads(Parts(one).texts["document"])) == timeless(document)


@pytest.mark.parametrize(
    "text", ["</script><script>alert(1)</script>", "<!--<script>", "]]>&amp;{{script}}", "\u2028é"]
)
def test_no_text_of_the_document_is_markup(text: str) -> None:
    document = json.dumps({"command": text, text: [text]})
    page = build_page(document)
    plain = build_page("{}")
    assert json.loads(Parts(page).texts["document"]) == json.loads(document)
    assert Parts(page).tags == Parts(plain).tags
    assert Parts(page).texts["script"] == Parts(plain).texts["script"]


def test_only_the_style_and_the_script_of_the_page_are_allowed() -> None:
    page = build_page("{}")
    policy = next(attributes["content"] for _, attributes in Parts(page).tags if "http-equiv" in attributes)
    assert policy is not None
    assert re.fullmatch(r"default-src 'none'; style-src 'sha256-[^' ]+'; script-src 'sha256-[^' ]+'", policy)


@pytest.mark.parametrize("name", every(4, ["bmc", "explore", "simulate", "threshold", "failure"]))
@pytest.mark.parametrize("where", ["a folder", "no folder", "in a file"])
def test_what_cannot_be_written_is_said_before_the_work(name: str, where: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    path = {"a folder": tmp_path, "no folder": tmp_path / "no" / "page.html", "in a file": tmp_path / "file" / "page"}
    # A search that would take hours does not begin.
    long = {"bmc": ("bmc", "--depth", "100000"), "explore": ("explore", "--delta", "30", "--phi", "30")}
    outcome = called(*long.get(name, COMMANDS[name][1]), "--html", str(path[where]))
    why = ": Not a directory" if where == "in a file" else ""
    assert outcome == Outcome(2, "", f"error: cannot write {path[where]}{why}\n")
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("arguments", every(2, [("bmc",), ("explore",), ("threshold", "check"), (VERIFY,)]))
def test_help_tells_of_it(arguments: tuple[str, ...]) -> None:
    outcome = called(*arguments, "--help")
    assert outcome.code == 0
    assert "--html FILE" in " ".join(outcome.stdout.split())


def test_a_report_takes_no_place_of_what_somebody_wrote(tmp_path: Path) -> None:
    """As when its name was left out: ``--html proofs/*.py``."""
    proof, automaton, report = tmp_path / "proof.py", tmp_path / "strb.ta", tmp_path / "report"
    proof.write_text((ROOT / "examples" / "first_proof.py").read_text())
    automaton.write_text((ROOT / "examples" / "threshold" / "strb.ta").read_text())
    written = {path: path.read_text() for path in (proof, automaton)}
    refused = [called(VERIFY, str(proof), flag, str(proof)) for flag in ("--html", "--sarif")]
    refused.append(called(VERIFY, str(proof), "--html", str(report), "--sarif", str(report)))
    refused.append(called("simulate", "--delta", "1", "--phi", "1", "--itf", str(proof)))
    refused.append(called("threshold", "check", str(automaton), "--html", str(automaton)))
    assert [(found.code, found.stdout, found.stderr.count("\n")) for found in refused] == [(2, "", 1)] * len(refused)
    assert {path: path.read_text() for path in tmp_path.iterdir()} == written
