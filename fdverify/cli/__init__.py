"""The kit that command lines are made of: options, progress, delivery, and a process that sees to the end."""

import sys

from fdverify.errors import UsageError, check_interpreter


def main() -> None:
    """The console script ``fdverify``."""
    _run("fdverify", "fdverify.app")


def verify_invariant() -> None:
    """The console script ``verify-invariant``."""
    _run("verify-invariant", "fdverify.verify_invariant")


def _run(name: str, module: str) -> None:
    """Ctrl-C is answered even before the command has a process of its own."""
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
