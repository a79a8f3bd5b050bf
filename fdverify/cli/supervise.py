"""The supervisor process.  It runs a command in a child process and makes sure that the command ends: within the time
limit, at once on Ctrl-C, and with a correct exit code, however it ends.

This process runs no code of users or solvers, so they cannot disturb it.  It imports little, because every call of a
console script starts here.
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
"""The time for a command to start, which should not count against the limit."""
_GRACE_SECONDS = 1.7
"""The time for a command to start, and to report its partial answer at the time limit."""
_INTERRUPT_SECONDS = 1.0
_LONGEST_WAIT = 3600.0
_KILLING_SECONDS = 0.2
_CLEAR_LINE = b"\r\x1b[K"
_ENDING = (signal.SIGTERM, signal.SIGHUP)


def supervise(name: str, arguments: Sequence[str], module: str) -> int:
    """Run ``module.run(arguments)`` in a child process and return the exit code."""
    started = monotonic()
    if not _has_stdout():
        _write_if_ready(2, b"error: cannot write to stdout: it is closed\n")
        return BAD_INPUT
    limit = find_time_limit(arguments)
    try:
        message_reader, message_writer = os.pipe()
        signal_reader, signal_writer = os.pipe()
        for end in (message_reader, signal_reader, signal_writer):
            os.set_blocking(end, False)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *_ENDING})
        parent, pid = os.getpid(), os.fork()
    except OSError as error:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, *_ENDING})
        return _answer_unknown(name, arguments, f"no process could be started: {error.strerror}", started)
    if pid == 0:
        for end in (message_reader, signal_reader, signal_writer):
            os.close(end)
        _run_in_child(parent, module, arguments, message_writer, started, limit)
    os.close(message_writer)
    signals = _Signals(signal_writer)
    adopt_orphans()
    watch = _CommandWatch(pid, message_reader, signal_reader, started, limit).wait()
    kill_children(_KILLING_SECONDS)
    signals.restore()
    if watch.signal is not None:
        return 128 + watch.signal
    if watch.code is not None:
        return watch.code
    if watch.has_answered:
        _write_if_ready(2, f"error: after its answer, {watch.why}\n".encode())
        return UNKNOWN
    return _answer_unknown(name, arguments, watch.why, started)


def find_time_limit(arguments: Sequence[str]) -> float | None:
    """Find the time limit on a command line; ``None`` if there is none or it is bad, which the command will report."""
    last = None
    for place, word in enumerate(arguments):
        if word == "--":
            break
        flag, equals, text = word.partition("=")
        if flag == "--time-limit":
            last = text if equals else next(iter(arguments[place + 1 : place + 2]), None)
    try:
        seconds = float(last or "")
    except ValueError:
        return None
    return seconds if 0 < seconds < float("inf") else None


def _has_stdout() -> bool:
    """Tell whether stdout is open.  Open the null device for closed streams, so that no file gets their numbers."""
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
    parent: int, module: str, arguments: Sequence[str], message_writer: int, started: float, limit: float | None
) -> NoReturn:
    """Run the command in the child process and report its exit code to the supervisor."""
    # A normal exit of Python would wait for threads and run hooks of users' files, so it is avoided.
    try:
        end_with_parent(parent)
        for stop in _ENDING:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {stop})
        from fdverify.cli.command_process import run_command

        run_command(
            module, arguments, message_writer, None if limit is None else (limit, started + limit + _START_SECONDS)
        )
    except BaseException as error:  # such as a lack of memory for the import
        _write_if_ready(message_writer, f"lost the command could not begin: {type(error).__name__}\n".encode())
    finally:
        os._exit(UNKNOWN)


class _Signals:
    """Signal handlers that write signal numbers to a pipe.  Ignored signals stay ignored."""

    def __init__(self, signal_writer: int) -> None:
        self._previous_wakeup = signal.set_wakeup_fd(signal_writer, warn_on_full_buffer=False)
        wanted = [each for each in (signal.SIGINT, *_ENDING) if signal.getsignal(each) is not signal.SIG_IGN]
        self._before = {each: signal.signal(each, _ignore_signal) for each in (*wanted, signal.SIGCHLD)}
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, *_ENDING})

    def restore(self) -> None:
        for each, before in self._before.items():
            signal.signal(each, before)
        signal.set_wakeup_fd(self._previous_wakeup)


def _ignore_signal(number: int, frame: object) -> None:
    """Do nothing: the signal's number is in the pipe."""


class _CommandWatch:
    """The watch over a command: it waits until the command ends, or kills it."""

    def __init__(self, pid: int, message_reader: int, signal_reader: int, started: float, limit: float | None) -> None:
        self._pid = pid
        self._messages = message_reader
        self._signals = signal_reader
        self._limit = limit
        self._patience = None if limit is None else started + limit + _GRACE_SECONDS
        self._buffer = b""
        self.code: int | None = None
        """The exit code that the command has reported."""
        self.has_answered = False
        self.signal: int | None = None
        """The signal that ended the command."""
        self.why = ""
        """The reason why there is no exit code."""

    def wait(self) -> _CommandWatch:
        while True:
            left = _LONGEST_WAIT if self._patience is None else self._patience - monotonic()
            if left <= 0:
                self._give_up()
                return self
            select.select([self._messages, self._signals], [], [], min(left, _LONGEST_WAIT))
            signals = _read_pipe(self._signals)
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
        """Forward Ctrl-C and give the command a moment to end; kill it on other signals.  Return whether killed."""
        if number in (signal.SIGINT, *_ENDING):
            again, self.signal = self.signal is not None, number
            if number != signal.SIGINT or again:
                os.kill(self._pid, signal.SIGKILL)
                return True
            os.kill(self._pid, signal.SIGINT)
            self._patience = monotonic() + _INTERRUPT_SECONDS
        return False

    def _read_messages(self) -> None:
        self._buffer += _read_pipe(self._messages)
        *lines, self._buffer = self._buffer.split(b"\n")
        for line in lines:
            word, _, rest = line.decode("ascii", "replace").partition(" ")
            if word == "done" and rest.isdigit():
                self.code = int(rest)
            elif word == "lost":
                self.why = rest
            elif self.signal is None and word == "renewed" and self._limit is not None:
                self._patience = monotonic() + self._limit + _GRACE_SECONDS
            elif word in ("lifted", "answers"):
                self.has_answered = self.has_answered or word == "answers"
                # There is no time limit for reading the answer.
                self._patience = self._patience if self.signal is not None else None

    def _give_up(self) -> None:
        os.kill(self._pid, signal.SIGKILL)
        self._clear_line()
        self.code = None
        if self._limit is not None:
            self.why = f"the time limit of {self._limit:g} s was reached and nothing was known by then"

    def _conclude(self, status: int) -> None:
        if self.code is None and not self.why:
            self._clear_line()
            how = os.waitstatus_to_exitcode(status)
            self.why = "the process " + (f"was killed by signal {-how}" if how < 0 else f"ended with exit code {how}")
            self.why += ", perhaps out of memory" if how in (-signal.SIGKILL, -signal.SIGSEGV, -signal.SIGABRT) else ""

    def _clear_line(self) -> None:
        """Clear a progress line that the command may have left on the terminal."""
        if os.isatty(2) and os.environ.get("TERM") not in ("dumb", "unknown"):
            _write_if_ready(2, _CLEAR_LINE)


def _answer_unknown(name: str, arguments: Sequence[str], why: str, started: float) -> int:
    """Print, in place of the command, that the verdict is unknown."""
    if "--json" in arguments:
        from fdverify.reports.documents import write_unanswered

        text = write_unanswered(name, arguments, why, monotonic() - started)
    else:
        text = f"unknown: {why}\n"
    _write_if_ready(1, text.encode())
    return UNKNOWN


def _read_pipe(pipe: int) -> bytes:
    try:
        return os.read(pipe, 65536)
    except BlockingIOError:
        return b""


def _write_if_ready(stream: int, text: bytes) -> None:
    """Write if the stream is ready: there may be no reader, and this process must not block."""
    try:
        if select.select([], [stream], [], 0)[1]:
            os.write(stream, text)
    except OSError:
        return
