"""The command line: what the commands are, how they are done, how the outcome is told."""

import sys


def main() -> None:
    """The console script; it answers Ctrl-C even while the rest is still being imported."""
    try:
        from fdverify.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
