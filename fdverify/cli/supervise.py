"""A command runs in a process of its own, and this one sees to it that it ends: in time, at once on Ctrl-C, and with
an exit code that is true however it ended.

Nothing that a user's file or a solver does can keep this process from that: it runs no code of theirs.  It is light,
because every call of a console script begins here.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Sequence
from time import monotonic
from typing import NoReturn

from fdverify.workers.process_tree import adopt_orphans, end_with_parent, kill_children

UNKNOWN, BAD_INPUT = 3, 2
_START_SECONDS = 0.4
"""For a command to begin, which should not count if it need not."""
_GRACE_SECONDS = 1.7
"""For a command to begin, and to say how far it came when its time is up."""
_INTERRUPT_SECONDS = 1.0
_LONGEST_WAIT = 3600.0
_KILLING_SECONDS = 0.2
_CLEAR_LINE = b"\r\x1b[K"
_ENDING = (signal.SIGTERM, signal.SIGHUP)


def supervise(name: str, arguments: Sequence[str], module: str) -> int:
    """Run ``module.run(arguments)`` in a process of its own; the exit code."""
    begun = monotonic()
    if not _has_stdout():
        _write(2, b"error: cannot write to stdout: it is closed\n")
        return BAD_INPUT
    limit = find_time_limit(arguments)
    try:
        told, tell = os.pipe()
        woken, wake = os.pipe()
        for end in (told, woken, wake):
            os.set_blocking(end, False)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *_ENDING})
        parent, pid = os.getpid(), os.fork()
    except OSError as error:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, *_ENDING})
        return _answer_unknown(name, arguments, f"no process could be started: {error.strerror}", begun)
    if pid == 0:
        for end in (told, woken, wake):
            os.close(end)
        _run_in_child(parent, module, arguments, tell, begun, limit)
    os.close(tell)
    signals = _Signals(wake)
    adopt_orphans()
    ended = _CommandWatch(pid, told, woken, begun, limit).wait()
    kill_children(_KILLING_SECONDS)
    signals.restore()
    if ended.signal is not None:
        return 128 + ended.signal
    if ended.code is not None:
        return ended.code
    if ended.has_answered:
        _write(2, f"error: after its answer, {ended.why}\n".encode())
        return UNKNOWN
    return _answer_unknown(name, arguments, ended.why, begun)


def find_time_limit(arguments: Sequence[str]) -> float | None:
    """The time limit that a command line gives, if it is one; what is wrong with it, the command will say."""
    found = None
    for place, word in enumerate(arguments):
        if word == "--":
            break
        flag, equals, text = word.partition("=")
        if flag == "--time-limit":
            found = text if equals else next(iter(arguments[place + 1 : place + 2]), None)
    try:
        seconds = float(found or "")
    except ValueError:
        return None
    return seconds if 0 < seconds < float("inf") else None


def _has_stdout() -> bool:
    """Whether stdout is open; what else is closed is made empty, lest another file take its number."""
    closed = [stream for stream in (0, 1, 2) if not _is_open(stream)]
    for stream in closed:
        null = os.open(os.devnull, os.O_RDONLY if stream == 0 else os.O_WRONLY)
        if null != stream:
            os.dup2(null, stream)
            os.close(null)
    return 1 not in closed


def _is_open(stream: int) -> bool:
    try:
        os.fstat(stream)
    except OSError:
        return False
    return True


def _run_in_child(
    parent: int, module: str, arguments: Sequence[str], tell: int, begun: float, limit: float | None
) -> NoReturn:
    """What the new process does: the command, of which the other one is told how it ended."""
    # Python's own ending would wait for threads and run hooks of users' files, so it is left out.
    try:
        end_with_parent(parent)
        for stop in _ENDING:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {stop})
        from fdverify.cli.command_process import run_command

        run_command(module, arguments, tell, None if limit is None else (limit, begun + limit + _START_SECONDS))
    except BaseException as error:  # such as no memory for the import
        _write(2, f"unknown: the command could not begin: {type(error).__name__}\n".encode())
        _write(tell, f"done {UNKNOWN}\n".encode())
    finally:
        os._exit(UNKNOWN)


class _Signals:
    """Makes signals readable from a pipe, as numbers; a signal that is ignored stays so."""

    def __init__(self, wake: int) -> None:
        self._woken = signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        wanted = [each for each in (signal.SIGINT, *_ENDING) if signal.getsignal(each) is not signal.SIG_IGN]
        self._before = {each: signal.signal(each, _ignore_signal) for each in (*wanted, signal.SIGCHLD)}
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, *_ENDING})

    def restore(self) -> None:
        for each, before in self._before.items():
            signal.signal(each, before)
        signal.set_wakeup_fd(self._woken)


def _ignore_signal(number: int, frame: object) -> None:
    """Its number is in the pipe."""


class _CommandWatch:
    """Waits until the command has ended, or ends it."""

    def __init__(self, pid: int, told: int, woken: int, begun: float, limit: float | None) -> None:
        self._pid = pid
        self._told = told
        self._woken = woken
        self._limit = limit
        self._patience = None if limit is None else begun + limit + _GRACE_SECONDS
        self._buffer = b""
        self.code: int | None = None
        """What the command says its exit code is."""
        self.has_answered = False
        self.signal: int | None = None
        """The signal that ended it all."""
        self.why = ""
        """Why there is no exit code."""

    def wait(self) -> _CommandWatch:
        while True:
            left = _LONGEST_WAIT if self._patience is None else self._patience - monotonic()
            if left <= 0:
                self._give_up()
                return self
            select.select([self._told, self._woken], [], [], min(left, _LONGEST_WAIT))
            signals = _read(self._woken)
            self._read_messages()
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid != 0:
                self._read_messages()
                self._conclude(status)
                return self
            for number in signals:
                if self._handle_signal(number):
                    return self

    def _handle_signal(self, number: int) -> bool:
        """Pass Ctrl-C on, and expect an end soon; whatever else ends a command does so now."""
        if number in (signal.SIGINT, *_ENDING):
            again, self.signal = self.signal is not None, number
            if number != signal.SIGINT or again:
                os.kill(self._pid, signal.SIGKILL)
                return True
            os.kill(self._pid, signal.SIGINT)
            self._patience = monotonic() + _INTERRUPT_SECONDS
        return False

    def _read_messages(self) -> None:
        self._buffer += _read(self._told)
        *lines, self._buffer = self._buffer.split(b"\n")
        for line in lines:
            word, _, rest = line.decode("ascii", "replace").partition(" ")
            if word == "done" and rest.isdigit():
                self.code = int(rest)
            elif self.signal is None and word == "renewed" and self._limit is not None:
                self._patience = monotonic() + self._limit + _GRACE_SECONDS
            elif word in ("lifted", "answers"):
                self.has_answered = self.has_answered or word == "answers"
                # A reader may take as long as they like.
                self._patience = self._patience if self.signal is not None else None

    def _give_up(self) -> None:
        os.kill(self._pid, signal.SIGKILL)
        self._clear_line()
        self.code = None
        if self._limit is not None:
            self.why = f"the time limit of {self._limit:g} s was reached and nothing was known by then"

    def _conclude(self, status: int) -> None:
        if self.code is None:
            self._clear_line()
            how = os.waitstatus_to_exitcode(status)
            self.why = f"the process was ended by signal {-how}" if how < 0 else f"the process ended itself, with {how}"
            self.why += ", perhaps out of memory" if how in (-signal.SIGKILL, -signal.SIGSEGV, -signal.SIGABRT) else ""

    def _clear_line(self) -> None:
        """A line of progress may stand there, half renewed."""
        if os.isatty(2) and os.environ.get("TERM") not in ("dumb", "unknown"):
            _write(2, _CLEAR_LINE)


def _answer_unknown(name: str, arguments: Sequence[str], why: str, begun: float) -> int:
    """Say, in place of the command, that nothing is known."""
    if "--json" in arguments:
        from fdverify.cli.unanswered import write_unanswered

        text = write_unanswered(name, arguments, why, monotonic() - begun)
    else:
        text = f"unknown: {why}\n"
    _write(1, text.encode())
    return UNKNOWN


def _read(pipe: int) -> bytes:
    try:
        return os.read(pipe, 65536)
    except BlockingIOError:
        return b""


def _write(stream: int, text: bytes) -> None:
    """Write if that is possible at once: nobody may be reading, and this process must not wait for them."""
    try:
        if select.select([], [stream], [], 0)[1]:
            os.write(stream, text)
    except OSError:
        return
