"""Messages without Spark: record batches of Arrow."""

from __future__ import annotations

import changewire as cw
import changewire.arrow as cwa

ROWS: cwa.RowsAs = "json"


def counted(messages: cwa.Messages) -> int:
    """Return how many elements became changes, by way of whole tables."""
    decoded: cwa.DecodedStreams = cwa.decode(messages, format="auto", row_schema=ROWS)
    tables: cwa.Tables = decoded.tables()
    return tables.counts.changes


def streamed(path: str) -> cwa.ArrowStream:
    """Return a stream of changes, for whatever reads Arrow."""
    stream: cwa.Stream = cwa.decode(path, format="lindorm-json").changes
    return stream


def removed(key: bytes) -> cw.Change:
    """Return the change that a record without value is."""
    return cw.delete_by_key(key, format="aerospike-json")


def typed(messages: cwa.Messages) -> int:
    """Return how many messages there are of one variant, as typed columns."""
    found: cwa.MessageStreams = cwa.messages(
        messages, format="lindorm-json", variants=["Insert"], strip_registry_prefix=True
    )
    tables: cwa.MessageTables = found.tables()
    assert cwa.message_type("lindorm-json", "Insert")  # pyright: ignore[reportUnknownMemberType]: no stubs
    return tables.counts.by_variant["Insert"]


def versions(log: cwa.ChangeLog) -> object:
    """Return every version of the rows of a table, by a change log."""
    made = cwa.history  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]: no stubs
    return made(log, table="shop.users", names="auto_cdc")  # pyright: ignore[reportUnknownVariableType]


def typed_versions(log: cwa.ChangeLog, schema: str) -> object:
    """Return the same with the columns that a schema from the messages declares."""
    made = cwa.history  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]: no stubs
    return made(
        log, table="shop.users", row_schema=schema, key_columns=["id"], format="dataworks-json"
    )  # pyright: ignore[reportUnknownVariableType]


def explained(log: cwa.ChangeLog) -> list[str]:
    """Return why changes did nothing to a row."""
    history: cwa.History = cwa.trace(log, {"id": 1}, table="shop.users")
    steps: list[cwa.Step] = history.steps
    refusals: list[cwa.StepRefusal | None] = [step.refused for step in steps]
    return [one.reason for one in refusals if one is not None]


def open_ones(log: cwa.ChangeLog) -> int:
    """Return how many dead letters and refused changes of a log are open."""
    letters = cwa.dead_letters  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]: no stubs
    refused = cwa.refused  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]: no stubs
    return len(letters(log)) + len(refused(log))  # pyright: ignore[reportUnknownArgumentType]


def lost(log: cwa.ChangeLog) -> int:
    """Return how many tables lack changes."""
    unapplied = cwa.unapplied  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]: no stubs
    return len(unapplied(log))  # pyright: ignore[reportUnknownArgumentType]
