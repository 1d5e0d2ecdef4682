"""What is accepted although no format promises it: the name and the meaning of each leniency."""

from collections.abc import Mapping
from typing import Final

OF_CHANGES: Final[Mapping[str, str]] = {
    "assumed-hbase": (
        "Lindorm: no schema declares the column ROW, so the row was read as one of an HBase table. "
        "It is counted once for each message."
    ),
    "beyond-microseconds": "Lindorm: a time has digits below the microsecond. It stays a number.",
    "beyond-range": "Lindorm: a time is outside the range of Python's type. It stays a number.",
    "date-read-in-utc": "DataWorks: a DATE was read in UTC, since time_zone is not given.",
    "default-for-null": "Lindorm: a required column is null. The default of its schema was used.",
    "digest-mismatch": (
        'Aerospike, with check_digests="warn": the digest does not match set and user key.'
    ),
    "float-alias": (
        "Lindorm: the schema says float32 or float64 for float or double. "
        "It is counted for each row."
    ),
    "framed-record-key": (
        "Lindorm: the record key is behind the prefix of a schema registry, or compressed. "
        "The row has its key elsewhere."
    ),
    "non-finite-text": (
        "DataWorks: text in a DOUBLE column is NaN or an infinity. "
        "It becomes NaN, Infinity or -Infinity."
    ),
    "numeric-text": (
        "DataWorks: a DOUBLE column has text. It becomes a decimal with the same digits."
    ),
    "other-case": (
        "Typed rows: the name of a column differs from that of the type in case only. "
        "The column of the type has the value."
    ),
    "primary-key-case": "DataWorks: a name in primaryKey differs from its column in case.",
    "rounded-number": (
        "Lindorm, and typed rows: a number has more digits than a double has. It was rounded."
    ),
    "rounded-offset": (
        "DataWorks: the offset of a DATE has seconds, which JSON lacks. The offset was rounded."
    ),
    "time-out-of-range": (
        "DataWorks, Lindorm: a time is before the year 1 or after 9999. A DATE stays a number, "
        "and a change has no event time."
    ),
    "undeclared-column": (
        "DataWorks: schema.dataColumn does not declare a column. It stays as in JSON."
    ),
    "undeclared-field": (
        "Lindorm: the schema of the row does not name a column. It stays as in JSON."
    ),
    "unknown-column-type": (
        "DataWorks: the format document does not name the type of a column. It stays as in JSON."
    ),
    "unknown-family": (
        "HBase: a column belongs to none of the column_families. It keeps its name."
    ),
    "unknown-logical-type": (
        "Lindorm: the schema names an unknown logical type. Its base type is used. "
        "It is counted for each row."
    ),
    "unsigned-long": "DataWorks: a LONG is from 2^63 to 2^64 - 1. It stays exact.",
}
"""Leniencies of values, which a change needs."""

OF_MESSAGES: Final[Mapping[str, str]] = {
    "after-on-delete": "A delete has a row after the change.",
    "after-on-update-before": "DataWorks: the message before an update has a row after it as well.",
    "before-on-insert": "An insert has a row before the change.",
    "before-on-read": "Lindorm: a row of a full export has a row before it.",
    "empty-name": "The name of a database, a schema, a table, a column or an instance is empty.",
    "expiry-minus-one": "Aerospike: the expiry is -1. The record never expires.",
    "float-user-key": "Aerospike: the user key is a float.",
    "generation-beyond-16-bits": "Aerospike: the generation has more than 16 bits.",
    "keys-on-delete": "Aerospike: the key of a delete has a set or a user key.",
    "last-update-in-seconds": (
        "Aerospike: the time of the last update looks like seconds. It was read as milliseconds."
    ),
    "missing-after": "The property after is absent.",
    "missing-before": (
        "The property before is absent, or null on an update or a delete of Lindorm."
    ),
    "missing-data-column": "DataWorks: the schema has no dataColumn.",
    "missing-db": "Lindorm: the source has no id of the instance.",
    "missing-db-name": "DataWorks: the source has no name of the database.",
    "missing-db-type": "DataWorks: the source has no type of the database.",
    "missing-ddl": "DataWorks: the property ddl is absent, or null on a schema change.",
    "missing-durable": "Aerospike: a delete does not say whether it is durable.",
    "missing-envelope": "Lindorm: the message is the payload alone.",
    "missing-exp": "Aerospike: a write has no expiry.",
    "missing-gen": "Aerospike: a write has no generation.",
    "missing-lut": "Aerospike: a write has no time of the last update.",
    "missing-primary-key": "DataWorks: the schema has no primaryKey.",
    "missing-schema": "Lindorm: the message has no schema, or null.",
    "missing-sequence-id": "DataWorks: the property sequenceId is absent, or null on a row.",
    "missing-source": "DataWorks: the schema has no source, or null next to columns.",
    "missing-table-name": "DataWorks: the source has no name of the table.",
    "missing-version": "Lindorm: the source has no version.",
    "null-metadata": "Aerospike: metadata that the server did not ship is null, and not absent.",
    "quoted-non-finite": "Aerospike: a float bin is NaN or an infinity, as text.",
    "time-out-of-range": OF_CHANGES["time-out-of-range"],
    "unknown-bin-type": "Aerospike: the format document does not name the type of a bin.",
    "unknown-db": "Lindorm: the id of the instance does not begin with ld-.",
    "unknown-flags": "Aerospike: the format document does not name the flags of a bin or a delete.",
    "unknown-operation": "DataWorks: the format document does not name the operation.",
    "unknown-property": "The schema does not name a property or a position. It is preserved.",
    "unknown-version": "Lindorm: the version is neither v1.0 nor v2.0.",
    "update-before-spelt-out": "DataWorks: the operation is UPDATE_BEFORE, and not UPDATE_BEFOR.",
    "user-key-on-delete": "Aerospike: a delete has a user key.",
}
"""Leniencies of messages, which their schemas name."""

OF_ROWS: Final[Mapping[str, str]] = {
    "number-as-text": (
        "VARIANT: an integer has more than 38 digits, which VARIANT would round. "
        "It is stored as text."
    ),
    "rounded-number": OF_CHANGES["rounded-number"],
    "row-as-text": (
        "VARIANT: Spark does not parse the JSON text, which has more than 1000 levels or a name of "
        "more than 50,000 characters. The row is that text, a VARIANT of type string."
    ),
}
"""Leniencies of typed rows in Spark."""

LENIENCIES: Final[Mapping[str, str]] = {**OF_CHANGES, **OF_MESSAGES, **OF_ROWS}
"""Every leniency of the installed formats, with its meaning."""
