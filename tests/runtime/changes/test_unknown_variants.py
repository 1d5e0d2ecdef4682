"""Messages of a variant that has a schema, and means nothing to its adapter yet."""

from typing import Any

import msgspec
import pytest

from changewire import Change, Extra, aerospike_json, dataworks_json, lindorm_json
from changewire.changes.aerospike import aerospike_changes
from changewire.changes.aerospike_msgpack import aerospike_msgpack_changes
from changewire.changes.dataworks import dataworks_changes
from changewire.changes.decode_options import AUTO, DecodeOptions
from changewire.changes.lindorm import lindorm_changes


class Expired(msgspec.Struct, tag_field="msg", tag="expired"):
    """A variant that a schema has been written for since."""

    digest: bytes
    reason: str | msgspec.UnsetType = msgspec.UNSET
    extra: Extra | msgspec.UnsetType = msgspec.UNSET


EXPIRED = Expired(b"\x00\x01", extra=Extra({"/x": 1}))
HELD = {"msg": "expired", "digest": b"\x00\x01", "extra": {"/x": 1}}
SCHEMA = msgspec.Raw(b'{"dataColumn":null}')


def lindorm(payload: Any) -> lindorm_json.Message:
    """Return a message of Lindorm."""
    return lindorm_json.Message(schema_text=msgspec.Raw(b"{}"), payload=payload)


def dataworks(payload: Any) -> dataworks_json.Message:
    """Return a message of DataWorks."""
    return dataworks_json.Message(schema_text=SCHEMA, payload=payload, version="1")


@pytest.mark.parametrize(
    ("adapter", "message", "system", "held"),
    [
        (aerospike_changes, EXPIRED, "aerospike", HELD),
        (aerospike_msgpack_changes, EXPIRED, "aerospike", HELD),
        (lindorm_changes, lindorm(EXPIRED), "lindorm", {"schema": {}, "payload": HELD}),
        (
            dataworks_changes,
            dataworks(EXPIRED),
            "dataworks",
            {"schema": {"dataColumn": None}, "payload": HELD, "version": "1"},
        ),
    ],
    ids=["aerospike-json", "aerospike-msgpack", "lindorm-json", "dataworks-json"],
)
def test_a_variant_that_no_adapter_knows_is_an_event(
    adapter: Any, message: Any, system: str, held: Any
) -> None:
    """It becomes a control event with all that the message holds, and no error."""
    found = adapter(message, None, DecodeOptions(AUTO)).change()
    assert isinstance(found, Change)
    assert (found.op, found.source.system) == ("other", system)
    assert found.attributes == {"message": held}
    assert found.key is None
    assert found.after is None


def test_what_adapters_know_is_what_they_are_for() -> None:
    """Messages of today are changes of rows, not such events."""
    key = aerospike_json.Key("ns", None, b"\x00" * 20, None)
    found = aerospike_changes(aerospike_json.Delete(key=key), None, DecodeOptions(AUTO))
    assert found.op == "delete"
