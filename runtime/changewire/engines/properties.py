"""Values in the properties of tables."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

import msgspec


def property_text(value: Any) -> str:
    """Return the text of a property.

    It is Base64 of JSON, since names in it may have any character, and SQL text gives some of
    them a meaning.
    """
    return b64encode(msgspec.json.encode(value)).decode()


def property_value(text: str | None) -> Any:
    """Return the value of a property; None if the table has none."""
    return None if text is None else msgspec.json.decode(b64decode(text))
