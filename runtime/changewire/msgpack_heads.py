"""First bytes of MessagePack values, which determine their types."""

from typing import Final

ARRAYS: Final = frozenset((*range(0x90, 0xA0), 0xDC, 0xDD))
"""First bytes of an array."""

NATURALS: Final = frozenset((*range(0x80), *range(0xCC, 0xD4)))
"""First bytes of an integer that need not be negative."""
