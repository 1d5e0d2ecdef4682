"""Text that strangers wrote, made fit to be shown: on one line, visible, and short."""

from typing import Final

from changewire.codec.issues import printable

NAME: Final = 80
"""Characters of a name that are shown at most."""

SENTENCE: Final = 300
"""Characters of a sentence, a pointer or a path that are shown at most."""


def visible(text: str, limit: int = SENTENCE) -> str:
    r"""Return text in which nothing acts on a terminal or a page, and nothing hides.

    What does not print is escaped as in Python (``\x1b``, ``\u202e``, ``\n``): control characters,
    line breaks, invisible and direction-changing ones, halves of surrogate pairs. What is beyond
    the limit is cut off, and marked by ``…``.
    """
    shown = printable(text[: limit + 1])
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"


def excerpt(value: bytes | bytearray | str | None, limit: int = NAME) -> str | None:
    """Return the start of a message as visible text; None without a message."""
    if value is None or isinstance(value, str):
        return None if value is None else visible(value, limit)
    # Four bytes a character at most; a character that is cut in two lies beyond the limit.
    return visible(bytes(value[: 4 * limit + 4]).decode("utf-8", "backslashreplace"), limit)
