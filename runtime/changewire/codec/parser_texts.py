"""What msgspec says when it rejects a message, as far as the codec reads its English.

msgspec gives neither code nor place of an error but in its text. These are all parts that are
looked for, and a test compares each of them with the installed msgspec.
"""

import re
from typing import Final

UNKNOWN_FIELD: Final = "unknown field"
"""An object has a property that its model does not have."""

BELOW_THE_ROOT: Final = " - at `$"
"""The text names a place; it names none if that is the root."""

OUT_OF_RANGE: Final = "out of range"
"""Neither binary64 nor an integer represents a number; `exact_number` raises the same text."""

TRUNCATED: Final = "truncated"
"""The bytes end too early."""

TRAILING: Final = "trailing characters"
"""There are bytes after the message."""

SURROGATE: Final = "surrogate"
"""A text has half of a surrogate pair."""

ESCAPE: Final = "unicode escape"
"""The error is in an escape: the byte that is named is the one behind it."""

BYTE: Final = re.compile(r"\(byte (\d+)\)")
"""Offset of the wrong byte."""
