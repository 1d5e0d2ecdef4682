"""The third room: a model to the changes that it stands for. One adapter for each vendor."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, get_args

from changewire.changes.aerospike import aerospike_changes
from changewire_messages import aerospike_json
from changewire_messages.change import Change, Source

__all__ = ["IMAGES", "Image", "changes", "empty_message"]

Image = Literal["full", "patch", "keys"]
IMAGES: Final[tuple[str, ...]] = get_args(Image)
"""What `after` holds: the full row, only what changed, or only the key."""

_ADAPTERS: Mapping[Any, Callable[[Any, str], list[Change]]] = {
    aerospike_json.Write: aerospike_changes,
    aerospike_json.Delete: aerospike_changes,
}


def changes(
    message: object,
    record_key: bytes | None = None,  # noqa: ARG001 - Aerospike names the row in the message
    keys: Sequence[str] | None = None,
    image: Image = "full",
) -> list[Change]:
    """Return the changes that a message stands for, in their order.

    Args:
        message: A model of a message, from `decode`.
        record_key: The key of the Kafka record, for formats whose messages do not name the row.
        keys: Columns that name the row, for such formats. Aerospike rows are named by their digest.
        image: What the message holds of a row after a write; no Aerospike message tells.

    Raises:
        DecodeError: The message contradicts itself.
        TypeError: It is no model of a message.
        ValueError: `keys` does not fit the format, or `image` is unknown.
    """
    if image not in IMAGES:
        text = f"no image {image!r}; there are: {', '.join(IMAGES)}"
        raise ValueError(text)
    if keys is not None:
        text = "Aerospike rows are named by their digest: keys does not apply"
        raise ValueError(text)
    adapter = _ADAPTERS.get(type(message))
    if adapter is None:
        text = f"{type(message).__name__} is no model of a message"
        raise TypeError(text)
    return adapter(message, image)


def empty_message(format: str, *, null_value: bool) -> Change:
    """Return the control event of a message that holds nothing.

    Args:
        format: Public name of the format.
        null_value: Whether the Kafka record has no value (a tombstone); otherwise the message is
            a batch without elements.
    """
    return Change(
        op="empty",
        source=Source(system=format.partition("-")[0], database=None, schema=None, table=None),
        key=None,
        before_key=None,
        before=None,
        after=None,
        event_time=None,
        sequence=None,
        ddl=None,
        schema_fingerprint=None,
        attributes={"null_value": null_value},
    )
