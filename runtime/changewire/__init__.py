"""Change-data-capture messages, typed: decode, validate, encode, and turn them into changes.

```python
import changewire as cw

message = cw.decode(data, format="aerospike-json")
for change in cw.changes(message):
    print(change.op, change.key, change.after)
```
"""

from typing import Any

from changewire.changes import changes
from changewire.changes.aerospike_digest import digest
from changewire.changes.connect import Difference
from changewire.changes.contradictions import contradictions, validate
from changewire.changes.null_values import delete_by_key
from changewire.changes.pairs import pair
from changewire.changes.rows import row
from changewire.changes.schemas import Schemas, SchemaUse, schemas
from changewire.codec import (
    CODES,
    Codec,
    CodecError,
    Data,
    DecodeError,
    EncodeError,
    FormatError,
    Issue,
    codec,
    codec_of,
    decode_all_any,
    decode_any,
    detect,
    formats,
)
from changewire.convert import Version, convert, convert_key, in_version
from changewire.explain import Explanation, Field, explain
from changewire.infer import Draft, infer
from changewire_messages import aerospike_json, aerospike_msgpack, dataworks_json, lindorm_json
from changewire_messages.change import Change, Reason, Rejection, Sequence, Source
from changewire_messages.support import Extra

__version__ = "0.1.0"

__all__ = [
    "CODES",
    "Change",
    "Codec",
    "CodecError",
    "DecodeError",
    "Difference",
    "Draft",
    "EncodeError",
    "Explanation",
    "Extra",
    "Field",
    "FormatError",
    "Issue",
    "Reason",
    "Rejection",
    "SchemaUse",
    "Schemas",
    "Sequence",
    "Source",
    "__version__",
    "aerospike_json",
    "aerospike_msgpack",
    "changes",
    "codec",
    "convert",
    "convert_key",
    "dataworks_json",
    "decode",
    "decode_all",
    "decode_key",
    "delete_by_key",
    "detect",
    "digest",
    "encode",
    "explain",
    "formats",
    "infer",
    "leniencies",
    "lindorm_json",
    "pair",
    "row",
    "schemas",
    "validate",
]


def decode(data: Data, *, format: str | None = None) -> Any:
    """Return the model of one message; see `Codec.decode`.

    Without a format, the one is taken that the message says it has (`detect`); a message that says
    none is refused as ``unknown-variant``.
    """
    return decode_any(data) if format is None else codec(format).decode(data)


def decode_all(data: Data, *, format: str | None = None) -> list[Any]:
    """Return the elements of a message that may be a batch; see `Codec.decode_all`.

    Without a format, the one is taken that the message says it has, as in `decode`.

    Raises:
        DecodeError: There is no format, and the message says none.
    """
    return decode_all_any(data)[1] if format is None else codec(format).decode_all(data)


def decode_key(data: Data, *, format: str) -> Any:
    """Return the model of a Kafka record key; see `Codec.decode_key`."""
    return codec(format).decode_key(data)


def encode(model: object, *, version: Version = "current", declared: bool = False) -> bytes:
    """Return the bytes of a model, or of a list of models; see `Codec.encode`.

    Args:
        model: The model or models.
        version: ``legacy``, of ``aerospike-msgpack`` only, writes what connectors before 4.0.0 did:
            deletes of two parts. ``current`` writes each model as it is.
        declared: Also refuse a model with values of other types than it declares for them, or that
            contradicts itself otherwise, as `validate` does.

    Raises:
        EncodeError: A model cannot be written, or the legacy version has no place for all of it.
        ValueError: The format has no such version.
    """
    coder = codec_of(model)
    data = coder.encode(in_version(model, version))
    issues = contradictions(data, coder.format) if declared else []
    if issues:
        raise EncodeError(coder.format, issues)
    return data


def leniencies(model: object) -> list[str]:
    """Return the names of the leniencies that a message needed; see `Codec.leniencies`."""
    return codec_of(model).leniencies(model)
