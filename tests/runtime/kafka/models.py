"""Models, compared."""

from typing import Any

import changewire as cw


def same(one: Any, other: Any) -> bool:
    """Tell whether two models, or lists of them, are the same; not-a-number equals nothing."""
    return bool(one == other) or cw.encode(one) == cw.encode(other)
