"""Call a command in the process of the test, and leave that process as it was.

A command changes its process: it loads users' files, replaces streams, and may set handlers of signals.
``_keep_state`` is the one place that knows of it all and undoes it.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from pathlib import Path
from subprocess import CompletedProcess
from time import monotonic
from typing import Any, NoReturn, TextIO

import z3

from fdverify import app, verify_invariant
from fdverify.cache import cache_folder, signing
from fdverify.cli.streams import open_streams
from fdverify.cli.supervise import find_time_limit
from fdverify.deadline import Deadline, set_deadline
from fdverify.models import loading
from fdverify.symbolic import age_claims
from fdverify.symbolic.values import Int
from tests.launch import HANG_SECONDS, changes_start, launch

_COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "fdverify": app.run,
    "verify-invariant": verify_invariant.run,
}
_WITHOUT_WORKERS = ("threshold", "cache", "schema", "new")
_ASKS_FOR_HELP = {"--help", "-h", "--version"}
_CONTAINERS: tuple[Any, ...] = (loading._loaded, loading._read, loading._running, cache_folder._tidied)
"""What the package remembers for the rest of a process."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGALRM)
_HIDDEN_WARNINGS = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


def call_command(
    name: str, arguments: Sequence[str], env: Mapping[str, str], cwd: Path | None = None
) -> CompletedProcess[bytes]:
    """Run a command and return its exit code and what it has printed, as a script does whose output nobody watches.

    A command that forks workers gets a process of its own: the process of a test has threads, and a process that is
    forked from one with threads may wait for ever for a lock that a thread held.
    """
    if not _needs_no_workers(arguments):
        return launch(name, arguments, env, cwd)
    assert not changes_start(env), "Python reads it only when it starts: run a script"
    words = list(arguments)
    with ExitStack() as stack:
        output, errors = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(2))
        with _keep_state(), _redirect(output.fileno(), errors.fileno()):
            os.environ.clear()
            os.environ.update(env)
            os.chdir(cwd or Path.cwd())
            sys.argv = [name, *words]
            open_streams()
            code = copy_context().run(_run, name, words)
        texts = [_read_all(file.fileno()) for file in (output, errors)]
    return CompletedProcess([name, *words], code, *texts)


def _needs_no_workers(arguments: Sequence[str]) -> bool:
    return (len(arguments) > 0 and arguments[0] in _WITHOUT_WORKERS) or not _ASKS_FOR_HELP.isdisjoint(arguments)


def _run(name: str, words: Sequence[str]) -> int:
    """Set the deadline that a supervisor sets, and run the command."""
    limit = find_time_limit(words)
    if limit is not None:
        set_deadline(Deadline(limit, monotonic() + limit, lambda message: None))
    return _COMMANDS[name](words)


def _read_all(file: int) -> bytes:
    return os.pread(file, os.fstat(file).st_size, 0)


@contextmanager
def _redirect(output: int, errors: int) -> Iterator[None]:
    """Let the streams of this process, and of those it forks, be files; there is nothing to read."""
    with ExitStack() as stack:
        streams = (sys.stdin, sys.stdout, sys.stderr)
        for stream in streams[1:]:
            stream.flush()
        nothing = os.open(os.devnull, os.O_RDONLY)
        stack.callback(os.close, nothing)
        for number, file in enumerate((nothing, output, errors)):
            before = os.dup(number)
            stack.callback(os.close, before)
            stack.callback(os.dup2, before, number)
            os.dup2(file, number)
        try:
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            sys.stdin, sys.stdout, sys.stderr = streams


@contextmanager
def _keep_state() -> Iterator[None]:
    """Begin as a new process does, and restore afterwards what was there before."""
    containers = [container.copy() for container in _CONTAINERS]
    modules = _pop_user_modules()
    environment, folder, words = dict(os.environ), Path.cwd(), sys.argv
    path = list(sys.path)
    handlers = {each: signal.getsignal(each) for each in _SIGNALS}
    for container in _CONTAINERS:
        container.clear()
    importlib.invalidate_caches()  # a test may have written a module a moment ago
    signing._is_below.cache_clear()
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(round(HANG_SECONDS))
    try:
        with warnings.catch_warnings(), _renew_solver():
            _show_warnings_as_scripts_do()
            yield
    finally:
        signal.alarm(0)
        for each, handler in handlers.items():
            signal.signal(each, handler)
        sys.path[:], sys.argv = path, words
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        _pop_user_modules()
        sys.modules.update(modules)
        for container, content in zip(_CONTAINERS, containers, strict=True):
            container.clear()
            (container.extend if isinstance(container, list) else container.update)(content)


@contextmanager
def _renew_solver() -> Iterator[None]:
    """Give Z3 a new context, as a new process has: terms that exist already may change which run it finds."""
    before = z3.main_ctx(), age_claims._ZERO
    z3.z3._main_ctx = z3.Context()
    age_claims._ZERO = Int(z3.IntVal(0))
    try:
        yield
    finally:
        z3.z3._main_ctx, age_claims._ZERO = before


def _pop_user_modules() -> dict[str, Any]:
    return {name: sys.modules.pop(name) for name in list(sys.modules) if loading.is_user_module(name)}


def _show_warnings_as_scripts_do() -> None:
    """Print warnings, where a test runner collects them, and hide what Python hides."""
    warnings.resetwarnings()
    for category in _HIDDEN_WARNINGS:
        warnings.simplefilter("ignore", category)
    warnings.showwarning = _print_warning


def _print_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))


def _give_up(number: int, frame: object) -> NoReturn:
    raise TimeoutError(f"the command has not ended after {HANG_SECONDS:g} s")
