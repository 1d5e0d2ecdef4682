"""What both engines do to a batch of records."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.samples import FORMAT, MIXED_COUNTS, examples, mixed_messages

from changewire.changes.decode_options import DecodeOptions, ElementRow
from changewire.engines.arrow.batches import batches, to_batch
from changewire.engines.decode import Decoder
from changewire.engines.elements import Elements, decoded_schema
from changewire.framing import Position, Record


def records() -> list[Record]:
    """Return the mixed messages with positions."""
    return [
        Record(key=b"k", value=value, position=Position(topic="t", partition=0, offset=i))
        for i, value in enumerate(mixed_messages())
    ]


def decoded() -> pa.RecordBatch:
    """Return the decoded mixed messages."""
    (rows,) = Decoder(DecodeOptions(FORMAT))(to_batch(records()))
    return rows


def test_every_element_is_one_row_of_one_kind() -> None:
    """Each element of each message becomes a change, a control event or a dead letter."""
    kinds = Counter(decoded().column("kind").to_pylist())
    assert kinds == {"change": 9, "control": 2, "dead_letter": 4}


def test_a_message_declares_its_elements_once() -> None:
    """The first element of a message says how many there are, the others say 0."""
    rows = decoded()
    assert sum(rows.column("elements").to_pylist()) == len(rows) == MIXED_COUNTS["elements"]


def test_rows_keep_where_their_record_stood() -> None:
    """All elements of a batch have the offset of the record, and their own index."""
    rows = decoded().select(["offset", "element", "kind"]).to_pylist()
    assert [(r["element"], r["kind"]) for r in rows if r["offset"] == 7] == [
        (0, "change"),
        (1, "dead_letter"),
        (2, "change"),
    ]


def test_only_dead_letters_carry_the_message() -> None:
    """A dead letter keeps the raw value, any other row has none; both keep the record key."""
    for row in decoded().to_pylist():
        assert (row["value"] is not None) == (row["kind"] == "dead_letter")
        assert row["record_key"] == b"k"


def test_a_record_without_value_is_a_control_event() -> None:
    """A Kafka tombstone is an empty control event, never a dead letter."""
    (row,) = [r for r in decoded().to_pylist() if r["offset"] == 9]
    assert (row["kind"], row["op"], row["attributes"]) == (
        "control",
        "empty",
        '{"tombstone":true}',
    )


def test_two_bins_of_one_name_are_a_dead_letter() -> None:
    """A record that names a bin twice is refused with the place of the second one."""
    (row,) = [r for r in decoded().to_pylist() if r["offset"] == 12]
    assert (row["code"], row["pointer"]) == ("duplicate-column", "/bins/1/name")


def test_no_rows_have_the_columns_of_all_rows() -> None:
    """The columns do not depend on what was decoded."""
    assert decoded().schema == decoded_schema()
    (none,) = Decoder(DecodeOptions(FORMAT))(to_batch(records()).slice(0, 0))
    assert none.schema == decoded_schema()


def test_a_decoder_pickles() -> None:
    """Workers get a copy of the decoder that decodes alike."""
    copy = pickle.loads(pickle.dumps(Decoder(DecodeOptions(FORMAT))))  # noqa: S301 - our own object
    assert list(copy(to_batch(records()))) == [decoded()]


def test_an_unknown_format_is_refused_at_once() -> None:
    """A decoder for a format that is not there is refused where it is made."""
    with pytest.raises(ValueError, match="no format 'nope'"):
        DecodeOptions("nope")


def test_batches_are_bounded_by_bytes() -> None:
    """Large messages make small batches, so that memory stays flat."""
    large = [Record(None, b"x" * 1_600_000, Position()) for _ in range(7)]
    assert [len(batch) for batch in batches(large)] == [3, 3, 1]


class Faulty(Decoder):
    """Raises for some messages and some elements, as a defect of ours would."""

    def _elements(self, value: bytes | None, key: bytes | None) -> list[ElementRow]:
        if value == b"bad message":
            raise ZeroDivisionError(value)
        return super()._elements(value, key)

    def _columns(self, batch: pa.RecordBatch, elements: Elements, places: Any) -> Any:
        if any("bad element" in str(change) for change in elements.rows):
            raise pa.ArrowInvalid("bad element")
        return super()._columns(batch, elements, places)


def test_an_unexpected_exception_concerns_one_element() -> None:
    """A message that cannot be read and an element that no column can hold are dead letters."""
    write = {**examples("write")[0], "lut": 5}
    bad = {**write, "bins": [{"name": "a", "type": "str", "value": "bad element"}]}
    values = [b"bad message", json.dumps([write, bad, write]).encode(), json.dumps(write).encode()]
    records = [
        Record(key=None, value=value, position=Position(topic="t", partition=0, offset=i))
        for i, value in enumerate(values)
    ]
    (rows,) = Faulty(DecodeOptions(FORMAT))(to_batch(records))
    found = [(row["offset"], row["element"], row["kind"]) for row in rows.to_pylist()]
    assert found == [
        (0, 0, "dead_letter"),
        (1, 0, "change"),
        (1, 1, "dead_letter"),
        (1, 2, "change"),
        (2, 0, "change"),
    ]
    dead = rows.filter(pc.equal(rows.column("kind"), "dead_letter")).to_pylist()
    assert {row["code"] for row in dead} == {"internal-error"}
    assert ["ZeroDivisionError" in dead[0]["message"], "ArrowInvalid" in dead[1]["message"]] == [
        True
    ] * 2
    assert not any("bad" in row["message"] for row in dead)
    assert [row["value"] for row in dead] == values[:2]
