"""What changes do to rows of tables: keys that move, images before, patches."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import pytest
from tests.native.differential import batch_of, kernel, needs_kernel, rows
from tests.native.test_differential import CASES, examples, name_of
from tests.runtime.engines.merge.messages import EXACT, message

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.effects import (
    EFFECTS,
    EffectsDecoder,
    LeanEffectsDecoder,
    effects_of_logged,
)
from changewire.engines.log import EFFECTIVE

pytestmark = needs_kernel

Row = Mapping[str, Any] | None
IMAGES: Sequence[tuple[Row, Row]] = (
    *(({"id": 1, "a": 1}, {"id": 2, "a": 1}), ({"id": "x"}, {"id": "y", "b": None})),
    *(({"id": 1, "a": 1, "z": 0}, {"id": 1, "b": 2}), (None, {"id": 1, "b": 2, "a": 3})),
    *(({"id": 1, "a": 1}, None), ({"a": 1}, {"id": 1, "a": None}), ({"id": 1.5}, {"id": 2})),
    *(({"id": 1}, {"id": 2.5}), ({"id": None}, {"id": 2}), ({"id": True}, {"id": False, "c": []})),
)


def lindorm(op: str, before: Row, after: Row) -> bytes:
    """Return a change of a row."""
    source = {"namespace": "n", "table": "t", "ts_ms": 5}
    payload = {"op": op, "ts_ms": 6, "before": before, "after": after, "source": source}
    return json.dumps({"payload": payload}).encode()


def effects(values: Sequence[bytes], options: DecodeOptions) -> tuple[list[Any], int]:
    """Compare rows; return what they do, and how many messages the kernel declined."""
    batch, decoder = batch_of(values), EffectsDecoder(options)
    native = kernel(options, effects=True)
    found = rows(batch, decoder, native)
    assert found.equals(rows(batch, decoder, None))
    found.validate(full=True)
    return found[EFFECTS].to_pylist(), native.counts.declined


@pytest.mark.parametrize("row_image", ["full", "patch", "keys"])
@pytest.mark.parametrize("op", ["c", "u", "d"])
def test_images(op: str, row_image: Any) -> None:
    """All images together, so that rows with one effect, with two and with none alternate."""
    options = DecodeOptions("lindorm-json", row_image=row_image, key_columns=["id"])
    messages = [lindorm(op, *pair) for pair in IMAGES]
    effects(messages, options)
    effects([*messages, b"x", *reversed(messages)], options)


def test_a_key_that_moves() -> None:
    """The row of the old key is deleted before all else of its time, and the kernel says so."""
    options = DecodeOptions("lindorm-json", key_columns=["id"])
    moved = lindorm("u", {"id": 1, "a": 1}, {"id": 2, "a": 1})
    found, declined = effects([moved, lindorm("c", None, {"id": 3})], options)
    assert declined == 0
    assert [[one["key"], one["kind"]] for one in found[0]] == [
        ['{"id":1}', "delete"],
        ['{"id":2}', "full"],
    ]
    assert len(found[1]) == 1


def test_a_patch_with_an_image_before() -> None:
    """Columns that only the image before has are among those that the patch sets."""
    options = DecodeOptions("lindorm-json", row_image="patch", key_columns=["id"])
    found, declined = effects([lindorm("u", {"id": 1, "a": 1, "z": 0}, {"id": 1, "b": 2})], options)
    assert declined == 0
    assert found[0][0]["names"] == ["b", "a", "z"]


def test_a_lone_image_before() -> None:
    """One that is not whole does nothing to its row."""
    values = [value for value, _ in examples("dataworks-json") if value]
    before = [value for value in values if b'"op":"UPDATE_BEFOR"' in value]
    found, declined = effects(before, DecodeOptions("dataworks-json", row_image="patch"))
    assert found.count([]) > len(found) / 2
    assert declined < len(found) / 2


@pytest.mark.parametrize("options", CASES, ids=name_of)
def test_examples(options: DecodeOptions) -> None:
    """Of the examples that the kernel reads, few have effects that are left to Python."""
    values, keys = zip(*examples(options.format), strict=True)
    found = kernel(options, effects=True)
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
    batch, decoder = batch_of(values), LeanEffectsDecoder(options)
    native = kernel(options, effects=True)
    found = rows(batch, decoder, native)
    assert found.equals(rows(batch, decoder, None))
    assert native.counts.declined < len(values)
    logged = found.select([*EFFECTIVE]).to_pylist()
    assert [effects_of_logged(row) for row in logged] == found[EFFECTS].to_pylist()
