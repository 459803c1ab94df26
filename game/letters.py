"""Names characters that no card, suit or word has: some look like ours and cannot be told by eye."""

from __future__ import annotations

import unicodedata


def odd_letters(text: str) -> str:
    """A remark that names the characters of a text which no card, suit or word has; empty if there are none.

    A letter of another alphabet that looks like one of ours, such as a Cyrillic O, cannot be told by eye.
    """
    odd = dict.fromkeys(letter for letter in text if not (letter.isascii() and letter.isprintable()))
    named = (f"{letter!r} is {unicodedata.name(letter, f'character {ord(letter)}')}" for letter in odd)
    return f" ({', '.join(list(named)[:3])})" if odd else ""
