"""What the context of a call says: what part of a record is meant, and of which topic."""

from __future__ import annotations

from changewire.kafka.interface import SerializationContext


def is_key_in(ctx: SerializationContext | None, *, default: bool) -> bool:
    """Tell whether a key is meant; without a context, or where it does not say, the default."""
    field = "none" if ctx is None else ctx.field
    return default if field == "none" else field == "key"


def place(ctx: SerializationContext | None, *, is_key: bool) -> str:
    """Return what part of a record is meant, and of which topic, for texts."""
    part = "key" if is_key else "value"
    return part if ctx is None else f"{part} of topic {ctx.topic}"
