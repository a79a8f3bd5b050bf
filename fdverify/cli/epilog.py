"""The end of every command's help: examples that work from the top of the repository, and the exit codes."""

from __future__ import annotations

EXITS = "0 proved or bounded, 1 violated, 2 bad input, 3 unknown, 4 vacuous, 70 internal error"


def epilog(*examples: str, exits: str = EXITS) -> str:
    """Examples stand each in a line of its own, which a lone backspace keeps the formatter from filling."""
    ending = f"Exit codes: {exits}."
    return "\n".join(["\b", "Examples:", *(f"  {example}" for example in examples), "", ending]) if examples else ending
