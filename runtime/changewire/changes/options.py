"""What a reader may say of messages beyond their format, and which formats take it."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, get_args

from changewire.changes.aerospike_digest import ripemd160
from changewire.changes.values import system_of
from changewire.codec.installed import others
from changewire_messages import FORMATS

Image = Literal["full", "patch", "keys"]
IMAGES: Final[tuple[str, ...]] = get_args(Image)
"""What `after` holds: the full row, only what changed, or only the key."""

Digests = Literal["off", "count", "refuse"]
DIGESTS: Final[tuple[str, ...]] = get_args(Digests)
"""What becomes of a record whose digest is not that of its set and user key."""

NullValue = Literal["control", "delete"]
NULL_VALUES: Final[tuple[str, ...]] = get_args(NullValue)
"""What a Kafka record without value is: an event that changes nothing, or a delete by its key."""

_REASONS: Final[Mapping[tuple[str, str], str]] = {
    ("aerospike", "keys"): "rows are named by their digest",
    ("aerospike", "families"): "records have no column families",
    ("dataworks", "digests"): "rows have no digest",
    ("auto", "null_value"): "a record without value does not say its format",
    ("dataworks", "families"): "tables have no column families",
    ("dataworks", "null_value"): "no document says what its record keys are",
    ("lindorm", "digests"): "rows have no digest",
}
"""Why a system has no use for an option."""

_OF_OTHERS: Final[Mapping[str, str]] = {
    "digests": "only records of Aerospike have one",
    "families": "only tables of HBase have them",
    "null_value": "nothing says which rows its record keys name",
}
"""As `_REASONS`, for formats of other packages."""


def check_options(
    format: str,
    image: str,
    keys: Sequence[str] | None,
    families: Sequence[str] | None,
    digests: str,
) -> None:
    """Check that options fit a format, and that what they need is installed.

    Raises:
        ValueError: `image` or `digests` is unknown, `keys` or `families` is no sequence of names,
            or an option has no meaning in the format.
        ImportError: Digests are to be checked, and pycryptodome is not installed.
    """
    if image not in IMAGES:
        raise ValueError(f"no image {image!r}; there are: {', '.join(IMAGES)}")
    if digests not in DIGESTS:
        raise ValueError(f"no way with digests {digests!r}; there are: {', '.join(DIGESTS)}")
    for option, names in {"keys": keys, "families": families}.items():
        if names is not None and (isinstance(names, str) or not names):
            raise ValueError(f"{option} is a sequence of names, at least one")
    given = {"keys": keys, "families": families, "digests": digests != "off" or None}
    for option, value in given.items():
        reason = _reason(format, option)
        if value is not None and reason:
            raise ValueError(f"{option} does not apply to {format}: {reason}")
    if digests != "off":
        ripemd160(b"")


def check_null_value(format: str, null_value: str) -> None:
    """Check that what a record without value is fits a format.

    Raises:
        ValueError: It is unknown, or record keys of the format do not name a row.
    """
    if null_value not in NULL_VALUES:
        raise ValueError(f"no null_value {null_value!r}; there are: {', '.join(NULL_VALUES)}")
    reason = _reason(format, "null_value")
    if null_value == "delete" and reason:
        raise ValueError(f"null_value 'delete' does not apply to {format}: {reason}")


def _reason(format: str, option: str) -> str | None:
    """Return why a format has no use for an option."""
    if format in others():
        return _OF_OTHERS.get(option)
    system = system_of(format) if format in FORMATS else format
    return _REASONS.get((system, option))
