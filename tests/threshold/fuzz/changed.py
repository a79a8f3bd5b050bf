"""Texts with a few changes, of bytes or of tokens."""

import random
import re
from collections.abc import Callable, MutableSequence
from pathlib import Path
from typing import TypeVar

EXAMPLES = (
    Path(__file__).parents[3] / "examples" / "threshold" / "strb.ta",
    Path(__file__).parent / "everything.ta",
)
TEXTS = [path.read_text() for path in EXAMPLES]
TOKEN = re.compile(r"/\*.*?\*/|\w+|->|<>|\[\]|[=!<>]=|&&|\|\||\S", re.DOTALL)
TOKENS = [TOKEN.findall(text) for text in TEXTS]
ALL_TOKENS = sorted(
    {token for tokens in TOKENS for token in tokens} | {"/*", "*/", "threshAuto", "0x", "1e9", "&", "="}
)

Item = TypeVar("Item")


def change(source: random.Random, items: MutableSequence[Item], other: Callable[[], Item]) -> None:
    """Some neighbours are dropped, doubled, moved or overwritten."""
    start = source.randrange(len(items) + 1)
    end = start + source.choice((0, 1, 1, 1, 2, source.randint(3, 12)))
    taken = list(items[start:end])
    match source.randrange(4):
        case 0:
            del items[start:end]
        case 1:
            items[start:start] = taken
        case 2:
            del items[start:end]
            place = source.randrange(len(items) + 1)
            items[place:place] = taken
        case _:
            items[start:end] = [other()]


def changed_bytes(source: random.Random) -> bytes:
    content = bytearray(source.choice(TEXTS).encode())
    for _ in range(source.randint(1, 4)):
        change(source, content, lambda: source.randrange(128 if source.randrange(4) else 256))
    return bytes(content)


def changed_tokens(source: random.Random) -> bytes:
    tokens = list(source.choice(TOKENS))
    for _ in range(source.choice((1, 1, 2, 3))):
        change(source, tokens, lambda: source.choice(ALL_TOKENS))
    return " ".join(tokens).encode()
