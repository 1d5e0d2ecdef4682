"""Aerospike messages in flat JSON to changes: those of the JSON form, as far as bins say them."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET, structs

from changewire.changes.adapters import Adapter
from changewire.changes.aerospike import OPTIONS, REASONS, delete_of
from changewire.changes.aerospike_digest import KEY_COLUMN, check_digest
from changewire.changes.change_row import ChangeRow
from changewire.changes.change_table import row_by
from changewire.changes.decode_options import DecodeOptions
from changewire.changes.values import base64_bytes
from changewire.codec import DecodeError, Issue, codec
from changewire.codec.places import name_beside
from changewire_messages import aerospike_flat_json as wire
from changewire_messages import aerospike_json
from changewire_messages.aerospike_flat_json import changes as table
from changewire_messages.support import Extra, Named, pointer_token

_FLAT: Final = wire.FLAT["Message"]
_NAME, _NEEDED = _FLAT[0], _FLAT[2]


def aerospike_flat_json_changes(
    message: wire.Message, _record_key: bytes | None, options: DecodeOptions
) -> ChangeRow:
    """Return the change that a message is, as `aerospike_changes` does.

    The option ``metadata_key`` names the metadata, if several properties could be it, and
    ``blob_bins`` the bins whose text represents bytes.
    """
    vendor = options.vendor
    message = _with_metadata(message, vendor["metadata_key"])
    metadata, bins = message.metadata, message.bins
    op, found = table.op(message), table.attributes(message)
    # As in the other formats, in which the key of each record has both.
    attributes: dict[str, Any] = {n: None for n in ("set", "user_key") if n not in found} | found
    extra = {} if message.extra is UNSET else dict(message.extra)
    after: dict[str, Any] | None = None
    if op == "delete":
        extra |= {f"/{pointer_token(name)}": value for name, value in bins.items()}
    else:
        after = _columns(bins, vendor["blob_bins"] or (), attributes)
        # A write without bins says that the record changed, and nothing about its columns.
        attributes["row_image"] = "keys"
    if extra:
        attributes["extra"] = extra
    key = {KEY_COLUMN: metadata.digest}
    row = row_by(table, message, op=op, key=key, after=after, attributes=attributes)
    if after:
        attributes["row_image"] = options.image_of(row.source)
    check_digest(row, message, ("metadata",), vendor["check_digests"])
    return row


def key_of(holder: Any) -> aerospike_json.Key:
    """Return the key of metadata, or of a record key; None for what is absent."""
    set_name, user_key = (None if v is UNSET else v for v in (holder.set, holder.user_key))
    return aerospike_json.Key(holder.namespace, set_name, holder.digest, user_key)


def _columns(
    bins: dict[str, Any], blobs: Sequence[str], attributes: dict[str, Any]
) -> dict[str, Any]:
    """Return the columns of a record: its bins; those that are blobs become bytes."""
    found = {name: bins[name] for name in blobs if bins.get(name) is not None}
    if not found:
        return bins or {}  # an empty one would be shared with the message
    attributes["bins"] = {name: {"type": "blob"} for name in found}
    return bins | {name: _blob(name, value) for name, value in found.items()}


def _blob(name: str, value: object) -> bytes:
    data = base64_bytes(value) if isinstance(value, str) else None
    if data is None:
        code = "invalid-base64" if isinstance(value, str) else "wrong-type"
        issue = Issue(f"/{pointer_token(name)}", code, "blob_bins", "Base64 text", value)
        raise DecodeError(wire.FORMAT, [issue])
    return data


def _with_metadata(message: wire.Message, name: str) -> wire.Message:
    """Return a message whose metadata is the property of a name, or the only one it can be."""
    found = name_beside(message, _FLAT)
    if not name:
        other = next((at for at, value in message.bins.items() if _is_metadata(value)), None)
        if other is None:
            return message
        expected = f"no second property with {', '.join(_NEEDED)}, or metadata_key to choose one"
        issue = Issue(f"/{pointer_token(other)}", "rule-broken", "metadata_key", expected)
        raise DecodeError(wire.FORMAT, [issue])
    return message if name == found else _chosen(message, name)


def _is_metadata(value: object) -> bool:
    return type(value) is dict and all(name in value for name in _NEEDED)


def _chosen(message: wire.Message, name: str) -> wire.Message:
    """Return a message whose metadata is another property than the one that it was read as."""
    reader = codec(wire.FORMAT)
    parsed = msgspec.json.decode(reader.encode(message))
    own = {_NAME: parsed.pop(name)} if name in parsed else {}
    at = f"/{pointer_token(name)}"
    try:
        model = reader.decode(msgspec.json.encode(own))
    except DecodeError as error:
        issues = [_moved(issue, at) for issue in error.issues]
        raise DecodeError(wire.FORMAT, issues) from None
    extra = {} if model.extra is UNSET else model.extra
    moved = {at + pointer.removeprefix(f"/{_NAME}"): value for pointer, value in extra.items()}
    found: wire.Message = structs.replace(
        model,
        bins=parsed,
        named=UNSET if name == _NAME else Named(name),
        extra=Extra(moved) if moved else UNSET,
    )
    return found


def _moved(issue: Issue, at: str) -> Issue:
    return structs.replace(issue, pointer=at + issue.pointer.removeprefix(f"/{_NAME}"))


def aerospike_flat_json_delete(record_key: bytes, options: DecodeOptions) -> ChangeRow:
    """Return the delete that a record without value is; keys on Pulsar are Base64 text."""
    text = "" if record_key.lstrip()[:1] in {b"{", b"["} else record_key.decode("ascii", "replace")
    return delete_of(base64_bytes(text) or record_key, options, key_of)


ADAPTER: Final = Adapter(
    table.SYSTEM,
    aerospike_flat_json_changes,
    OPTIONS | {"metadata_key", "blob_bins"},
    REASONS,
    delete_by_key=aerospike_flat_json_delete,
)
