"""``verify-invariant --watch``: what is checked again after a save, and what is not; how it ends."""

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli import written_proofs as files
from tests.cli.processes import heed_interrupts, in_session, wait_until, workers
from tests.cli.script import ESCAPE, environment
from tests.cli.test_verify_invariant import verify
from tests.launch import HANG_SECONDS, script
from tests.sampling import every

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

IMPORTING = "from bounds import least\n" + files.GOOD.replace(
    "receiver_timer < s.phi", "receiver_timer < s.phi + least"
)
TWO = (
    files.GOOD
    + '''

@proof.invariant
def waits(s):
    """Waiting is not negative."""
    return s.waiting_time >= 0
'''
)
MODEL = (
    "from dataclasses import replace\nfrom fdverify.detectors.chandra_toueg import CHANDRA_TOUEG\n"
    'MINE = replace(CHANDRA_TOUEG, name="mine")\n'
)


class Watch:
    """A process that watches, and what it says line by line."""

    def __init__(self, process: "subprocess.Popen[bytes]", output: int) -> None:
        self.process = process
        self._output = output
        self._rest = b""

    def line(self) -> str:
        """The next line, however long it takes."""
        while b"\n" not in self._rest:
            self._rest += self._more()
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode()

    def until(self, text: str) -> str:
        """What it says until it has said this."""
        while text.encode() not in self._rest:
            self._rest += self._more()
        said, _, self._rest = self._rest.partition(text.encode())
        return said.decode()

    def _more(self) -> bytes:
        ready, _, _ = select.select([self._output], [], [], HANG_SECONDS)
        assert ready, f"it says no more, after {self._rest!r}"
        more = os.read(self._output, 65536)
        assert more, "it has ended"
        return more

    def ends(self) -> int:
        """The exit code after Ctrl-C, which leaves no process behind."""
        os.killpg(self.process.pid, signal.SIGINT)
        code = self.process.wait(HANG_SECONDS)
        assert in_session(self.process.pid) == []
        return code


@contextmanager
def watching(folder: Path, *arguments: str, terminal: bool = False) -> Iterator[Watch]:
    ours, theirs = os.openpty() if terminal else os.pipe()
    process = subprocess.Popen(
        [script("verify-invariant"), *arguments, "--watch"],
        cwd=folder,
        env=environment(XDG_CACHE_HOME=str(folder / ".cache"), TERM="xterm-256color"),
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )
    os.close(theirs)
    try:
        yield Watch(process, ours)
    finally:
        for left in in_session(process.pid):
            os.kill(left.pid, signal.SIGKILL)
        process.communicate()
        os.close(ours)


def decided(line: str) -> set[str]:
    """The obligations that were not taken from the cache."""
    return set(line.partition("; decided ")[2].split(", ")) - {""}


def save_by_renaming(path: Path, text: str) -> None:
    aside = path.with_suffix(".saving")
    aside.write_text(text)
    os.replace(aside, path)


@pytest.mark.slow
def test_only_what_changed_is_checked_again(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text(TWO)
    with watching(tmp_path, ".") as watch:
        first = [watch.line(), watch.line()]
        assert [line.partition("; ")[0] for line in first] == [
            f"{name}.py: proved: timers holds in every reachable state" for name in ("a", "b")
        ]
        (tmp_path / "a.py").write_text(TWO.replace("waiting_time >= 0", "waiting_time >= -1"))
        again = watch.line()
        assert again.startswith("a.py: proved: ")
        assert decided(again) == {"waits-step"}, "initially it says the same"
        save_by_renaming(tmp_path / "b.py", TWO.replace("waiting_time >= 0", "waiting_time <= 0"))
        again = watch.line()
        assert again.startswith("b.py: not-inductive: a step leaves the invariant (waits-step)")
        assert decided(again) == {"waits-step"}
        (tmp_path / "a.py").write_text(TWO)
        assert decided(watch.line()) == set(), "all of it was proved before"
        assert watch.ends() == 130


@pytest.mark.slow
def test_what_a_proof_imports_is_watched(tmp_path: Path) -> None:
    """Also where Python takes bytecode for current: the size stays the same, within a second."""
    proofs, models = tmp_path / "proofs", tmp_path / "models"
    proofs.mkdir()
    models.mkdir()
    (models / "mine.py").write_text(MODEL)
    (proofs / "bounds.py").write_text("least = 0\n")
    (proofs / "importing.py").write_text(IMPORTING)
    (proofs / "other.py").write_text(files.GOOD.replace('"chandra-toueg"', '"../models/mine.py:MINE"'))
    with watching(tmp_path, "proofs/importing.py", "proofs/other.py") as watch:
        assert [watch.line().partition("; ")[0].split(":")[1] for _ in range(2)] == [" proved", " proved"]
        for value, verdict in ((9, "proved"), (0, "proved"), (1, "proved")):
            (proofs / "bounds.py").write_text(f"least = {value}\n")
            assert watch.line().startswith(f"proofs/importing.py: {verdict}")
        (proofs / "bounds.py").write_text("least = (\n")
        assert watch.line() == "error: proofs/bounds.py:1: '(' was never closed"
        (proofs / "bounds.py").write_text("least = -9\n")
        assert watch.line().startswith("proofs/importing.py: violated: ")
        (models / "mine.py").write_text(MODEL.replace('"mine"', '"hers"') + "MINE.nothing\n")
        assert watch.line().startswith("error: proofs/../models/mine.py:4: AttributeError")
        (models / "mine.py").write_text(MODEL)
        assert watch.line().startswith("proofs/other.py: proved")
        assert watch.ends() == 130


def test_files_that_come_go_and_break(tmp_path: Path) -> None:
    good = tmp_path / "good.py"
    good.write_text(files.GOOD)
    with watching(tmp_path, ".") as watch:
        assert watch.line().startswith("good.py: proved")
        good.write_text(files.SYNTAX_ERROR)
        assert watch.line() == "error: good.py:5: '(' was never closed"
        good.write_text("")
        assert watch.line().startswith("error: there is no proof file in .")
        good.write_text(files.GOOD)
        assert watch.line().startswith("good.py: proved")
        good.unlink()
        assert watch.line().startswith("error: there is no proof file in .")
        save_by_renaming(tmp_path / "new.py", files.GOOD)
        assert sorted([watch.line(), watch.line()])[0] == "good.py: gone"
        assert watch.ends() == 130


@pytest.mark.slow
def test_a_save_abandons_the_check_that_it_makes_stale(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(files.HOURS)
    with watching(tmp_path, "mine.py") as watch:
        busy = watch.process.pid
        assert wait_until(lambda: any(child.cpu_seconds > 0.7 for child in workers(busy)), HANG_SECONDS)
        file.write_text(files.GOOD)
        assert watch.line().startswith("mine.py: proved"), "and nothing was said of the other one"
        file.write_text(files.HOURS)
        assert wait_until(lambda: any(child.cpu_seconds > 0.7 for child in workers(busy)), HANG_SECONDS)
        assert watch.ends() == 130


@pytest.mark.slow
def test_a_terminal_is_cleared_and_redrawn(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(files.GOOD)
    with watching(tmp_path, "mine.py", terminal=True) as watch:
        first = watch.until("watching; Ctrl-C ends")
        assert first.count(f"{ESCAPE}[2J") == 1
        assert re.search(r"mine .*proved", first)
        file.write_text(files.NOT_INDUCTIVE)
        second = watch.until("watching; Ctrl-C ends")
        assert second.count(f"{ESCAPE}[2J") == 1
        assert "waits-step fails" in second
        assert re.search(r"mine .*not-inductive", second)
        file.write_text(files.SYNTAX_ERROR)
        assert "error: mine.py:5: '(' was never closed" in watch.until("watching; Ctrl-C ends")
        assert watch.ends() == 130


def test_nothing_is_checked_while_nothing_changes(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(files.GOOD)
    with watching(tmp_path, "mine.py") as watch:
        assert watch.line().startswith("mine.py: proved")
        os.utime(file, (time.time() + 5, time.time() + 5))
        (tmp_path / "notes.txt").write_text("not a proof")
        file.write_text(files.GOOD.replace("The same", "Same"))
        assert decided(watch.line()) == set()
        assert watch.ends() == 130


@pytest.mark.parametrize(
    ("arguments", "message"),
    every(
        3,
        [
            (("missing.py",), "error: no such file: missing.py"),
            (("good.py", "--only", "nothing"), "error: --only nothing: no proof has"),
            (("good.py", "--json"), "error: --json is for one check"),
            (("good.py", "--html", "found.html"), "error: --html is for one check"),
            (("good.py", "--sarif", "found.sarif"), "error: --sarif is for one check"),
            (("good.py", "--suggest"), "error: --suggest is for one check"),
        ],
    ),
    ids=every(3, ["missing", "only", "json", "html", "sarif", "suggest"]),
)
def test_what_cannot_be_watched(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(files.GOOD)
    outcome = verify("--watch", *arguments, env=environment(XDG_CACHE_HOME=str(tmp_path / "cache")), cwd=tmp_path)
    assert outcome.code == 2
    assert outcome.stdout == ""
    assert outcome.stderr.startswith(message)
    assert len(outcome.stderr.splitlines()) == 1
    assert not (tmp_path / "found.sarif").exists()


@pytest.mark.slow
def test_a_link_that_leads_to_another_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(files.GOOD)
    (tmp_path / "bad.py").write_text(files.NOT_INDUCTIVE)
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "proof.py"
    link.symlink_to(tmp_path / "good.py")
    with watching(tmp_path, "links/proof.py") as watch:
        assert ": proved: " in watch.line()
        aside = link.with_suffix(".aside")
        aside.symlink_to(tmp_path / "bad.py")
        os.replace(aside, link)
        assert ": not-inductive: " in watch.line()
        assert watch.ends() == 130


@pytest.mark.slow
def test_a_package_that_stands_in_for_a_module_is_seen(tmp_path: Path) -> None:
    (tmp_path / "proof.py").write_text(IMPORTING)
    (tmp_path / "bounds.py").write_text("least = 0\n")
    with watching(tmp_path, "proof.py") as watch:
        assert ": proved: " in watch.line()
        package = tmp_path / "bounds"
        package.mkdir()
        (package / "other.py").write_text("least = -9\n")
        assert ": proved: " in watch.line(), "a folder that is no package does not come before a module"
        (package / "__init__.py").write_text("least = -9\n")
        assert ": proved: " not in watch.line()
        assert watch.ends() == 130
