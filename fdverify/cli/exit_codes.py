"""The exit code of a command, and one line about any error."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from fdverify.cli.streams import ReaderGone
from fdverify.cli.supervisor_pipe import end_copy
from fdverify.errors import (
    FdverifyError,
    InternalError,
    ResourcesExhausted,
    UsageError,
    convert_file_error,
    describe_error,
    find_exhausted_resource,
    format_one_line,
)
from fdverify.printable import make_printable

UNKNOWN = ResourcesExhausted.exit_code


def end_command(work: Callable[[], Any]) -> int:
    """Do the work and return the exit code.  Print a failure as one line: a verdict on stdout, an error on stderr."""
    try:
        code = int(work() or 0)
        if sys.stdout is not None and not sys.stdout.closed:
            sys.stdout.flush()
        return code
    except BaseException as error:
        return end_after(error)


def end_after(error: BaseException) -> int:
    """Print one line about an exception and return the exit code."""
    try:
        code, text = classify_ending(error)
        if text:
            (_print_verdict if code == UNKNOWN else print_line)(text)
    except ReaderGone:
        return 128 + signal.SIGPIPE
    except UsageError as unwritable:
        print_line(f"error: {unwritable}")
        return unwritable.exit_code
    return code


def classify_ending(error: BaseException) -> tuple[int, str]:
    """Return the exit code and the message for an exception that ended a command."""
    from fdverify.models.loading import blame_user_file, is_interrupt, is_package_error

    match error:
        case ReaderGone():
            return 128 + signal.SIGPIPE, ""
        case FdverifyError():
            return classify_error(error if is_package_error(error) else blame_user_file(error) or error)
    if is_interrupt(error):
        return 128 + signal.SIGINT, ""
    message = _read_usage_message(error)
    if message is not None:
        return UsageError.exit_code, f"error: {format_one_line(message)}"
    lost = _describe_lost_worker(error) or find_exhausted_resource(error)
    if lost is not None:
        return UNKNOWN, f"unknown: {lost}"
    fault = blame_user_file(error) or convert_file_error(error)
    if fault is not None:
        return classify_error(fault)
    return InternalError.exit_code, f"internal error: {describe_error(error)}"


def classify_error(error: FdverifyError) -> tuple[int, str]:
    """Return the exit code and the message for an error.  Its class decides: users may raise errors, too."""
    if isinstance(error, ResourcesExhausted):
        return UNKNOWN, f"unknown: {format_one_line(error)}"
    if isinstance(error, UsageError):
        return UsageError.exit_code, f"error: {format_one_line(error)}"
    return InternalError.exit_code, f"internal error: {format_one_line(error)}"


def _read_usage_message(error: BaseException) -> str | None:
    """Return the message of an error of the command line's parser."""
    return error.format_message() if isinstance(error, find_parse_error()) else None


def find_parse_error() -> Any:
    """Find the class of the errors that typer raises for a command line that it cannot read.

    It is typer's own, click's, or that of a copy of click in typer, depending on the version of typer.
    ``typer.BadParameter`` is derived from it in all of them.
    """
    import typer

    return next(each for each in reversed(typer.BadParameter.__mro__) if hasattr(each, "format_message"))


def _describe_lost_worker(error: BaseException) -> str | None:
    """Say why a worker process gave no answer."""
    from fdverify.workers.worker_process import TimeLimitReached, WorkerDied

    if isinstance(error, TimeLimitReached):
        return "the time limit was reached"
    return format_one_line(error) if isinstance(error, WorkerDied) else None


def print_line(text: str) -> None:
    """Print a line on stderr."""
    end_copy()
    text = make_printable(text)
    try:
        print(text, file=sys.stderr)
    except (OSError, ValueError):  # a user's file has closed stderr
        with suppress(OSError):
            os.write(2, f"{text}\n".encode(errors="backslashreplace"))


def _print_verdict(text: str) -> None:
    from fdverify.cli.output import print_answer

    print_answer(f"{make_printable(text)}\n")


def describe_in_line(error: FdverifyError) -> str:
    """Describe an error in one line."""
    return classify_error(error)[1]
