"""Columns of keys and images of rows by table: the kernel finds those that Python finds."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from tests.native.differential import batch_of, compare, kernel, needs_kernel, rows

from changewire.changes.decode_options import ROW_IMAGES, DecodeOptions
from changewire.engines.decode import Decoder

pytestmark = needs_kernel

NAMES = (None, "", "a", "b", "ab", "aab", "a.b", "a*b", "\u00e9b", "\U0001f600", "(no table)", "A")
PARTS = ("a", "b", ".", "*", "**", "?", "\u00e9", "\U0001f600", "A", "(no table)", "[a]", "%")
KEYS = {"dataworks-json": ["id"], "lindorm-json": ["id"]}
ROW = {"id": 1, "name": "n", "a": "x"}


def dataworks(database: Any, schema: Any, table: Any) -> bytes:
    """Return a message about a row of a table."""
    columns = [{"name": name, "type": "STRING"} for name in ROW]
    place = {"dbType": "MySQL", "dbName": database, "schemaName": schema, "tableName": table}
    source = {name: value for name, value in place.items() if value is not None}
    wire = {
        "schema": {"dataColumn": columns, "primaryKey": ["a"], "source": source},
        "payload": {
            "op": "UPDATE_AFTER",
            "after": {"dataColumn": {name: str(value) for name, value in ROW.items()}},
            "sequenceId": "1",
            "timestamp": {"eventTime": 1731661114000},
            "ddl": None,
        },
        "version": "0.0.1",
    }
    return json.dumps(wire, ensure_ascii=False).encode()


def lindorm(database: Any, schema: Any, table: Any) -> bytes:
    """Return a message about a row of a table, which may be one of HBase."""
    row = {"ROW": "AAE=", "a": "AAE="} if schema == "b" else ROW
    source = {"namespace": database or "", "table": table or "", "ts_ms": 1}
    payload = {"op": "u", "before": {**row, "a": "AAA="}, "after": row, "source": source}
    return json.dumps({"payload": {**payload, "ts_ms": 5}}, ensure_ascii=False).encode()


def aerospike(database: Any, _schema: Any, table: Any) -> bytes:
    """Return a write of a record of a set."""
    key = [database or "", table, "AAECAwQFBgcICQoLDA0ODxAREhM=", None]
    bins = [{"name": name, "type": "str", "value": str(value)} for name, value in ROW.items()]
    wire = {"msg": "write", "key": key, "gen": 1, "exp": 0, "lut": 1, "bins": bins}
    return json.dumps(wire, ensure_ascii=False).encode()


def aerospike_flat(database: Any, _schema: Any, table: Any) -> bytes:
    """Return the same in flat JSON."""
    metadata = {
        "msg": "write",
        "namespace": database or "",
        "gen": 1,
        "lut": 1,
        "exp": 0,
        "digest": "AAECAwQFBgcICQoLDA0ODxAREhM=",
        "set": table,
    }
    return json.dumps({"metadata": metadata, **ROW}, ensure_ascii=False).encode()


@pytest.mark.parametrize("message", [dataworks, lindorm], ids=lambda of: of.__name__)
def test_any_globs(message: Any) -> None:
    """Drawn globs choose the same columns for any names; each column is chosen for some."""
    draw = random.Random(7)  # noqa: S311 - no secret
    values = [message(*(draw.choice(NAMES) for _ in range(3))) for _ in range(150)]
    seen = set[str | None]()
    for _ in range(60):
        globs = {"".join(draw.choices(PARTS, k=draw.randint(1, 4))) for _ in range(4)}
        keys = {glob: draw.choice([["id"], ["name", "id"], ["a"]]) for glob in sorted(globs)}
        options = DecodeOptions(f"{message.__name__}-json", key_columns=keys)
        assert compare(batch_of(values), options).share > 0.9
        seen.update(rows(batch_of(values), Decoder(options), kernel(options))["key"].to_pylist())
    assert len(seen) >= 3


@pytest.mark.parametrize(
    ("message", "format"),
    [
        (dataworks, "dataworks-json"),
        (lindorm, "lindorm-json"),
        (aerospike, "aerospike-json"),
        (aerospike_flat, "aerospike-flat-json"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_images_by_any_globs(message: Any, format: str) -> None:
    """Drawn globs choose the same images for any names, and effects follow them."""
    draw = random.Random(8)  # noqa: S311 - no secret
    values = [message(*(draw.choice(NAMES) for _ in range(3))) for _ in range(150)]
    seen = set[str | None]()
    for _ in range(40):
        globs = {"".join(draw.choices(PARTS, k=draw.randint(1, 4))) for _ in range(4)}
        images = {glob: draw.choice(ROW_IMAGES) for glob in sorted(globs)}
        given: Any = {"row_image": images, "key_columns": KEYS.get(format)}
        options = DecodeOptions(format, **given)
        assert compare(batch_of(values), options).share > 0.5
        seen.update(rows(batch_of(values), Decoder(options), kernel(options))["effect"].to_pylist())
    assert {*ROW_IMAGES} <= seen
