"""Messages of each format, from files to tables of delta-rs: those that the semantics say."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from tests.runtime.engines.same import in_text, parsed
from tests.samples import FORMAT, MIXED_COUNTS, mixed_messages

import changewire as cw
import changewire.delta as cwd
from changewire.changes.decode_options import AUTO, DecodeOptions
from changewire.engines.layout import CHANGES_TABLE, DEAD_LETTERS_TABLE
from changewire.framing import FramingError, expand, read
from changewire.tables import (
    MemoryTables,
    PositionedChange,
    Routing,
    apply_changes,
    position_of,
    template_of,
)
from changewire.tables.keys import key_text
from changewire_messages.change import Change

EXAMPLES = Path(__file__).parents[4] / "examples"
FOLDERS = {**{name: name.replace("-", "_") for name in cw.formats()}, AUTO: "mixed"}
NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)


def placed_of(folder: Path, format: str) -> Iterator[PositionedChange]:
    """Yield the changes of a folder of files."""
    decode_options = DecodeOptions(format)
    for path in expand([str(folder)]):
        for record in read(path, shape="auto"):
            elements = decode_options.elements(record.value, record.key)
            for number, (element, _) in enumerate(elements):
                if isinstance(element, Change):
                    yield PositionedChange(element, position_of(record.position, number))


def rows_of(folder: Path) -> dict[str, Any]:
    """Return the rows of a table of delta-rs by the text of their keys."""
    table = DeltaTable(str(folder)).to_pyarrow_table(columns=["key", "row"])
    rows = {row["key"]: parsed(row["row"]) for row in table.to_pylist()}
    assert len(rows) == len(table)
    return rows


@pytest.mark.parametrize("name", FOLDERS)
def test_tables_of_a_format(name: str, tmp_path: Path) -> None:
    """Every row of every table is there, with every value as its text, and no other."""
    folder = EXAMPLES / FOLDERS[name]
    target = f"{tmp_path}/{{system}}/{{database}}/{{table}}"
    told = list[int]()
    options: dict[str, Any] = {"format": name, "target": target, "null_set": "none"}
    places: dict[str, Any] = {
        "output": f"{tmp_path}/out",
        "checkpoint": f"{tmp_path}/checkpoint",
    }
    outcome = cwd.apply_changes(folder, **options, **places, progress=told.append)
    assert told == [outcome.counts.messages]
    tables = MemoryTables()
    placed = [*placed_of(folder, name)]
    apply_changes(tables, placed, Routing(template_of(target), "none"), NOW)
    assert tables.tables
    for table in tables.tables.values():
        rows = rows_of(Path(table.target.name))
        expected = {
            key_text(entry.key): {**entry.key, **(entry.state.values or {})}
            for entry in table.rows.values()
        }
        assert rows.keys() == expected.keys(), table.target.name
        for key, row in expected.items():
            assert in_text(rows[key], row), (table.target.name, key)
    changes = pq.read_table(tmp_path / "out" / "changes")
    assert tuple(changes.column_names) == CHANGES_TABLE
    assert len(changes) == outcome.counts.changes


def apply(messages: Any, root: Path, **options: Any) -> cwd.Outcome:
    """Apply messages to tables below a folder."""
    given: dict[str, Any] = {"format": FORMAT, "null_set": "none", **options}
    return cwd.apply_changes(
        messages,
        target=f"{root}/{{database}}/{{table}}",
        output=f"{root}/out",
        checkpoint=f"{root}/checkpoint",
        **given,
    )


def test_every_element_is_in_one_output(tmp_path: Path) -> None:
    """Outputs are those of a run, and what no table takes is a dead letter with its message."""
    outcome = apply(mixed_messages(), tmp_path, null_set=None, batch_size=4, show_values=True)
    counts = outcome.counts.as_dict()
    # Two writes of the messages name no set, and without `null_set` no table takes them.
    refused = counts["by_error_code"]["table-missing"]
    assert refused > 0
    assert counts["elements"] == MIXED_COUNTS["elements"]
    assert counts["changes"] == MIXED_COUNTS["changes"] - refused
    letters = pq.read_table(tmp_path / "out" / "dead_letters")
    assert tuple(letters.column_names) == DEAD_LETTERS_TABLE
    (*_, letter) = (row for row in letters.to_pylist() if row["code"] == "table-missing")
    assert letter["value"] in mixed_messages()
    assert letter["message"].startswith("table-missing: /source: the change does not say")
    assert len(outcome.first_dead_letters) == counts["dead_letters"]
    assert len(pq.read_table(tmp_path / "out" / "changes")) == counts["changes"]


def test_messages_come_from_anywhere(tmp_path: Path) -> None:
    """Bytes and tables of Arrow are read as `changewire.arrow` reads them."""
    messages = [message for message in mixed_messages() if message is not None]
    outcome = apply(messages, tmp_path / "bytes")
    keys = [b"k%d" % i for i in range(len(messages))]
    table = pa.table({"value": messages, "key": keys, "topic": ["t"] * len(messages)})
    again = apply(table, tmp_path / "table")
    letters = pq.read_table(tmp_path / "table" / "out" / "dead_letters")
    assert letters.column("key").to_pylist() == [
        keys[messages.index(value)] for value in letters.column("value").to_pylist()
    ]
    assert outcome.tables is not None
    assert outcome.tables["applied"] > 0
    assert again.counts.as_dict() == outcome.counts.as_dict()


def test_deletes_by_record_keys(tmp_path: Path) -> None:
    """A tombstone of a compacted topic removes the row that its key names."""
    key, other = (f'["n", "s", "{text * 26}A=", 1]' for text in "AB")
    counts = None
    for gone in (None, key):
        rows = [
            (f'{{"msg": "write", "key": {name}, "gen": 1, "exp": 0, "lut": 5, "bins": []}}', name)
            for name in (key, other)
        ]
        sent = [(None, gone)] if gone else rows
        table = pa.table(
            {
                "value": pa.array([value for value, _ in sent], pa.string()),
                "key": [name for _, name in sent],
                "topic": ["t"] * len(sent),
                "partition": pa.array([0] * len(sent), pa.int32()),
                "offset": [i + (10 if gone else 0) for i, _ in enumerate(sent)],
            }
        )
        counts = apply(table, tmp_path, null_value="delete").tables
    assert counts == {"applied": 1, "ordered_by_position": 1, "sequence_inherited": 1}
    (left,) = rows_of(tmp_path / "n" / "s")
    assert msgspec.json.decode(left) == {"aerospike_digest": msgspec.json.decode(other)[2]}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"rows": "embedded"}, "messages of aerospike-json hold no schema"),
        ({"rows": "nested"}, "'nested' is no pyarrow.Schema, no StructType"),
        ({"rows": pa.schema({"a": pa.uint8()})}, "a row has no column of type uint8"),
        ({"schema_evolution": "any"}, "no schema_evolution 'any'; there are: add_columns"),
        ({"batch_size": 0}, "batch_size is a number from 1, not 0"),
        ({"format": "avro"}, "avro"),
        ({"target": "lake.{table}"}, "has no slash"),
        ({"target": "/lake/{tabel}"}, "is no field of a target"),
        ({"target": "/la[ke/{table}"}, r"'\[' in a path means something else"),
        ({"target": "/la%20ke/{table}"}, "'%' in a path means something else"),
    ],
)
def test_what_cannot_be_done_is_refused_first(
    options: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    """A sentence says what is wrong, and nothing is made."""
    given: dict[str, Any] = {"target": f"{tmp_path}/{{table}}", "format": FORMAT, **options}
    places: dict[str, Any] = {
        "output": f"{tmp_path}/out",
        "checkpoint": f"{tmp_path}/checkpoint",
    }
    with pytest.raises(ValueError, match=sentence):
        cwd.apply_changes([b"{}"], **given, **places)
    assert not [*tmp_path.iterdir()]


def test_a_file_that_cannot_be_read_leaves_the_outputs(tmp_path: Path) -> None:
    """Outputs of the last run stay where a run ends early."""
    apply(mixed_messages(), tmp_path)
    before = pq.read_table(tmp_path / "out" / "changes")
    with pytest.raises(FramingError, match="no such file"):
        apply([b'{"msg": "x"}', str(tmp_path / "none.jsonl")], tmp_path)
    assert pq.read_table(tmp_path / "out" / "changes").equals(before)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "changes",
        "controls",
        "dead_letters",
    }
