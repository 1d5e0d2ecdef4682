"""The kernel yields the very rows that Python yields, of whatever message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.native.differential import FORMATS, batch_of, compare, needs_kernel
from tests.native.mutants import damaged
from tests.runtime.codec.formats import JSON_FORMATS, JsonFormat
from tests.runtime.codec.test_hostile import HOSTILE, filled
from tests.runtime.codec.test_msgpack_hostile import HOSTILE as HOSTILE_MSGPACK
from tests.runtime.engines.any_messages import captured, mutated

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.arrow.messages import opener

pytestmark = needs_kernel

EXAMPLES = Path(__file__).parents[2] / "examples"
OPTIONS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "aerospike-flat-json": ({}, {"row_image": {"*": "patch", "*.users": "keys"}}),
    "aerospike-json": ({}, {"row_image": "patch"}),
    "aerospike-msgpack": ({}, {"row_image": {"*s*": "patch"}}),
    "dataworks-json": (
        {},
        {"key_columns": ["id"]},
        {"key_columns": {"*user?": ["name"], "*": ["id"]}},
        {"row_image": "patch"},
        {"time_zone": "UTC"},
        {"row_image": "patch", "time_zone": "Asia/Shanghai"},
    ),
    "lindorm-json": (
        {},
        {"key_columns": ["id"]},
        {"key_columns": {"*.users": ["id"], "shop.o*": ["order_id"]}},
        {"column_families": ["f", "cf"]},
        {"row_image": "keys"},
    ),
}
"""Options that each format heeds."""

CASES = [DecodeOptions(name, **options) for name in FORMATS for options in OPTIONS[name]]
LEAST = 0.95
"""Share of the examples that is decoded by the kernel."""

_MUTANTS = 2_000
_LONG = 2_000
"""Bytes of a message that is mutated at most."""


def name_of(value: object) -> str | None:
    """Return the name of a case."""
    if not isinstance(value, DecodeOptions):
        return None
    given = {
        name: option
        for name, option in {
            "row_image": value.row_image,
            "key_columns": value.key_columns,
            **value.vendor,
        }.items()
        if option
    }
    return f"{value.format} {given}"


@cache
def examples(format: str) -> list[tuple[bytes | None, bytes | None]]:
    """Return value and key of the records of a format's examples."""
    found: list[tuple[bytes | None, bytes | None]] = []
    for file in sorted((EXAMPLES / format.replace("-", "_")).iterdir()):
        read, _ = opener(str(file), "auto")
        for batch in read():
            columns = [batch.column(name).to_pylist() for name in ("value", "key")]
            found += zip(*columns, strict=True)
    return found


@pytest.mark.parametrize("options", CASES, ids=name_of)
def test_examples(options: DecodeOptions) -> None:
    """Rows of the examples are the same, and the kernel makes most of them."""
    values, keys = zip(*examples(options.format), strict=True)
    found = compare(batch_of(values, keys), options)
    assert found.share >= LEAST


@pytest.mark.parametrize("options", CASES, ids=name_of)
def test_corpus(options: DecodeOptions) -> None:
    """Rows of all corpora are the same, those of other formats too."""
    for name in FORMATS:
        compare(batch_of(captured(name)), options)


@pytest.mark.parametrize("form", JSON_FORMATS.values(), ids=lambda form: form.name)
def test_hostile_bytes(form: JsonFormat) -> None:
    """Bytes that are no JSON, or no MessagePack, are declined."""
    values = [filled(form, value) for value, _ in HOSTILE.values()]
    found = compare(batch_of(values), DecodeOptions(form.name))
    assert found.declined == len(values)
    values = [value for value, *_ in HOSTILE_MSGPACK.values()]
    found = compare(batch_of(values), DecodeOptions("aerospike-msgpack"))
    assert found.declined == len(values)


@pytest.mark.parametrize("options", CASES, ids=name_of)
def test_mutants(options: DecodeOptions) -> None:
    """Rows of damaged messages are the same."""
    values = [value for value, _ in examples(options.format)] + captured(options.format)
    short = [value for value in values if value and len(value) < _LONG]
    compare(batch_of(damaged(options.format, short, _MUTANTS, seed=1)), options)
    compare(batch_of(mutated(options.format, _MUTANTS // 4)), options)
