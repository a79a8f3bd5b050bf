"""However a command ends: an exit code, and for whatever went wrong one line on stderr."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from typing import Any

import typer

from fdverify import __version__
from fdverify.cli.output import ReaderGone
from fdverify.cli.parse_errors import ParseError
from fdverify.errors import FdverifyError, InternalError, UsageError
from fdverify.printable import printable
from fdverify.smt.worker import describe


def guarded(work: Callable[[], Any]) -> int:
    """Do it; the exit code.  Bad input is one line on stderr."""
    try:
        return int(work() or 0)
    except ParseError as error:
        print(f"error: {printable(' '.join(error.format_message().split()))}", file=sys.stderr)
        return UsageError.exit_code
    except FdverifyError as error:
        print_error(error)
        return error.exit_code
    except ReaderGone:
        return 128 + signal.SIGPIPE
    except (KeyboardInterrupt, typer.Abort):
        return 128 + signal.SIGINT
    except Exception as error:
        print(f"internal error: {printable(describe(error))}", file=sys.stderr)
        return InternalError.exit_code


def show_version(wanted: bool) -> None:
    """What the option ``--version`` does."""
    if wanted:
        print(f"fdverify {__version__}")
        raise typer.Exit


def print_error(error: FdverifyError) -> None:
    kind = "error" if error.exit_code == UsageError.exit_code else "internal error"
    print(f"{kind}: {error}", file=sys.stderr)
