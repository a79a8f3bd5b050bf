"""Text that comes from elsewhere, made fit to be shown: on one line, and doing nothing to a terminal or a page."""

from __future__ import annotations

import unicodedata

_SHOWN_AS_CODES = {"Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn"}
_JOINERS = "\u200c\u200d"
"""These belong to the spelling of words, and neither hide nor turn anything round."""
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str) -> str:
    """Spell out what is no letter, sign or space: controls, line breaks, turns of direction, undecodable bytes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_spelt_out(letter) if _is_odd(letter) else letter for letter in text)


def printable_lines(text: str) -> str:
    """The same for text of several lines."""
    return "\n".join(map(printable, text.split("\n")))


def _is_odd(letter: str) -> bool:
    return unicodedata.category(letter) in _SHOWN_AS_CODES and letter not in _JOINERS


def _spelt_out(letter: str) -> str:
    code = ord(letter)
    if letter in _SHORT:
        return _SHORT[letter]
    if 0xDC80 <= code <= 0xDCFF:  # how Python has a byte of a file's name that is no text
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
