"""What changes do to rows of tables: keys that move, images before, patches."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import pyarrow as pa
import pytest
from tests.native.differential import batch_of, kernel, needs_kernel, rows
from tests.native.test_differential import CASES, examples, name_of
from tests.native.test_images import update
from tests.runtime.engines.merge.messages import EXACT, message

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.decode import Decoder
from changewire.engines.effects import with_effects
from changewire.engines.layout import EFFECT

pytestmark = needs_kernel

Row = Mapping[str, Any] | None
IMAGES: Sequence[tuple[Row, Row]] = (
    *(({"id": 1, "a": 1}, {"id": 2, "a": 1}), ({"id": "x"}, {"id": "y", "b": None})),
    *(({"id": 1, "a": 1, "z": 0}, {"id": 1, "b": 2}), (None, {"id": 1, "b": 2, "a": 3})),
    *(({"id": 1, "a": 1}, None), ({"a": 1}, {"id": 1, "a": None}), ({"id": 1.5}, {"id": 2})),
    *(({"id": True}, {"id": 1}), ({"id": 1}, {"id": True}), ({"id": [1]}, {"id": [1.0]})),
    *(({"id": 1}, {"id": 2.5}), ({"id": None}, {"id": 2}), ({"id": True}, {"id": False, "c": []})),
)


def lindorm(op: str, before: Row, after: Row) -> bytes:
    """Return a change of a row."""
    source = {"namespace": "n", "table": "t", "ts_ms": 5}
    payload = {"op": op, "ts_ms": 6, "before": before, "after": after, "source": source}
    return json.dumps({"payload": payload}).encode()


def effects(values: Sequence[bytes], options: DecodeOptions) -> tuple[list[Any], int]:
    """Compare rows; return effect and keys of each, and how many messages the kernel declined."""
    batch, decoder, native = batch_of(values), Decoder(options), kernel(options)
    found = rows(batch, decoder, native)
    assert found.equals(rows(batch, decoder, None))
    found.validate(full=True)
    said = found.select([EFFECT, "key", "before_key"]).to_pylist()
    return [tuple(one.values()) for one in said], native.counts.declined


@pytest.mark.parametrize("row_image", ["full", "patch", "keys"])
@pytest.mark.parametrize("op", ["c", "u", "d"])
def test_images(op: str, row_image: Any) -> None:
    """All images together, so that rows with one effect, with two and with none alternate."""
    options = DecodeOptions("lindorm-json", row_image=row_image, key_columns=["id"])
    messages = [lindorm(op, *pair) for pair in IMAGES]
    effects(messages, options)
    effects([*messages, b"x", *reversed(messages)], options)


def test_a_key_that_moves() -> None:
    """It has the key that the row had before, and the kernel says so."""
    options = DecodeOptions("lindorm-json", key_columns=["id"])
    moved = lindorm("u", {"id": 1, "a": 1}, {"id": 2, "a": 1})
    found, declined = effects([moved, lindorm("c", None, {"id": 3})], options)
    assert declined == 0
    assert found == [("full", '{"id":2}', '{"id":1}'), ("full", '{"id":3}', None)]


def test_keys_have_their_columns_in_order() -> None:
    """Two keys of one row have one text, whatever the order of their columns."""
    options = DecodeOptions("lindorm-json", key_columns=["b", "a"])
    found, declined = effects([lindorm("c", None, {"b": 1, "a": "x"})], options)
    assert (found, declined) == ([("full", '{"a":"x","b":1}', None)], 0)


def test_a_patch() -> None:
    """With other images than whole ones a write is a patch, or says that the row exists."""
    options = DecodeOptions("lindorm-json", row_image="patch", key_columns=["id"])
    values = [lindorm("u", {"id": 1, "z": 0}, {"id": 1, "b": 2}), lindorm("d", {"id": 1}, None)]
    assert [one[0] for one in effects(values, options)[0]] == ["patch", "delete"]
    options = DecodeOptions("lindorm-json", row_image="keys", key_columns=["id"])
    assert [one[0] for one in effects(values, options)[0]] == ["keys", "delete"]


@pytest.mark.parametrize("row_image", ["full", "patch", "keys"])
def test_images_without_columns(row_image: Any) -> None:
    """If the image after is not whole, the one before has the columns of the key that it lacks."""
    images: Sequence[tuple[Any, Any]] = (({"id": 1}, {}), ({}, {"id": 1}), ({}, {}))
    values = [update(*pair) for pair in images]
    found = effects(values, DecodeOptions("dataworks-json", row_image=row_image))
    nothing, one = ("none", None, None), (row_image, '{"id":1}', None)
    assert found == ([nothing if row_image == "full" else one, one, nothing], 0)


@pytest.mark.parametrize(("row_image", "effect"), [("full", "before"), ("patch", "none")])
def test_a_lone_image_before(row_image: Any, effect: str) -> None:
    """One that is not whole says nothing about its row."""
    values = [value for value, _ in examples("dataworks-json") if value]
    before = [value for value in values if b'"op":"UPDATE_BEFOR"' in value]
    found, declined = effects(before, DecodeOptions("dataworks-json", row_image=row_image))
    assert [one[0] for one in found].count(effect) > len(found) / 2
    assert declined < len(found) / 2


@pytest.mark.parametrize("options", CASES, ids=name_of)
def test_examples(options: DecodeOptions) -> None:
    """Of the examples that the kernel reads, few have effects that are left to Python."""
    values, keys = zip(*examples(options.format), strict=True)
    found = kernel(options)
    found.decode(batch_of(values, keys))
    assert found.counts.declined_by.get("effect", 0) <= 0.02 * len(values)


NUMBERS = (
    "5",
    "5.00",
    "-0",
    "0.00",
    "-1.50",
    "0.0000001",
    "1E3",
    "9" * 30,
    "1234567890123456789.5",
)


@pytest.mark.parametrize("row_image", ["full", "patch"])
def test_keys_that_are_decimals(row_image: Any) -> None:
    """They are numbers in the text of a key, and their effects are those of their row in a log."""
    given = [*NUMBERS, 5, 2.5, -0.0, 1e300]
    values = [
        message(op, 7, {"id": one, "name": "a"}, types=EXACT)
        for op in ("INSERT", "DELETE")
        for one in given
    ]
    values += [
        message("UPDATE_AFTER", 7, {"id": b, "name": "a"}, before={"id": a}, types=EXACT)
        for a, b in product(given, given)
    ]
    options = DecodeOptions("dataworks-json", row_image=row_image)
    batch, decoder, native = batch_of(values), Decoder(options), kernel(options)
    found = rows(batch, decoder, native)
    assert found.equals(rows(batch, decoder, None))
    assert native.counts.declined < len(values)
    place, nothing = found.column_names.index(EFFECT), pa.nulls(len(found), pa.string())
    assert with_effects(found.set_column(place, EFFECT, nothing)).equals(found)
