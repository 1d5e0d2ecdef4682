"""What to do about each code of a dead letter, as the page of errors says it."""

from collections.abc import Mapping
from typing import Final

_DAMAGED: Final = "look for a program that changes messages between connector and Kafka."

REMEDIES: Final[Mapping[str, str]] = {
    "adapter-failed": "Fix the adapter, then replay the dead letters.",
    "batch": "A batch inside a batch is a defect of its producer.",
    "compressed": "Decompress the messages before you decode them, or let the producer set Kafka's "
    "compression.type instead.",
    "contradicts-schema": "Find out what changed the column at the source, and whether the task "
    "was restarted since then.",
    "digest-mismatch": "Something between server and Kafka changed the digest, set or user key: "
    "rows would be stored under the key of other rows.",
    "duplicate-column": f"No server sends two bins of one name: {_DAMAGED}",
    "duplicate-key": f"No server sends this map: {_DAMAGED}",
    "empty": "A Kafka record without a value is a tombstone record, not a message: filter out "
    "null values before decoding.",
    "header-mismatch": "Either two producers write to one topic, or a program in between copies "
    "headers to other records.",
    "internal-error": "This is a defect: please report it, with an example message if you may "
    "share one. After an upgrade that fixes it, replay the dead letters.",
    "invalid-base64": "The URL-safe alphabet (- and _) and text without padding are errors too: "
    "encode with the standard one.",
    "invalid-json": "Check the format: MessagePack and Avro messages begin with bytes JSON does "
    "not allow.",
    "invalid-msgpack": "Check the format: bytes that are not MessagePack are usually read as a "
    "number with more bytes after it (trailing-data).",
    "invalid-record-key": "Check how the producer writes keys.",
    "invalid-schema": "Show the schema to the team that runs the subscription or the task; "
    "without it the columns would have no types.",
    "invalid-time": "Write times with an offset, or as the number the format requires.",
    "invalid-unicode": "Make the producer write UTF-8 without a byte order mark.",
    "lossy": "Allow it with lossy=True, and receive each loss through on_loss.",
    "missing-property": "Check the version of the connector, and transforms that drop fields.",
    "not-encodable": "Convert the value yourself: bytes to Base64 text, tuples and sets to lists, "
    'NaN in a float bin to the text "NaN".',
    "other-variant": "Add its variant to variants, or ignore these dead letters.",
    "out-of-range": "Check the unit (seconds or milliseconds) and the producer's integer type.",
    "pattern-mismatch": "Compare the text with the pattern, which is in expected.",
    "registry-framing": "Set strip_registry_prefix=True in the reader, the serializer or the "
    "deserializer; on the command line it is --strip-registry-prefix.",
    "rule-broken": "By the rule metadata_key, name the metadata. By the rule decode, schema and "
    "model disagree, a defect of changewire: report it.",
    "too-deep": "This message is malicious or broken: databases allow a few dozen levels.",
    "too-large": "Give the process more memory, or lower message.max.bytes of the topic.",
    "trailing-data": "If a record contains several messages, split them first: changewire run "
    "reads files with JSON lines.",
    "truncated": "Something truncated the message: a column of fixed length, a size limit, a "
    "broken file.",
    "undeclared-column": "Declare the column, or correct its name.",
    "unknown-property": "The cause is a misspelt name in a producer, or a version newer than the "
    "schema.",
    "unknown-variant": "Check the format with cw.detect. A new variant needs a new schema.",
    "wrong-length": "A digest must be 20 bytes, which are 28 characters of Base64.",
    "wrong-type": "Look for a transform that changes types, for example one that turns all values "
    "into text.",
    "wrong-value": "Send one of the allowed values, which expected lists.",
}
