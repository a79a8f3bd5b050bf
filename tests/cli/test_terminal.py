"""Colour on a terminal and only there; without it, stars mark what has changed.  Output that cannot be written."""

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tests.cli.script import ESCAPE, environment, run, run_script, table_cells
from tests.launch import HANG_SECONDS, script
from tests.sampling import every

pty = pytest.importorskip("pty")

VIOLATED = ("bmc", "--delta", "2", "--phi", "4", "--timeout", "delta+1")
PROVED = ("explore", "--delta", "1", "--phi", "1")
_CODES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def on_terminal(*arguments: str, stderr_too: bool = False, **env: str) -> tuple[int, str]:
    """The exit code, and what a terminal of 200 columns is sent."""
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    process = subprocess.Popen(
        [script(), *arguments],
        env=environment(**{"TERM": "xterm-256color", **env}),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs if stderr_too else subprocess.DEVNULL,
    )
    os.close(theirs)
    sent = bytearray()
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # how Linux says that nobody has the terminal open any more
            break
        if not part:
            break
        sent += part
    os.close(ours)
    return process.wait(timeout=HANG_SECONDS), sent.decode().replace("\r\n", "\n")


def plain(cell: str) -> str:
    return _CODES.sub("", cell).strip()


def check_exactly_the_changed_are_starred(text: str) -> None:
    rows = table_cells(text)
    assert len(rows) == 7
    assert not any(cell.endswith("*") for cell in rows[0])
    for before, after in pairwise(rows):
        for old, new in zip(before[2:], after[2:], strict=True):
            assert new.endswith("*") == (old.rstrip("*") != new.rstrip("*"))


def test_terminal_has_colour() -> None:
    code, text = on_terminal(*VIOLATED)
    assert code == 1
    assert f"{ESCAPE}[1;31mviolated{ESCAPE}[0m" in text
    rows = table_cells(text)
    assert len(rows) == 7
    assert not any(ESCAPE in cell for cell in rows[0])
    for before, after in pairwise(rows):
        for old, new in zip(before[2:], after[2:], strict=True):
            assert (ESCAPE in new) == (plain(old) != plain(new))
            assert "*" not in new


def test_good_news_has_another_colour() -> None:
    code, text = on_terminal(*PROVED)
    assert code == 0
    assert f"{ESCAPE}[1;32mproved{ESCAPE}[0m" in text


def test_no_color_on_a_terminal() -> None:
    code, text = on_terminal(*VIOLATED, NO_COLOR="1")
    assert code == 1
    assert ESCAPE not in text
    check_exactly_the_changed_are_starred(text)


def test_dumb_terminal() -> None:
    # Long enough for progress to be shown.
    code, text = on_terminal("bmc", "--delta", "20", "--phi", "20", "--depth", "30", stderr_too=True, TERM="dumb")
    assert code == 0
    assert ESCAPE not in text
    assert "bounded: strong-accuracy holds in every run of up to 30 rounds\n" in text


def test_dumb_terminal_has_stars() -> None:
    code, text = on_terminal(*VIOLATED, TERM="dumb")
    assert code == 1
    assert ESCAPE not in text
    assert "yes*" in text


@pytest.mark.parametrize("env", every(2, [{}, {"TERM": "xterm-256color"}, {"NO_COLOR": "1"}, {"TERM": "dumb"}]))
def test_pipe_has_stars(env: dict[str, str]) -> None:
    outcome = run(*VIOLATED, env=environment(**env))
    assert outcome.code == 1
    assert ESCAPE not in outcome.stdout + outcome.stderr
    check_exactly_the_changed_are_starred(outcome.stdout)


def test_progress_goes_away() -> None:
    """The line that renews itself is gone at the end: what is sent last clears it."""
    code, text = on_terminal("bmc", "--delta", "20", "--phi", "20", "--depth", "30", stderr_too=True)
    assert code == 0
    before, _, _ = text.partition(f"{ESCAPE}[32mbounded")
    assert "bmc: depth " in before
    assert before.endswith(f"\r{ESCAPE}[K")


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_reader_gone(flags: tuple[str, ...]) -> None:
    """Nobody reads a proof to its end: that must not look like a violation."""
    ours, theirs = os.pipe()
    os.close(ours)
    try:
        done = subprocess.run(
            [script(), *PROVED, *flags],
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=subprocess.PIPE,
            text=True,
            timeout=HANG_SECONDS,
        )
    finally:
        os.close(theirs)
    assert done.returncode != 1
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_no_space_for_output(flags: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [script(), *PROVED, *flags],
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=HANG_SECONDS,
        )
    assert done.returncode not in (0, 1)
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1


def test_what_was_found_is_told_in_any_encoding() -> None:
    told = run_script(
        "simulate", "--delta", "0", "--phi", "1", "--depth", "1", env=environment(PYTHONIOENCODING="ascii")
    )
    assert (told.code, told.stderr) == (0, "")
    assert "\\u2503" in told.stdout
