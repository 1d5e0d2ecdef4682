"""Tables of others without Spark: constraints, columns of their own, and what delta-rs lacks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Field, Schema, write_deltalake
from deltalake.schema import PrimitiveType, StructType
from tests.runtime.engines.merge.messages import message, records
from tests.runtime.engines.merge_local.lake import Lake
from tests.runtime.tables.histories import change, placed

import changewire.delta as cwd
from changewire.engines.applied import KEYS, property_text
from changewire.engines.errors import OutputError
from changewire.engines.merge.table import STATE

AMOUNTS = {"id": "LONG", "v": "STRING", "amount": "LONG"}
POSITIVE = {"amount_is_positive": "amount > 0"}


def sent(sequence: int, key: int, amount: Any, *, op: str = "INSERT", table: str = "t") -> bytes:
    """Return a message about a row with an amount."""
    row = {"id": key, "v": f"v{sequence}", "amount": amount}
    return message(op, sequence, row, table=table, types=AMOUNTS)


def made(
    lake: Lake,
    *fields: Field,
    rows: dict[str, list[Any]] | None = None,
    partitions: tuple[str, ...] = (),
    properties: dict[str, str] | None = None,
    keys: tuple[str, ...] = ("id",),
) -> str:
    """Make the table ``t`` as another program would, ready to be adopted; return its path."""
    path = f"{lake.root}/tables/t"
    state = Schema.from_arrow(pa.schema([STATE])).fields
    DeltaTable.create(
        path,
        Schema([*fields, *state]),
        partition_by=[*partitions],
        configuration={KEYS: property_text([*keys]), **(properties or {})},
        raise_if_key_not_exists=False,
    )
    if rows is not None:
        schema = pa.schema(DeltaTable(path).schema().to_arrow())
        found = pa.table({one.name: rows.get(one.name, [None]) for one in schema}, schema)
        write_deltalake(path, found, mode="append")
    return path


def field(name: str, kind: str, *, nullable: bool = True, **metadata: Any) -> Field:
    """Return a column."""
    return Field(name, PrimitiveType(kind), nullable=nullable, metadata=metadata)


def values(lake: Lake, *names: str, table: str = "t") -> list[tuple[Any, ...]]:
    """Return some columns of the rows of a table that are not deleted, sorted."""
    rows = [one for one in lake.rows(table) if not (one["_changewire"] or {}).get("deleted")]
    return sorted((tuple(one[name] for name in names) for one in rows), key=repr)


def refusals(lake: Lake) -> list[tuple[int, str]]:
    """Return offset and message of each refusal in the log."""
    return sorted((row["offset"], row["message"]) for row in lake.log("refused"))


def of(name: str) -> str:
    """Return the message of a change that a constraint refuses."""
    text = f"the table has the constraint {name}, which this change does not satisfy"
    return f"constraint: /after: {text}"


def test_a_change_that_breaks_a_check_is_refused_alone(tmp_path: Path) -> None:
    """The rest of its batch is in the table, other tables and the log go on, and runs add up."""
    lake = Lake(tmp_path)
    lake.apply_records(records(sent(10, 1, 10)), row_schema="embedded")
    DeltaTable(f"{tmp_path}/tables/t").alter.add_constraint(POSITIVE)
    second = records(sent(11, 2, 20), sent(12, 5, -5), sent(14, 9, 9, table="u"), start=1)
    outcome = lake.apply_records(second, row_schema="embedded")
    assert outcome.tables == {"inserted": 2, "refused": 1}
    assert values(lake, "id", "amount") == [(1, 10), (2, 20)]
    assert values(lake, "id", "amount", table="u") == [(9, 9)]
    assert refusals(lake) == [(2, of("amount_is_positive"))]
    assert len(lake.log("change")) == len(second) + 1
    assert lake.apply_records(second, row_schema="embedded").tables == {}
    lake.apply_records(records(sent(15, 5, 5), start=9), row_schema="embedded")
    assert values(lake, "id", "amount") == [(1, 10), (2, 20), (5, 5)]


def test_what_comes_before_and_after_a_refused_change_is_applied(tmp_path: Path) -> None:
    """Batches of any size leave the same row and the same refusals."""
    sends = [
        *(sent(number, 1, amount) for number, amount in enumerate((5, -1, -2, 6, -3), 10)),
        *(sent(number, 2, amount) for number, amount in enumerate((-1, -2), 20)),
        *(sent(number, 3, amount) for number, amount in enumerate((7, -1), 30)),
        sent(40, 3, 7, op="DELETE"),
        sent(41, 3, -1),
    ]
    found = []
    for size in (1, 3, 100):
        lake = Lake(tmp_path / str(size))
        made(lake, field("id", "long"), field("v", "string"), field("amount", "long"))
        DeltaTable(f"{lake.root}/tables/t").alter.add_constraint(POSITIVE)
        lake.apply_records(records(*sends), row_schema="embedded", batch_size=size)
        assert values(lake, "id", "v", "amount") == [(1, "v13", 6)]
        found.append([offset for offset, _ in refusals(lake)])
    assert found == [[1, 2, 4, 5, 6, 8, 10]] * 3


@pytest.mark.parametrize("size", [1, 100])
def test_a_patch_is_refused_by_the_row_that_it_would_leave(tmp_path: Path, size: int) -> None:
    """Patches of other columns of the row are applied, and a later good one too."""
    lake = Lake(tmp_path)
    row = pa.schema([("id", pa.int64()), ("low", pa.int64()), ("high", pa.int64())])
    kinds = dict.fromkeys(row.names, "LONG")
    lake.apply_records(
        records(message("INSERT", 1, {"id": 1, "low": 1, "high": 5}, types=kinds)), row_schema=row
    )
    DeltaTable(f"{tmp_path}/tables/t").alter.add_constraint({"ordered": "low <= high"})
    patches = [{"low": 9}, {"high": 6}, {"low": 6}, {"high": 2}]
    sends = [
        message("UPDATE_AFTER", number, {"id": 1, **patch}, types=kinds)
        for number, patch in enumerate(patches, 2)
    ]
    lake.apply_records(
        records(*sends, start=10), row_schema=row, row_image="patch", batch_size=size
    )
    assert values(lake, "id", "low", "high") == [(1, 6, 6)]
    assert refusals(lake) == [(10, of("ordered")), (13, of("ordered"))]


def test_a_late_change_that_would_break_a_constraint_does_nothing(tmp_path: Path) -> None:
    """It is older than its row, so it is not refused, also beside one that is."""
    lake = Lake(tmp_path)
    made(lake, field("id", "long"), field("v", "string"), field("amount", "long"))
    DeltaTable(f"{lake.root}/tables/t").alter.add_constraint(POSITIVE)
    lake.apply_records(records(sent(10, 1, 10)), row_schema="embedded")
    late = records(sent(9, 1, -9), sent(11, 2, -2), sent(12, 3, 3), start=10)
    assert lake.apply_records(late, row_schema="embedded").tables == {"inserted": 1, "refused": 1}
    assert values(lake, "id", "amount") == [(1, 10), (3, 3)]
    assert refusals(lake) == [(11, of("amount_is_positive"))]


@pytest.mark.parametrize(("value", "code"), [(-1, "constraint"), ("text", "wrong-type")])
def test_a_row_whose_move_is_refused_stays(tmp_path: Path, value: Any, code: str) -> None:
    """A change is applied as a whole: its old key is not deleted if the new row is refused."""
    lake = Lake(tmp_path)
    row = pa.schema([("id", pa.int64()), ("a", pa.int64())])
    lake.apply(placed(change(key=1, a=1), change(key=3, a=3)), row_schema=row)
    DeltaTable(f"{tmp_path}/tables/t").alter.add_constraint({"positive": "a > 0"})
    moves = [
        change("update", new, 2, old=old, before={"id": old}, a=a)
        for old, new, a in ((1, 2, value), (3, 4, 4))
    ]
    lake.apply(placed(*moves, start=10), row_schema=row)
    assert values(lake, "id", "a") == [(1, 1), (4, 4)]
    assert [(one["offset"], one["code"]) for one in lake.log("refused")] == [(10, code)]


def test_rows_of_json_text_have_constraints_too(tmp_path: Path) -> None:
    """A condition on their text refuses a change, with its name."""
    lake = Lake(tmp_path)
    lake.apply_records(records(sent(10, 1, 10)))
    DeltaTable(f"{tmp_path}/tables/t").alter.add_constraint({"no_five": "row NOT LIKE '%:5}'"})
    lake.apply_records(records(sent(11, 1, 5), sent(12, 2, 4), start=1))
    assert lake.json_rows() == {
        1: {"id": 1, "v": "v10", "amount": 10},
        2: {"id": 2, "v": "v12", "amount": 4},
    }
    assert refusals(lake) == [(1, of("no_five"))]


@pytest.mark.parametrize(
    "condition",
    ["100 / amount > 1", "cast(CASE WHEN amount = 0 THEN v ELSE '1' END AS bigint) > 0"],
)
def test_a_condition_that_fails_for_a_value_refuses_its_change(
    tmp_path: Path, condition: str
) -> None:
    """Neither a division by zero nor a cast fails the run: the other rows are merged."""
    lake = Lake(tmp_path)
    lake.apply_records(records(sent(10, 1, 10)), row_schema="embedded")
    DeltaTable(f"{tmp_path}/tables/t").alter.add_constraint({"share": condition})
    sends = [sent(11 + number, number, number % 7) for number in range(20)]
    lake.apply_records(records(*sends, start=10), row_schema="embedded")
    keys = sorted(key for key, _ in values(lake, "id", "amount"))
    assert keys == [number for number in range(20) if number % 7]
    assert refusals(lake) == [(10 + number, of("share")) for number in (0, 7, 14)]


def varchar(name: str, kind: str) -> Field:
    """Return a column of text with a length, as Spark writes it."""
    return field(name, "string", __CHAR_VARCHAR_TYPE_STRING=kind)


FOLDER = "text partition v: the name of its folder has at most 255 bytes"


@pytest.mark.parametrize(
    ("column", "texts", "name"),
    [
        (field("v", "string", nullable=False), ("a", None), "NOT NULL of v"),
        (varchar("v", "varchar(3)"), ("äöü", "äöüß"), "VARCHAR(3) of v"),
        (varchar("v", "varchar(3)"), (None, "abc "), "VARCHAR(3) of v"),
        (varchar("v", "char(3)"), ("abc", "abcd"), "CHAR(3) of v"),
        (field("v", "string"), ("a", ""), "text partition v: '' is stored as NULL"),
        (field("v", "string"), (None, ""), "text partition v: '' is stored as NULL"),
        (
            field("v", "string"),
            ("a/b=%20", "__HIVE_DEFAULT_PARTITION__"),
            "text partition v: '' is stored as NULL",
        ),
        (field("v", "string"), ("文" * 28 + "~", "文" * 28 + "ab"), FOLDER),
        (field("v", "string"), ("%" * 84 + "a", "%" * 84 + "ab"), FOLDER),
        (field("v", "string"), ("x" * 253, "x" * 254), FOLDER),
    ],
)
def test_a_value_that_a_column_does_not_take_is_refused(
    tmp_path: Path, column: Field, texts: tuple[str | None, str | None], name: str
) -> None:
    """NOT NULL, lengths, and texts that are NULL as partitions: in inserts and in updates."""
    lake = Lake(tmp_path)
    good, bad = texts
    partitions = ("v",) if "partition" in name else ()
    made(lake, field("id", "long"), column, partitions=partitions)
    kinds = {"id": "LONG", "v": "STRING"}
    sends = [
        message(op, sequence, {"id": key, "v": value}, types=kinds)
        for op, sequence, key, value in (
            ("INSERT", 1, 1, good),
            ("INSERT", 2, 2, bad),
            ("UPDATE_AFTER", 3, 1, bad),
            ("INSERT", 4, 3, good),
            ("DELETE", 5, 3, good),
        )
    ]
    lake.apply_records(records(*sends), row_schema="embedded")
    assert values(lake, "id", "v") == [(1, good)]
    assert refusals(lake) == [(1, of(name)), (2, of(name))]


def test_values_of_char_have_blanks_as_spark_writes_them(tmp_path: Path) -> None:
    """A shorter value is filled up; NULL stays."""
    lake = Lake(tmp_path)
    made(lake, field("id", "long"), varchar("v", "char(3)"))
    kinds = {"id": "LONG", "v": "STRING"}
    sends = [
        message("INSERT", n, {"id": n, "v": v}, types=kinds) for n, v in enumerate(("a", None))
    ]
    lake.apply_records(records(*sends), row_schema="embedded")
    assert values(lake, "id", "v") == [(0, "a  "), (1, None)]


def test_a_flagged_delete_that_a_check_forbids_is_refused(tmp_path: Path) -> None:
    """A deleted row has its key alone; a condition may take it by ``_changewire``."""
    lake = Lake(tmp_path)
    deletes = records(sent(11, 1, 10, op="DELETE"), start=10)
    lake.apply_records(records(sent(10, 1, 10)), row_schema="embedded", deletes="flag")
    table = DeltaTable(f"{tmp_path}/tables/t")
    table.alter.add_constraint(POSITIVE)
    lake.apply_records(deletes, row_schema="embedded", deletes="flag")
    assert values(lake, "id", "amount") == [(1, 10)]
    assert refusals(lake) == [(10, of("amount_is_positive"))]
    table = DeltaTable(f"{tmp_path}/tables/t")
    table.alter.drop_constraint("amount_is_positive")
    table.alter.add_constraint({"live": "_changewire.deleted OR amount > 0"})
    again = records(sent(12, 1, 10, op="DELETE"), sent(12, 2, -2), start=20)
    lake.apply_records(again, row_schema="embedded", deletes="flag")
    assert values(lake, "id") == []
    assert refusals(lake)[1:] == [(21, of("live"))]


FORBIDS = (
    "deletes='flag' keeps deleted rows, with NULL in all columns but those of the key, and the"
)
ADOPTED: list[tuple[list[Field], tuple[str, ...], dict[str, str], str]] = [
    (
        [field("id", "string"), field("v", "string")],
        ("id",),
        {},
        "the key's column id is a partition column of text, which has NULL for ''",
    ),
    (
        [varchar("id", "char(5)"), field("v", "string")],
        (),
        {},
        "the key's column id is CHAR, which adds blanks to values",
    ),
    (
        [field("id", "string", nullable=False), field("paid", "string", nullable=False)],
        (),
        {},
        f"{FORBIDS} constraint NOT NULL of paid forbids that",
    ),
    (
        [field("id", "string"), field("v", "string")],
        (),
        {"delta.constraints.some": "v <> ''"},
        f"{FORBIDS} constraint some forbids that",
    ),
]


@pytest.mark.parametrize(("fields", "partitions", "properties", "reason"), ADOPTED)
def test_a_table_that_cannot_be_kept_right_is_not_adopted(
    tmp_path: Path,
    fields: list[Field],
    partitions: tuple[str, ...],
    properties: dict[str, str],
    reason: str,
) -> None:
    """One sentence says why, and the table stays as it is."""
    lake = Lake(tmp_path)
    path = made(lake, *fields, partitions=partitions, properties=properties)
    deletes = "flag" if "flag" in reason else "remove"
    kinds = {"id": "STRING", "v": "STRING"}
    one = records(message("INSERT", 1, {"id": "a", "v": "x"}, types=kinds))
    with pytest.raises(OutputError) as raised:
        lake.apply_records(one, row_schema="embedded", deletes=deletes)
    assert str(raised.value).startswith(f"{path}: {reason}")
    assert DeltaTable(path).version() == 0


@pytest.mark.parametrize("state", [1, {"deleted": True}])
def test_a_table_with_another_column_of_the_name_is_not_adopted(tmp_path: Path, state: Any) -> None:
    """The error says which type it has, and the table stays as it is."""
    path = f"{tmp_path}/t"
    write_deltalake(path, pa.table({"id": [1], "_changewire": [state]}))
    with pytest.raises(OutputError, match=r"the table has (big|struct<).*; rename it") as raised:
        cwd.adopt_table(path, key_columns=["id"])
    assert str(raised.value).startswith(f"{path}: a column _changewire of type struct<major:")
    assert DeltaTable(path).version() == 0


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (pa.list_(pa.int64()), "array<bigint>"),
        (pa.struct({"a": pa.int64()}), "struct<a:bigint>"),
        (pa.map_(pa.string(), pa.int64()), "map<string,bigint>"),
    ],
)
def test_a_table_is_not_adopted_by_a_key_that_is_not_compared(
    tmp_path: Path, kind: pa.DataType, name: str
) -> None:
    """The error names the column and its type, and the table stays as it is."""
    path = f"{tmp_path}/t"
    write_deltalake(path, pa.table({"id": pa.nulls(1, kind)}))
    with pytest.raises(OutputError) as raised:
        cwd.adopt_table(path, key_columns=["id"])
    reason = f"column 'id' is {name}, which cannot be compared"
    assert str(raised.value) == f"{path}: it cannot be adopted by this key: {reason}"
    assert DeltaTable(path).version() == 0


def test_a_key_of_the_table_may_be_not_null(tmp_path: Path) -> None:
    """Flagged deletes have their key."""
    lake = Lake(tmp_path)
    made(lake, field("id", "long", nullable=False), field("v", "string"))
    kinds = {"id": "LONG", "v": "STRING"}
    sends = [
        message(op, n, {"id": 1, "v": "a"}, types=kinds) for n, op in ((1, "INSERT"), (2, "DELETE"))
    ]
    lake.apply_records(records(*sends), row_schema="embedded", deletes="flag")
    (row,) = lake.rows()
    assert (row["id"], row["v"], row["_changewire"]["deleted"]) == (1, None, True)
    assert lake.log("refused") == []


def fields_in(struct: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the fields of a struct, at any depth."""
    for one in struct["fields"]:
        yield one
        if isinstance(one["type"], dict):
            yield from fields_in(one["type"])


def patched(path: str, protocol: dict[str, Any], **metadata: Any) -> None:
    """Give a table features that delta-rs does not make, and metadata to its columns."""
    commit = Path(path, "_delta_log", f"{0:020}.json")
    actions = [json.loads(line) for line in commit.read_text().splitlines()]
    for action in actions:
        if "protocol" in action:
            action["protocol"] = protocol
        if "metaData" in action:
            action["metaData"]["configuration"] |= metadata.get("properties", {})
            action["metaData"]["partitionColumns"] = metadata.get("partitions", [])
            schema = json.loads(action["metaData"]["schemaString"])
            for number, column in enumerate(fields_in(schema)):
                column["metadata"] |= metadata.get(column["name"], {})
                column["type"] = metadata.get("types", {}).get(column["name"], column["type"])
                mapped = {"id": number, "physicalName": column["name"]}
                column["metadata"] |= {f"delta.columnMapping.{one}": mapped[one] for one in mapped}
            action["metaData"]["schemaString"] = json.dumps(schema)
    commit.write_text("".join(f"{json.dumps(action)}\n" for action in actions))


LEGACY = {"minReaderVersion": 1, "minWriterVersion": 6}


def featured(name: str, *, is_for_readers: bool = False) -> dict[str, Any]:
    """Return a protocol with one feature."""
    readers = {"readerFeatures": [name]} if is_for_readers else {}
    versions = {"minReaderVersion": 3 if is_for_readers else 1, "minWriterVersion": 7}
    return {**versions, **readers, "writerFeatures": [name]}


@pytest.mark.parametrize(
    ("protocol", "metadata", "reason"),
    [
        (LEGACY, {"v": {"delta.identity.start": 1, "delta.identity.step": 1}}, "[IdentityColumns]"),
        (featured("allowColumnDefaults"), {"v": {"CURRENT_DEFAULT": "7"}}, "[AllowColumnDefaults]"),
        (LEGACY, {"v": {"delta.generationExpression": "id + 1"}}, "generated column v"),
        (featured("typeWidening", is_for_readers=True), {}, "typeWidening"),
        (
            featured("nonsense", is_for_readers=True),
            {},
            "Feature 'nonsense' is not supported",
        ),
        (featured("deletionVectors", is_for_readers=True), {}, "deletionVectors"),
        (featured("variantType", is_for_readers=True), {"types": {"v": "variant"}}, "variantType"),
        (
            {"minReaderVersion": 2, "minWriterVersion": 5},
            {"properties": {"delta.columnMapping.mode": "name"}},
            "column mapping",
        ),
        (
            {"minReaderVersion": 1, "minWriterVersion": 3},
            {"properties": {"delta.constraints.c": "v RLIKE 'a'"}},
            "constraint c, whose SQL it does not evaluate",
        ),
        (LEGACY, {"properties": {"delta.appendOnly": "true"}}, "append-only"),
        (LEGACY, {"partitions": ["raw"]}, "binary partition column raw"),
        (
            LEGACY,
            {"partitions": ["raw"], "types": {"raw": "decimal(12,2)"}},
            "decimal(12,2) partition column raw",
        ),
        (
            LEGACY,
            {"v": {"__CHAR_VARCHAR_TYPE_STRING": "array<char(3)>"}},
            "lengths of text inside column v",
        ),
    ],
)
def test_a_table_that_delta_rs_does_not_write_refuses_its_changes(
    tmp_path: Path, protocol: dict[str, Any], metadata: dict[str, Any], reason: str
) -> None:
    """It stays as it is, says to use Spark, and other tables and the log go on."""
    lake = Lake(tmp_path)
    path = made(lake, field("id", "long"), field("v", "long"), field("raw", "binary"))
    patched(path, protocol, **metadata)
    kinds = {"id": "LONG", "v": "LONG"}
    sends = [
        message("INSERT", 1, {"id": 1, "v": 2}, types=kinds, table=table) for table in ("t", "u")
    ]
    outcome = lake.apply_records(records(*sends), row_schema="embedded")
    assert outcome.tables == {"inserted": 1, "refused": 1}
    assert values(lake, "id", "v", table="u") == [(1, 2)]
    (why,) = lake.log("refused")
    text = f"delta-rs does not write the table ({reason}); use Spark"
    assert (why["code"], why["message"]) == (
        "table-not-writable",
        f"table-not-writable: /source: {text}",
    )
    assert not [*Path(path).rglob("*.parquet")]


ALL = {"id": "LONG", "v": "STRING", "note": "STRING"}


@pytest.mark.parametrize("rows", ["embedded", pa.schema([("id", pa.int64()), ("v", pa.string())])])
@pytest.mark.parametrize("partitions", [(), ("note",)])
def test_columns_that_nothing_names_are_never_written(
    tmp_path: Path, rows: Any, partitions: tuple[str, ...]
) -> None:
    """An update leaves them, an insert leaves them NULL; only a flagged delete empties them."""
    lake = Lake(tmp_path)
    other = Field("other", StructType([field("inner", "long", nullable=False)]))
    fields = (field("id", "long"), field("v", "string"), varchar("note", "varchar(9)"), other)
    held: dict[str, list[Any]] = {"id": [1], "v": ["a"], "note": ["keep"], "other": [{"inner": 1}]}
    made(lake, *fields, rows=held, partitions=partitions)
    kinds = {"id": "LONG", "v": "STRING"}
    for sequence, (op, key) in enumerate((("UPDATE_AFTER", 1), ("INSERT", 2)), 1):
        one = message(op, sequence, {"id": key, "v": f"v{sequence}"}, types=kinds)
        lake.apply_records(records(one, start=sequence), row_schema=rows, deletes="flag")
    assert values(lake, "id", "v", "note") == [(1, "v1", "keep"), (2, "v2", None)]
    gone = message("DELETE", 9, {"id": 1, "v": "v1"}, types=kinds)
    lake.apply_records(records(gone, start=9), row_schema=rows, deletes="flag")
    (row,) = (row for row in lake.rows() if row["id"] == 1)
    assert row.pop("_changewire")["deleted"]
    assert row == {"id": 1, "v": None, "note": None, "other": None}


def test_a_flagged_delete_that_a_constraint_on_another_column_forbids(tmp_path: Path) -> None:
    """It is refused alone, as a row with NULL there would be."""
    lake, kinds = Lake(tmp_path), {"id": "LONG", "v": "STRING"}
    fields = (field("id", "long"), field("v", "string"), field("note", "string"))
    rows: dict[str, list[Any]] = {"id": [1, 2], "v": ["a", "a"], "note": ["one", "two"]}
    made(lake, *fields, rows={**rows, "_changewire": [None, None]})
    options = dict[str, Any](row_schema="embedded", deletes="flag")
    first = message("UPDATE_AFTER", 1, {"id": 1, "v": "b"}, types=kinds)
    lake.apply_records(records(first), **options)
    DeltaTable(f"{tmp_path}/tables/t").alter.add_constraint({"noted": "note <> ''"})
    sends = [message("DELETE", 2, {"id": 1, "v": "b"}, types=kinds)]
    sends += [message("UPDATE_AFTER", 3, {"id": 2, "v": "c"}, types=kinds)]
    lake.apply_records(records(*sends, start=1), **options)
    assert values(lake, "id", "v", "note") == [(1, "b", "one"), (2, "c", "two")]
    assert refusals(lake) == [(1, of("noted"))]


def test_a_column_that_messages_named_is_null_if_they_no_longer_have_it(tmp_path: Path) -> None:
    """Also in a later run, and if another program made it; other columns are left."""
    lake = Lake(tmp_path)
    fields = (field(name, "string") for name in ("v", "note", "other"))
    row: dict[str, list[Any]] = {"id": [1], "v": ["a"], "note": ["old"], "other": ["keep"]}
    made(lake, field("id", "long"), *fields, rows=row)
    with_note = message("UPDATE_AFTER", 1, {"id": 1, "v": "b", "note": "new"}, types=ALL)
    lake.apply_records(records(with_note), row_schema="embedded")
    assert values(lake, "v", "note", "other") == [("b", "new", "keep")]
    kinds = {"id": "LONG", "v": "STRING"}
    without = message("UPDATE_AFTER", 2, {"id": 1, "v": "c"}, types=kinds)
    lake.apply_records(records(without, start=1), row_schema="embedded")
    assert values(lake, "v", "note", "other") == [("c", None, "keep")]


def test_a_column_that_messages_name_in_another_case_gets_the_value(tmp_path: Path) -> None:
    """As in all rows; nothing is rescued, and other columns are left."""
    lake = Lake(tmp_path)
    fields = (field(name, "string") for name in ("V", "note"))
    row: dict[str, list[Any]] = {"id": [1], "V": ["old"], "note": ["keep"]}
    made(lake, field("id", "long"), *fields, rows=row)
    one = message("UPDATE_AFTER", 1, {"id": 1, "v": "new"}, types={"id": "LONG", "v": "STRING"})
    outcome = lake.apply_records(records(one), row_schema="auto")
    assert outcome.tables == {"updated": 1}
    assert values(lake, "id", "V", "note") == [(1, "new", "keep")]


def test_a_column_that_is_added_to_a_table_is_left(tmp_path: Path) -> None:
    """A user adds a column to a table of changewire and fills it."""
    lake = Lake(tmp_path)
    lake.apply_records(records(sent(1, 1, 10)), row_schema="embedded")
    DeltaTable(f"{tmp_path}/tables/t").alter.add_columns([field("note", "string")])
    DeltaTable(f"{tmp_path}/tables/t").update({"note": "'mine'"})
    lake.apply_records(records(sent(2, 1, 20), start=1), row_schema="embedded")
    assert values(lake, "id", "amount", "note") == [(1, 20, "mine")]


def test_a_constraint_sees_columns_that_nothing_names(tmp_path: Path) -> None:
    """An update has those of its row; an insert has NULL, and is refused if that is forbidden."""
    lake = Lake(tmp_path)
    fields = (field("v", "long"), field("note", "string", nullable=False), field("top", "long"))
    row: dict[str, list[Any]] = {"id": [1], "v": [0], "note": ["keep"], "top": [5]}
    made(lake, field("id", "long"), *fields, rows=row)
    DeltaTable(f"{tmp_path}/tables/t").alter.add_constraint({"low": "top IS NULL OR v <= top"})
    kinds = {"id": "LONG", "v": "LONG"}
    sends = [
        message(op, sequence, {"id": key, "v": value}, types=kinds)
        for op, sequence, key, value in (
            ("UPDATE_AFTER", 1, 1, 3),
            ("UPDATE_AFTER", 2, 1, 7),
            ("INSERT", 3, 2, 1),
        )
    ]
    lake.apply_records(records(*sends), row_schema="embedded")
    assert values(lake, "id", "v", "note", "top") == [(1, 3, "keep", 5)]
    assert refusals(lake) == [(1, of("low")), (2, of("NOT NULL of note"))]


def test_not_null_inside_a_column_is_for_spark_to_write(tmp_path: Path) -> None:
    """Delta-rs writes no struct with a field that is NOT NULL; without the column it does."""
    lake = Lake(tmp_path)
    inner = StructType([field("a", "long", nullable=False)])
    made(lake, field("id", "long"), Field("s", inner))
    row = pa.schema([("id", pa.int64()), ("s", pa.struct([("a", pa.int64())]))])
    lake.apply(placed(change(key=1, s={"a": 1})), row_schema=row)
    (why,) = lake.log("refused")
    assert why["code"] == "table-not-writable"
    assert "(NOT NULL inside column s)" in why["message"]
    again = records(message("INSERT", 2, {"id": 1}, types={"id": "LONG"}), start=1)
    lake.apply_records(again, row_schema="embedded")
    assert values(lake, "id", "s") == [(1, None)]
