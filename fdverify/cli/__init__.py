"""The command line: what the commands are, how they are done, how the outcome is told."""

import sys
from importlib import import_module

from fdverify.errors import UsageError, check_interpreter


def main() -> None:
    """The console script ``fdverify``."""
    _run("fdverify.cli.app")


def verify_invariant() -> None:
    """The console script ``verify-invariant``."""
    _run("fdverify.cli.verify_invariant")


def _run(module: str) -> None:
    """Ctrl-C is answered even while the rest is still being imported."""
    try:
        check_interpreter()
        code = import_module(module).run(sys.argv[1:])
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        code = error.exit_code
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
