"""Tables of a query: names, owners, images in two messages, flags, types, and refused changes."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import DeltaProtocolError
from pyspark.sql.types import (
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)
from tests.runtime.engines.auto_cases import DIGESTS, write
from tests.runtime.engines.merge.lake import Lake, lake_in, one_by_one
from tests.runtime.engines.merge.messages import EXACT, message, records
from tests.runtime.engines.merge_local.lake import Lake as LocalLake
from tests.runtime.tables.histories import change, placed
from tests.runtime.tables.model import key_of

import changewire.arrow as cwa
from changewire.engines.applied import KEYS, OWNER
from changewire.engines.errors import OutputError
from changewire.engines.spark.log.rows import dead_letters, refused
from changewire.engines.spark.merge.current import current
from changewire.engines.spark.merge.formats import Delta, properties_of
from changewire.engines.spark.merge.purge import purge
from changewire.engines.spark.merge.rebuild import rebuild
from changewire.engines.spark.merge.verify import verify

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMAT = "dataworks-json"
OPS = ("INSERT", "UPDATE_AFTER", "UPDATE_AFTER")
DECIMALS = ("1234567890123456789.1", "1234567890123456789.2")


def rows(spark: SparkSession, lake: Lake, name: str = "t") -> dict[int, Any]:
    """Return the rows of a table of JSON text that are not deleted, by their id."""
    return {row["id"]: row for row in lake.json_rows(spark, name)}


class Thrice(NamedTuple):
    """A query that was started for each of three batches.

    Attributes:
        lake: Its log and its tables.
        ids: Ids of the rows of each table after each batch.
        counts: What tables did with each batch.
    """

    lake: Lake
    ids: dict[str, list[list[Any]]]
    counts: list[dict[str, Any]]


@pytest.fixture(scope="module")
def thrice(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Thrice:
    """Tables: ``moved``, whose updates are two messages; and ``late`` with late writes.

    Keys of ``late`` are decimals, and it has a folder without a commit before.
    """
    old, moved = {"id": 1, "name": "a"}, {"id": 2, "name": "a"}
    halves: list[list[tuple[Any, ...]]] = [
        [
            ("INSERT", 10, old),
            ("UPDATE_BEFOR", 11, None, old),
            ("UPDATE_AFTER", 11, {"id": "no number"}),
            ("INSERT", 10, {"id": 5, "name": "e"}),
            ("UPDATE_AFTER", 13, {"id": 6, "name": "e"}),
        ],
        [("UPDATE_BEFOR", 12, None, old)],
        [("UPDATE_AFTER", 12, moved), ("UPDATE_BEFOR", 13, None, {"id": 5, "name": "e"})],
    ]
    one, two = ({"id": text, "name": "a"} for text in DECIMALS)
    late: list[list[tuple[Any, ...]]] = [
        [("INSERT", 1, one), ("DELETE", 5, one)],
        [("UPDATE_AFTER", 3, one), ("INSERT", 6, two)],
        [("UPDATE_AFTER", 7, one)],
    ]
    tables: dict[str, list[list[Any]]] = {"moved": [], "late": []}
    made = Thrice(Lake(tmp_path_factory.mktemp("thrice")), tables, [])
    (made.lake.tables / "late" / "_delta_log").mkdir(parents=True)
    (made.lake.tables / "late" / "part-0.parquet").write_bytes(b"half")
    types = {"late": EXACT}
    for number, sent in enumerate(zip(halves, late, strict=True)):
        batch = [
            message(
                *change[:3],
                before=change[3] if len(change) > 3 else None,
                table=table,
                types=types.get(table),
            )
            for table, changes in zip(made.ids, sent, strict=True)
            for change in changes
        ]
        made.lake.send_records(records(*batch, start=10 * number))
        made.counts.extend(made.lake.apply_messages(spark, format=FORMAT))
        for table, found in made.ids.items():
            found.append(sorted(rows(spark, made.lake, table)))
    return made


def test_a_before_image_alone_deletes_nothing(spark: SparkSession, thrice: Thrice) -> None:
    """Its key is deleted once the after image is known and has another key, in either order."""
    assert thrice.ids["moved"] == [[1, 5, 6], [1, 5, 6], [2, 6]]
    waiting = [counts.get("waiting_before_images") for counts in thrice.counts]
    assert waiting == [1, 1, None]
    assert thrice.lake.faults(spark) == []


def test_a_late_write_does_not_bring_a_row_back(thrice: Thrice) -> None:
    """The delete is found in the log, also by a query that was started again.

    A key that is a decimal is the same number in the messages of a batch and in the log.
    """
    one, two = DECIMALS
    assert thrice.ids["late"] == [[], [two], [one, two]]


def test_names_lead_to_no_place_of_the_query(spark: SparkSession, tmp_path: Path) -> None:
    """A table named as the log, or as what is beside it, is refused, and nothing is overwritten."""
    lake = Lake(tmp_path)
    names = [("log", "a"), ("LOG", "a"), ("checkpoint", "x"), ("d", "t"), ("D", "t"), ("d", "T")]
    lake.send_records(
        records(
            *(
                message("INSERT", 10, {"id": 1}, database=database, table=table)
                for database, table in names
            ),
            message("INSERT", 10, {"id": 1}, table="t__tombstones"),
        )
    )
    target = f"{tmp_path}/{{database}}/{{table}}"
    lake.apply_messages(spark, format=FORMAT, target=target)
    assert [(one["code"], one["offset"]) for one in lake.refusals(spark)] == [
        ("name-collision", 0),
        ("name-collision", 1),
        ("name-collision", 2),
        ("name-collision", 3),
        ("name-collision", 5),
    ]
    assert lake.log(spark).where("kind = 'change'").count() == len(names) + 1


@pytest.mark.parametrize("table_format", ["delta", pytest.param("iceberg", marks=pytest.mark.long)])
def test_names_with_braces(spark: SparkSession, tmp_path: Path, table_format: str) -> None:
    """Names of tables and columns may look like marks or variables in a statement."""
    lake = lake_in(table_format, spark, tmp_path)
    columns = {"{source}": "a", "{}": "b", "${spark.master}": "c"}
    for number, op in enumerate(OPS):
        sent = message(op, number, {"id": 1, **columns}, table="{env}${spark.master}")
        lake.send_records(records(sent, start=number))
    lake.apply_messages(spark, format=FORMAT, row_schema="auto")
    (name,) = lake.names()
    (row,) = lake.table(spark, name).collect()
    found = row.asDict()
    rescued = json.loads(row["_changewire"]["rescued"] or "{}")
    assert {**found, **rescued}.items() >= {"id": 1, **columns}.items()
    places: dict[str, Any] = {"target": lake.places["target"], "table_format": table_format}
    assert not verify(spark, lake.places["log"], **places).count()
    rebuild(spark, lake.places["log"], **places, row_schema="auto")
    assert lake.table(spark, name).collect() == [row]


@pytest.mark.long
def test_a_batch_brings_so_many_tables(spark: SparkSession, tmp_path: Path) -> None:
    """Changes of further tables are refused, and a replay brings them."""
    lake = Lake(tmp_path)
    names = [f"t{number:03}" for number in range(60)]
    lake.send_records(records(*(message("INSERT", 1, {"id": 1}, table=name) for name in names)))
    lake.apply_messages(spark, format=FORMAT, max_new_tables=2)
    assert len(lake.names()) == 2
    found = refused(spark, lake.places["log"])
    assert {row["code"] for row in found.collect()} == {"too-many-tables"}
    assert found.count() == len(names) - 2
    done = lake.replay(spark, format=FORMAT, max_new_tables=1, where="source.table = 't009'")
    assert (done.refused, done.closed) == (1, 1)
    assert "t009" in lake.names()
    assert refused(spark, lake.places["log"]).count() == len(names) - 3


@pytest.mark.long
def test_a_move_that_does_not_fit_leaves_the_row(spark: SparkSession, tmp_path: Path) -> None:
    """A change is applied as a whole or not at all: its old key stays."""
    lake = Lake(tmp_path)
    move = change("update", 2, 5, old=1, before={"id": 1}, a="bad")
    for number, one in enumerate([change(a=1), move]):
        lake.send(placed(one, start=number))
    lake.apply(spark, row_schema={"t": StructType().add("id", LongType()).add("a", DoubleType())})
    found = refused(spark, lake.places["log"]).collect()
    assert [(row["code"], row["offset"]) for row in found] == [("wrong-type", 1)]
    assert [(row["id"], row["a"]) for row in lake.table(spark, "t").collect()] == [(1, 1.0)]


def test_a_refused_move_does_not_hold_back_earlier_writes(
    spark: SparkSession, tmp_path: Path
) -> None:
    """An earlier delete lets a look at the log happen, which has the move of the batch too."""
    lake, kind = Lake(tmp_path), StructType.fromDDL("id long, price double")
    gone, bad = {"id": 9, "price": 1.5}, {"id": 2, "price": "x"}
    lake.send_records(records(message("INSERT", 1, gone), message("DELETE", 8, gone)))
    texts = {"id": "LONG", "price": "STRING"}
    late = message("INSERT", 3, {"id": 1, "price": 2.5})
    move = message("UPDATE_AFTER", 5, bad, before={"id": 1}, types=texts)
    lake.send_records(records(late, move, start=5))
    with one_by_one("delta"):
        (_, found) = lake.apply_messages(spark, format=FORMAT, row_schema=kind)
    assert found == {"inserted": 1, "refused": 1}
    assert [row["id"] for row in lake.rows(spark, "t")] == [1]


@pytest.mark.parametrize("table_format", ["delta", pytest.param("iceberg", marks=pytest.mark.long)])
def test_a_target_without_table_takes_one_source(
    spark: SparkSession, tmp_path: Path, table_format: str
) -> None:
    """Another table is refused after a restart too, in `verify` and `rebuild` as well."""
    lake = lake_in(table_format, spark, tmp_path)
    places = {**lake.places, "target": lake.places["target"].replace("{table}", "one")}
    at = {name: places[name] for name in ("target", "table_format")}
    sent = [
        message("INSERT", 1, {"id": 1, "name": "t"}),
        message("DELETE", 9, {"id": 2}, table="a"),
        message("INSERT", 3, {"id": 1, "name": "a"}, table="a"),
    ]
    lake.send_records(records(*sent[:1]))
    lake.send_records(records(*sent[1:], start=1))
    with one_by_one(table_format):
        lake.apply_messages(spark, format=FORMAT, target=at["target"])
    late = message("UPDATE_AFTER", 5, {"id": 2, "name": "late"})
    lake.send_records(records(late, message("INSERT", 4, {"id": 3}, database="z"), start=10))
    lake.apply_messages(spark, format=FORMAT, target=at["target"])
    assert [(one["code"], one["offset"]) for one in lake.refusals(spark)] == [
        ("second-source", number) for number in (1, 2, 11)
    ]
    expected = {1: "t", 2: "late"}
    assert {key: row["name"] for key, row in rows(spark, lake, "one").items()} == expected
    assert lake.faults(spark, target=at["target"]) == []
    with pytest.raises(OutputError, match=r"the log has no table d\.a; it has: d\.t$"):
        rebuild(spark, places["log"], tables=["d.t", "d.a"], **at)
    assert len(rebuild(spark, places["log"], tables=["d.t"], **at)) == 1
    assert {key: row["name"] for key, row in rows(spark, lake, "one").items()} == expected
    if table_format == "delta":  # whose replays are tested without Spark
        return
    done = lake.replay(spark, format=FORMAT, one_table=True, target=at["target"])
    assert (done.refused, done.left) == (3, 0)
    assert sorted(rows(spark, lake, "one")) == [1, 3]
    assert lake.faults(spark, one_table=True, target=at["target"]) == []


@pytest.mark.long
def test_types_are_given_by_table(spark: SparkSession, tmp_path: Path) -> None:
    """Money is exact where its table says so; other tables have what messages declare, or text."""
    lake = Lake(tmp_path)
    money = StructType([StructField("id", LongType()), StructField("price", DecimalType(20, 2))])
    exact = {"id": 1, "price": "12345678901234567.89"}
    lake.send_records(
        records(
            *(message("INSERT", 1, exact, table=name) for name in ("orders", "items", "notes")),
            message("INSERT", 2, {"id": 2, "price": "1.999"}, table="orders"),
        )
    )
    types = {"orders": money, "notes": "json", "*": "embedded"}
    (counts,) = lake.apply_messages(spark, format=FORMAT, row_schema=types)
    assert counts["rounded_numbers"] == 1
    (order,) = lake.table(spark, "orders").collect()
    assert order["price"] == Decimal("12345678901234567.89")
    assert dict(lake.table(spark, "items").dtypes)["price"] == "double"
    assert lake.table(spark, "notes").columns == ["key", "row", "_changewire"]
    (why,) = refused(spark, lake.places["log"]).collect()
    assert (why["code"], why["pointer"], why["offset"]) == ("wrong-type", "/after/price", 3)
    assert lake.faults(spark) == []


def test_a_number_that_a_double_rounds_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """With `numbers="refuse"` its change is refused, and `verify` does not miss its row."""
    lake = Lake(tmp_path)
    recorded = message("INSERT", 1, {"id": 1, "price": "12345678901234567.89"})
    exact = message("INSERT", 2, {"id": 2, "price": "1.5"})
    lake.send_records(records(recorded, exact))
    schema = json.dumps(json.loads(recorded)["schema"])
    lake.apply_messages(spark, format=FORMAT, row_schema=schema, numbers="refuse")
    (name,) = lake.names()
    assert [row["id"] for row in lake.rows(spark, name)] == [2]
    (why,) = lake.refusals(spark)
    assert (why["code"], why["pointer"], why["offset"]) == ("rounded-number", "/after/price", 0)
    assert lake.faults(spark) == []


def test_deleted_rows_are_flagged(spark: SparkSession, tmp_path: Path) -> None:
    """They keep their key and nothing else; a view has the others; late changes find them.

    A column that something else added is NULL there too, and stays as it is in other rows.
    """
    lake = Lake(tmp_path)
    row = StructType([StructField("id", LongType()), StructField("name", StringType())])
    one, two = {"id": 1, "name": "a"}, {"id": 2, "name": "b"}
    batches = [
        [message("INSERT", 1, one), message("INSERT", 1, two)],
        [message("DELETE", 3, one), message("DELETE", 3, {"id": 3, "name": "c"})],
        [message("UPDATE_AFTER", 2, one), message("INSERT", 2, {"id": 3, "name": "c"})],
    ]
    view = {"deletes": "flag", "view": "default.live_{table}"}
    options: dict[str, Any] = {"format": FORMAT, "row_schema": row, **view}
    lake.send_records(records(*batches[0]))
    lake.apply_messages(spark, **options)
    spark.sql(f"ALTER TABLE delta.`{lake.tables}/t` ADD COLUMNS (note STRING)")
    DeltaTable(f"{lake.tables}/t").update(updates={"note": "'mine'"})
    for number, batch in enumerate(batches[1:], 1):
        lake.send_records(records(*batch, start=10 * number))
    lake.apply_messages(spark, **options)
    found = lake.table(spark, "t").orderBy("id").select("id", "name", "note", "_changewire.deleted")
    assert [tuple(one) for one in found.collect()] == [
        (1, None, None, True),
        (2, "b", "mine", False),
        (3, None, None, True),
    ]
    assert [tuple(one) for one in spark.table("default.live_t").collect()] == [(2, "b")]
    log, table = lake.places["log"], f"{lake.tables}/t"
    assert [one["fault"] for one in lake.faults(spark, deletes="remove")] == ["extra"] * 2
    deleted_at = datetime(2024, 11, 15, 8, 58, 34, tzinfo=timezone.utc)
    with pytest.raises(OutputError, match="it was not made by changewire"):
        purge(spark, log, table=log, older_than=deleted_at)
    assert purge(spark, log, table=table, older_than=deleted_at) == 0
    assert purge(spark, log, table=table, older_than=deleted_at + timedelta(seconds=1)) == 2
    assert [one["id"] for one in lake.rows(spark, "t")] == [2]
    assert lake.faults(spark) == []


def damage(place: str) -> None:
    """Put 21 faults into a table: rows that are missing, wrong, too many, or twice."""
    table = DeltaTable(place)
    table.delete("id < 7")
    table.update(updates={"name": "'wrong'"}, predicate="id BETWEEN 7 AND 13")
    rows = table.to_pyarrow_table()
    (one, twice) = (rows.filter(pc.field("id") == number) for number in (20, 25))
    extra = pa.concat_tables([one] * 6).set_column(0, rows.schema.field(0), [[*range(29, 35)]])
    write_deltalake(table, pa.concat_tables([extra, twice]), mode="append")


def test_a_delete_that_names_no_table_reaches_later_tables(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A later table does not get rows that such a delete removed; what is left out gets none."""
    lake, names = Lake(tmp_path), ("t", "flagged")
    settings: dict[str, Any] = {"d.flagged": {"deletes": "flag"}}
    later = [change(table=name, key=key, sequence=4, a=1) for name in names for key in (1, 2)]
    last = [change(table=name, key=3, sequence=5) for name in names]
    lake.send(placed(change("delete", 1, 5, table=None), change(table="u")))
    lake.send(placed(*later, start=10))
    lake.apply(spark, tables=settings, except_tables=["d.u"])
    lake.send(placed(change("delete", 2, 5, table=None), *last, start=20))
    lake.apply(spark, tables=settings, except_tables=["d.u"])
    assert lake.content(spark).keys() == {*names}
    for name in names:
        assert [*lake.content(spark)[name]] == [key_of({"id": 3})]


def test_tables_are_verified_and_made_anew(spark: SparkSession, tmp_path: Path) -> None:
    """Each fault that something puts into a table is named, and a rebuild repairs it."""
    lake = Lake(tmp_path)
    everyone = [{"id": number, "name": f"n{number}"} for number in range(30)]
    messages = [message("INSERT", 10, row) for row in everyone]
    lake.send_records(records(*messages, message("DELETE", 11, everyone[29])))
    row = StructType([StructField("id", LongType()), StructField("name", StringType())])
    lake.apply_messages(spark, format=FORMAT, row_schema=row)
    places = {"target": lake.places["target"]}
    log = lake.places["log"]
    assert lake.faults(spark) == []
    damage(f"{lake.tables}/t")
    found = {json.loads(one["key"])["id"]: one for one in verify(spark, log, **places).collect()}
    faults = {number: one["fault"] for number, one in found.items()}
    assert faults == {
        **dict.fromkeys(range(7), "missing"),
        **dict.fromkeys(range(7, 14), "different"),
        **dict.fromkeys([25, *range(29, 35)], "extra"),
    }
    assert json.loads(found[8]["expected"]) == {"id": 8, "name": "n8"}
    assert (found[8]["major"], found[8]["offset"], found[29]["offset"]) == (10, 8, 30)
    assert rebuild(spark, log, **places) == [f"{lake.tables}/t"]
    assert lake.faults(spark) == []


def test_the_log_counts_as_far_as_tables_have_it(spark: SparkSession, tmp_path: Path) -> None:
    """With the checkpoint, later changes are not missing; refusals and replays count."""
    lake = Lake(tmp_path)
    lake.send_records(records(*(message("INSERT", 1, {"id": n}, table=f"t{n}") for n in range(3))))
    lake.apply_messages(spark, format=FORMAT, max_new_tables=1)
    log, at = lake.places["log"], {name: lake.places[name] for name in ("target", "checkpoint")}
    assert {one["code"] for one in lake.refusals(spark)} == {"too-many-tables"}
    lake.replay(spark, format=FORMAT, where="offset = 2")
    later = LocalLake(tmp_path / "later")
    later.apply_records(records(message("INSERT", 1, {"id": 9}, table="t0"), start=9))
    write_deltalake(log, DeltaTable(later.places["log"]).to_pyarrow_table(), mode="append")
    assert not verify(spark, log, **at).count()
    (found,) = lake.faults(spark)
    assert (found["table"], found["fault"]) == (f"{lake.tables}/t0", "missing")
    # All of the log counts.
    one: dict[str, Any] = {**at, "checkpoint": f"{tmp_path}/none", "only_tables": ["d.t0"]}
    assert [one["fault"] for one in verify(spark, log, **one).collect()] == ["missing"]
    lost = [{"table": "d.t1", "refused": 1, "key_missing": 0}]
    assert cwa.unapplied(log).to_pylist() == lost


@pytest.mark.long
def test_a_reload_repairs_a_table(spark: SparkSession, tmp_path: Path) -> None:
    """After a statement without images, a table is made of what its source loaded again."""
    lake = Lake(tmp_path)
    lake.send_records(records(message("INSERT", 5, {"id": 1, "name": "old"})))
    lake.apply_messages(spark, format=FORMAT)
    reload = [message("INSERT", -1, {"id": number, "name": "new"}) for number in (1, 2)]
    lake.send_records(records(*reload, start=10))
    lake.apply_messages(spark, format=FORMAT)
    assert rows(spark, lake)[1]["name"] == "old"
    rebuild(spark, lake.places["log"], target=lake.places["target"], where="offset >= 10")
    assert {row["name"] for row in rows(spark, lake).values()} == {"new"}


def test_a_folder_without_a_commit_becomes_a_table(spark: SparkSession, thrice: Thrice) -> None:
    """What a query that was killed while it made a table left behind does not matter."""
    assert thrice.ids["late"][-1] == [*DECIMALS]
    properties = properties_of(spark, f"delta.`{thrice.lake.tables}/late`")
    assert properties.keys() >= {KEYS, OWNER}


def test_a_table_has_the_features_that_it_needs(spark: SparkSession, tmp_path: Path) -> None:
    """A name with a space needs column mapping, and only a wider type needs type widening."""
    path, delta = str(tmp_path / "t"), Delta()
    columns = StructType([StructField("e mail", StringType()), StructField("n", IntegerType())])
    delta.create(spark, path, columns, {})
    (first,) = (tmp_path / "t" / "_delta_log").glob("*0.json")
    commit = [json.loads(line) for line in first.read_text("utf-8").splitlines()]
    (protocol,) = (one["protocol"] for one in commit if "protocol" in one)
    assert {*protocol["readerFeatures"]} == {"columnMapping", "timestampNtz"}
    assert "delta.enableTypeWidening" not in properties_of(spark, f"delta.`{path}`")
    with pytest.raises(DeltaProtocolError):  # rather than find NULL in its columns
        DeltaTable(path).to_pyarrow_table()
    delta.evolve(spark, path, StructType([columns["e mail"], StructField("n", LongType())]))
    assert properties_of(spark, f"delta.`{path}`")["delta.enableTypeWidening"] == "true"
    assert spark.read.format("delta").load(path).schema["n"].dataType == LongType()


def test_dead_letters_are_replayed_by_element(spark: SparkSession, tmp_path: Path) -> None:
    """What is valid by now is merged in its own order, and its dead letter is closed.

    No row of the log could close one without a position, so nothing is appended for it. One that
    became several elements, or a refused change, does not make up for others that are left open.
    """
    lake = Lake(tmp_path, lands_in_spark=True)
    late = [write(number, 8, ("name", "str", "late")) for number in (1, 2, 3, 0)]
    other = {**late[0], "key": ["test", "u", *late[0]["key"][2:]]}
    several, refused, *unplaced = (
        b"\0\0\0\0\1" + json.dumps(one).encode() for one in (late[:2], other, *late[2:])
    )
    newer = json.dumps(write(1, 9, ("name", "str", "new"))).encode()
    placed = records(several, refused, newer)
    lake.send_records([*placed, *((value, None, None, None) for value in unplaced)])
    lake.apply_messages(spark, format="aerospike-json")
    log = lake.places["log"]
    options: dict[str, Any] = {"strip_registry_prefix": True, "max_new_tables": 0}
    done = lake.replay(spark, format="aerospike-json", **options)
    assert (done.dead_letters, done.closed, done.left) == (4, 3, 3)
    assert [row["offset"] for row in lake.refusals(spark)] == [1]
    assert [one["offset"] for one in dead_letters(spark, log).collect()] == [None] * 2
    found = {row["aerospike_digest"]: row["name"] for row in lake.json_rows(spark, "users")}
    assert found == {DIGESTS[1]: "new", DIGESTS[2]: "late"}
    rows = current(spark, log, table="test.users").collect()
    assert sorted(json.loads(one["row"])["name"] for one in rows) == ["late", "new"]
