"""Names of test cases."""

from __future__ import annotations

import re


def shown(value: object) -> str:
    """Return the `repr` of a value without addresses, which differ between processes."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
