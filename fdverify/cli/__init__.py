"""The parts that all command lines share: options, progress, output, and a supervisor process."""

import sys

from fdverify.errors import UsageError, check_interpreter


def main() -> None:
    """Run the console script ``fdverify``."""
    _run_supervised("fdverify", "fdverify.app")


def verify_invariant() -> None:
    """Run the console script ``verify-invariant``."""
    _run_supervised("verify-invariant", "fdverify.verify_invariant")


def _run_supervised(name: str, module: str) -> None:
    """Run a command under supervision and exit; handle Ctrl-C even before the command has its own process."""
    try:
        check_interpreter()
        from fdverify.cli.supervise import supervise

        code = supervise(name, sys.argv[1:], module)
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        code = error.exit_code
    except KeyboardInterrupt:
        code = 130
    except Exception as error:
        print(f"internal error: {type(error).__name__}: {error}", file=sys.stderr)
        code = 70
    sys.exit(code)
