"""Messages of each format, from files to tables of delta-rs: those that the semantics say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from deltalake import DeltaTable
from tests.runtime.engines.merge_local.lake import Lake
from tests.runtime.engines.same import in_text, parsed
from tests.runtime.tables.histories import applied, change, content, placed
from tests.samples import FORMAT

import changewire as cw
import changewire.delta as cwd
from changewire.changes.decode_options import AUTO, DecodeOptions
from changewire.engines.log import LOG_COLUMNS
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
    """Every row of every table is there with every value as its text; no other is."""
    folder = EXAMPLES / FOLDERS[name]
    target = f"{tmp_path}/{{system}}/{{database}}/{{table}}"
    recorded = list[int]()
    how = {"row_schema": "json", "default_table": "none"}
    options: dict[str, Any] = {"format": name, "target": target, **how}
    log = f"{tmp_path}/log"
    outcome = cwd.apply_changes(folder, **options, log=log, progress=recorded.append)
    assert recorded == [outcome.counts.messages]
    tables = MemoryTables()
    placed = [*placed_of(folder, name)]
    apply_changes(tables, placed, Routing(template_of(target), "none"))
    assert tables.tables
    for table in tables.tables.values():
        rows = rows_of(Path(table.target.name))
        expected = {
            key_text(entry.key): {**entry.key, **entry.state.values}
            for entry in table.entries.values()
            if entry.state.values is not None
        }
        assert rows.keys() == expected.keys(), table.target.name
        for key, row in expected.items():
            assert in_text(rows[key], row), (table.target.name, key)
    rows_in_log = DeltaTable(log).to_pyarrow_table()
    assert tuple(rows_in_log.column_names) == LOG_COLUMNS
    kinds = Counter(rows_in_log["kind"].to_pylist())
    counts = outcome.counts
    assert (kinds["change"], kinds["control"]) == (counts.changes, counts.controls)
    assert kinds["dead_letter"] == counts.dead_letters


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
        target = f"{tmp_path}/{{database}}/{{table}}"
        options: dict[str, Any] = {"row_schema": "json", "target": target, "tombstones": "delete"}
        counts = cwd.apply_changes(table, format=FORMAT, log=f"{tmp_path}/log", **options).tables
    assert counts == {"deleted": 1, "sequence_inherited": 1}
    (left,) = rows_of(tmp_path / "n" / "s")
    assert msgspec.json.decode(left) == {"aerospike_digest": msgspec.json.decode(other)[2]}


def test_hostile_names_and_values(tmp_path: Path) -> None:
    """Whatever columns, keys and topics are called, and the folder: they are data, and no SQL."""
    lake = Lake(tmp_path / "a b'c;#é $ü")
    names = ['"a"', "a'b; DROP", "`x`", "rows", "held", "KEY", "row", "_changewire", "{0}", "\0\n"]
    values: dict[str, Any] = {name: f"{name}'); --" for name in names}
    keys = [*values.values(), "", "\U0001f600", "\\", "%20", "null"]
    first = placed(*(change(key=key, **values) for key in keys))
    again = placed(
        *(change("update", key, 2, row_image="patch", before=values) for key in keys[::2]),
        *(change("delete", key, 2) for key in keys[1::2]),
        start=len(keys),
    )
    lake.apply(first)
    lake.apply(again)
    assert lake.content() == content(applied(first, again)[0])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"row_schema": "nested"}, "the file 'nested' is missing"),
        ({"row_schema": pa.schema({"a": pa.uint8()})}, "a row has no column of type uint8"),
        (
            {"row_schema": pa.schema({"a": pa.list_(pa.decimal128(9, -2))})},
            r"column 'a': expected 1 to 38 digits .* no column of type decimal\(9,-2\)",
        ),
        ({"row_schema": pa.schema({"a": pa.decimal128(5, 7)})}, "column 'a': expected 1 to 38 dig"),
        ({"row_schema": pa.schema([])}, "row_schema: expected one column or more, found none"),
        (
            {"row_schema": pa.schema([("a", pa.int8()), ("a", pa.int64())])},
            "row_schema: expected one column 'a', found more",
        ),
        (
            {"row_schema": pa.schema({"a": pa.int8(), "A": pa.int8()})},
            "row_schema: column 'A' differs from 'a' in case only",
        ),
        (
            {"row_schema": pa.schema({"a": pa.struct([])})},
            "row_schema: column 'a' cannot be in a table: it is a struct without fields",
        ),
        ({"schema_evolution": "any"}, "no schema_evolution 'any'; there are: add_columns"),
        ({"deletes": "keep"}, "no deletes 'keep'; there are: remove, flag"),
        ({"max_dead_letters": "x"}, "max_dead_letters is a number such as 100"),
        ({"batch_size": 0}, "batch_size is a number from 1, not 0"),
        ({"format": "avro"}, "avro"),
        ({"log": "log"}, "has no slash"),
        ({"target": "lake.{table}"}, "has no slash"),
        ({"target": "/lake/{tabel}"}, "is not a field of a target"),
        ({"target": "/la[ke/{table}"}, r"'\[' in a path means something else"),
        ({"target": "/la%20ke/{table}"}, "'%' in a path means something else"),
        ({"target": "file:///lake#1/{table}"}, "'#' in a path means something else"),
        ({"log": "s3://lake/log?1"}, r"'\?' in a path means something else"),
        ({"target": "file:/lake/{table}"}, "after 'file:' come two slashes and the whole path"),
        ({"target": "file:lake/{table}"}, "after 'file:' come two slashes"),
        ({"log": "file:/lake/log"}, "after 'file:' come two slashes"),
    ],
)
def test_what_cannot_be_done_is_refused_first(
    options: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    """A sentence says what is wrong, and nothing is made."""
    places = {"log": f"{tmp_path}/log", "target": f"{tmp_path}/{{table}}"}
    given: dict[str, Any] = {**places, "format": FORMAT, **options}
    with pytest.raises(ValueError, match=sentence):
        cwd.apply_changes([b"{}"], **given)
    assert not [*tmp_path.iterdir()]


def test_a_file_that_cannot_be_read_leaves_the_log(tmp_path: Path) -> None:
    """What earlier runs logged stays where a run ends early."""
    lake = Lake(tmp_path)
    lake.apply(placed(change(key=1)))
    before = lake.log()
    with pytest.raises(FramingError, match="no such file"):
        cwd.apply_changes(str(tmp_path / "none.jsonl"), format=FORMAT, **lake.places)
    assert lake.log() == before
