"""Escapes untrusted text for display: on one line, and without effect on a terminal or a page."""

from __future__ import annotations

import unicodedata

_ESCAPED_CATEGORIES = {"Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn"}
_JOINERS = "\u200c\u200d"
"""Zero-width joiners are part of the spelling of words; they hide nothing and reverse nothing."""
_SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def make_printable(text: str) -> str:
    """Escape control characters, line breaks, changes of text direction and undecodable bytes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape_character(character) if _is_unprintable(character) else character for character in text)


def _is_unprintable(character: str) -> bool:
    return unicodedata.category(character) in _ESCAPED_CATEGORIES and character not in _JOINERS


def _escape_character(character: str) -> str:
    code = ord(character)
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    if 0xDC80 <= code <= 0xDCFF:  # Python's surrogate for an undecodable byte of a file name
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
