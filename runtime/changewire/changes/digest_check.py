"""Whether the digest of an Aerospike record is the one of its set and user key."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from changewire.changes.aerospike import KEY_COLUMN
from changewire.changes.aerospike_digest import digest
from changewire.changes.change_row import ChangeRow
from changewire.changes.values import base64_bytes
from changewire.codec import DecodeError, Issue, encoding_of

MISMATCH: Final = "digest-mismatch"
"""Leniency, and code of an issue."""

_KEYS: Final[Mapping[str, str]] = {"json": "/key", "msgpack": "/2/0"}
"""JSON Pointer to the key of a record, by the encoding of its message."""


def check_digest(change: ChangeRow, format: str, digests: str) -> None:
    """Compare the digest of a record with that of its set and user key (see `digest`).

    A record without user key is not checked, and neither is a delete without set: the server ships
    no set with some deletes.

    Args:
        change: The change of the record; its attributes get the leniency ``digest-mismatch``.
        format: Public name of the format.
        digests: ``count`` or ``refuse``.

    Raises:
        DecodeError: The digest is another one, and is to be refused.
        ImportError: pycryptodome is not installed.
    """
    found = change.attributes
    set_name, user_key = found["set"], found["user_key"]
    if user_key is None or (set_name is None and change.op == "delete"):
        return
    stored = change.key[KEY_COLUMN] if change.key else None
    if any(digest(set_name, key) == stored for key in _user_keys(user_key, format)):
        return
    if digests == "count":
        found["leniencies"] = [MISMATCH]
        return
    key = _KEYS[encoding_of(format)]
    expected = f"the digest of set and user key, which stand at {key}/1 and {key}/3"
    raise DecodeError(format, [Issue(f"{key}/2", MISMATCH, "digest", expected, stored)])


def _user_keys(user_key: Any, format: str) -> Iterator[Any]:
    """Yield what a user key may be: Base64 text in JSON may stand for bytes."""
    yield user_key
    if type(user_key) is str and encoding_of(format) == "json":
        data = base64_bytes(user_key)
        if data is not None:
            yield data
