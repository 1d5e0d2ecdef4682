"""Messages that Hypothesis draws by the schemas, and keys of records: the same rows."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.native.differential import batch_of, compare, needs_kernel
from tests.native.mutants import damaged
from tests.native.test_differential import examples
from tests.runtime.codec.formats import JSON_FORMATS, modest

from changewire.changes.decode_options import DecodeOptions

pytestmark = needs_kernel

SPELLINGS: tuple[Callable[[Any], str], ...] = (
    lambda message: json.dumps(message, ensure_ascii=False, separators=(",", ":")),
    lambda message: json.dumps(message, ensure_ascii=True, indent=1),
    lambda message: json.dumps(message, ensure_ascii=False, sort_keys=True),
)
"""Ways to write a message; text of surrogates has no bytes, and is left out."""


@pytest.mark.parametrize("format", JSON_FORMATS)
@modest
@given(data=st.data())
def test_drawn(format: str, data: st.DataObject) -> None:
    """Messages by the schema, good and broken, have the same rows in any spelling."""
    form = JSON_FORMATS[format]
    kinds = [form.strategy("message"), form.strategy("message", broken=True)]
    drawn = data.draw(st.lists(st.one_of(kinds), min_size=1, max_size=5))
    texts = [spell(message) for message in drawn for spell in SPELLINGS]
    compare(
        batch_of(text.encode("utf-8", "surrogatepass") for text in texts), DecodeOptions(format)
    )


@pytest.mark.parametrize("keys", [None, ["id"], ["ROW"], ["id", "name"]], ids=str)
def test_record_keys(keys: list[str] | None) -> None:
    """Any message with any record key has the same rows."""
    draw = random.Random(3)  # noqa: S311 - no secret
    records = [record for record in examples("lindorm-json") if record[0]]
    found = [key for _, key in records if key]
    own = b'{"schema":{"type":"struct","fields":[]},"payload":{"id":1}}'
    texts = [*found, own, b'{"id":7,"name":"a"}', b'{"ROW":"AAE="}', b'{"id":1.50}', b'{"id":null}']
    pool = [
        *texts,
        *damaged("lindorm-json", texts, 1500, seed=5),
        b"",
        b"abc",
        b"17",
        b"[1]",
        b'"a"',
        b" {}",
        b"{",
        None,
    ]
    values = [value for value, _ in records] * 8
    drawn = [draw.choice(pool) for _ in values]
    families = ["f"] if keys and "ROW" in keys else None
    compare(
        batch_of(values, drawn),
        DecodeOptions("lindorm-json", key_columns=keys, column_families=families),
    )


COLUMN_TYPES: Sequence[Mapping[str, Any]] = (
    *({"type": name} for name in ("int8", "int16", "int32", "int64", "float", "double")),
    *({"type": name} for name in ("string", "bytes", "boolean", "float64", "array")),
    {"type": "int32", "name": "org.apache.kafka.connect.data.Date"},
    {"type": "int64", "name": "org.apache.kafka.connect.data.Timestamp"},
    {"type": "int64", "name": "io.debezium.time.MicroTimestamp"},
    {"type": "int32", "name": "org.apache.kafka.connect.data.Time"},
    {"type": "string", "name": "io.debezium.data.Enum"},
    {
        "type": "bytes",
        "name": "org.apache.kafka.connect.data.Decimal",
        "parameters": {"scale": "2"},
    },
    {
        "type": "bytes",
        "name": "org.apache.kafka.connect.data.Decimal",
        "parameters": {"scale": "9"},
    },
    {"type": "int32", "default": 5},
    {"type": "struct", "fields": []},
)
CELLS: Sequence[Any] = (
    *(0, 1, -1, 127, 128, 40000, 2**31, 2**53, 2**62, 19000, 1700000000123, -62135596800001),
    *(1.5, 0.1, 3.0, 1e20, None, True, "", "a", "AAE=", "AQ==", "/w==", "AAAAAAAAAAAB", "NaN"),
    *("x\n", "\u00e9", "gAAAAAAAAAAAAAAAAAAAAA==", [], {"a": 1}),
)


_INTEGERS = (0, 1, -1, 127, 1700000000123, 19000, 2**64 - 1)
_TEXTS = ("", "a", "x\n", "\u00e9", "AAE=")
_BYTES = ("AAE=", "AQ==", "/w==", "AAAAAAAAAAAB", "gAAAAAAAAAAAAAAAAAAAAA==")
FITTING: Mapping[str, Sequence[Any]] = {
    **dict.fromkeys(("int8", "int16", "int32", "int64"), (0, 1, -1, 127)),
    **dict.fromkeys(("float", "double"), (1.5, 0.1, 3.0, 7, "NaN")),
    "string": _TEXTS,
    "bytes": _BYTES,
    "boolean": (True, False),
    "LONG": _INTEGERS,
    "DATE": _INTEGERS,
    "STRING": _TEXTS,
    "BYTES": _BYTES,
    "DOUBLE": (1.5, 3.0, 7, "1.10", "1.1", "-0.0", "12", "NaN", "infinity"),
    "BOOLEAN": (True, False),
}
"""Values that columns of a type hold."""


def cell(kind: str, draw: random.Random) -> Any:
    """Return a value of a column: most of them fit."""
    if draw.random() < 0.05:
        return draw.choice(CELLS)
    return draw.choice((*FITTING.get(kind, CELLS), None))


@pytest.mark.parametrize("seed", range(3))
def test_connect_schemas(seed: int) -> None:
    """Rows by embedded schemas of any columns are the same."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    messages = [json.dumps(_with_schema(draw)).encode() for _ in range(1500)]
    compare(batch_of(messages), DecodeOptions("lindorm-json", key_columns=["a"]))
    compare(batch_of(messages), DecodeOptions("lindorm-json", key_columns=["z", "a"]))
    compare(
        batch_of(messages, [b'{"a":1,"b":"AQ=="}'] * len(messages)), DecodeOptions("lindorm-json")
    )


def _with_schema(draw: random.Random) -> dict[str, Any]:
    fields = [
        {
            **draw.choice(COLUMN_TYPES[:9] if draw.random() < 0.5 else COLUMN_TYPES),
            "field": name,
            "optional": draw.random() < 0.7,
        }
        for name in draw.sample(["a", "b", "c", "ROW"], 2)
    ]
    images = [{"type": "struct", "field": name, "fields": fields} for name in ("before", "after")]
    types = {field["field"]: str(field["type"]) for field in fields}
    before, after = (
        {n: cell(types.get(n, "string"), draw) for n in draw.sample([*types, "z"], 2)}
        for _ in range(2)
    )
    source = {"namespace": "n", "table": "t", "ts_ms": draw.choice((0, 1700000000123))}
    return {
        "schema": {"type": "struct", "fields": draw.sample(images, draw.choice((1, 2, 2, 2)))},
        "payload": {"op": "u", "ts_ms": 1, "before": before, "after": after, "source": source},
    }


TYPES = ("LONG", "DOUBLE", "STRING", "DATE", "BYTES", "BOOLEAN", "GEOMETRY")


@pytest.mark.parametrize("seed", range(3))
def test_dataworks_schemas(seed: int) -> None:
    """Rows of tables with columns of any types are the same."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    texts = ("1.10", "1.1", "-0.0", "1e3", "0.0000001", "0.000000", "12", "+1", "007")
    messages: list[bytes] = []
    hidden = ("#alibaba_rds_row_id#", "_drds_implicit_id_")
    for _ in range(2000):
        columns = [{"name": name, "type": draw.choice(TYPES)} for name in "abc"]
        columns += [
            {"name": name, "type": "LONG"}
            for name in draw.sample(hidden, draw.choice((0, 0, 1, 2)))
        ]
        before, after = (
            {column["name"]: cell(column["type"], draw) for column in columns} for _ in range(2)
        )
        if draw.random() < 0.5:
            after = {**before, "b": draw.choice((*CELLS, *texts))}
        for image in draw.choice(([], [after], [before, after])):
            del image[draw.choice([*image])]
        payload = {
            "op": draw.choice(("INSERT", "UPDATE_AFTER", "UPDATE_AFTER", "DELETE", "UPDATE_BEFOR")),
            "before": {"dataColumn": before},
            "after": {"dataColumn": after},
            "sequenceId": draw.choice(("17", "-1", None, "18", "19", "x")),
            "timestamp": {"eventTime": draw.choice((-1, 1700000000123))},
            "ddl": draw.choice((None, {"text": "a\n\u00e9", "ddlMeta": "AAE="}, {"text": ""})),
        }
        key = draw.choice((None, [], ["a"], ["a", "b"], ["a", "a"], ["d"], ["A"]))
        schema = {
            "dataColumn": columns,
            "primaryKey": key,
            "source": {"dbName": "", "tableName": "t"},
        }
        message = {"schema": schema, "payload": payload, "version": "0.0.1"}
        messages.append(json.dumps(message, ensure_ascii=draw.random() < 0.5).encode())
    compare(batch_of(messages), DecodeOptions("dataworks-json"))
    compare(batch_of(messages), DecodeOptions("dataworks-json", "patch"))
    compare(batch_of(messages), DecodeOptions("dataworks-json", key_columns=["b", "a", "b"]))
    zoned = compare(batch_of(messages), DecodeOptions("dataworks-json", time_zone="Asia/Shanghai"))
    assert zoned.share > 0


@pytest.mark.parametrize("seed", range(2))
def test_batches(seed: int) -> None:
    """Batches of any messages, of any length, have the same rows beside messages alone."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    good = [value for value, _ in examples("aerospike-json") if value and len(value) < 600]
    pool = [*good[:500], *damaged("aerospike-json", good, 60, seed)]
    values: list[bytes | None] = []
    for _ in range(800):
        elements = draw.sample(pool, draw.choice((0, 1, 2, 5, 40)))
        comma = draw.choice((b",", b" ,\n"))
        values += [b"[" + comma.join(elements) + b"]", *draw.sample(good, draw.choice((0, 1)))]
    keys = [draw.choice((None, b"key")) for _ in values]
    compare(batch_of(values, keys), DecodeOptions("aerospike-json", "patch"))
    found = compare(batch_of(values, keys), DecodeOptions("aerospike-json"))
    assert found.share > 0.5


def test_a_long_batch() -> None:
    """A batch whose rows are cut into several record batches has the same rows."""
    good = next(value for value, _ in examples("aerospike-json") if value and value[:1] == b"{")
    long = b"[" + b",".join([good] * 11_000) + b"]"
    compare(batch_of([good, long, b"x", long], [b"k" * 1000] * 4), DecodeOptions("aerospike-json"))
