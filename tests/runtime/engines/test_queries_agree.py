"""Queries on a log, with Spark and without: both say the same of the same rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from msgspec.structs import replace
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from tests.runtime.engines.version_rows import TARGET, as_log, log_of, refused
from tests.runtime.tables.histories import (
    change,
    deliveries_of,
    drawn_of,
    halves,
    in_tables,
    of_history,
    placed,
    truncate,
)

import changewire.arrow as cwa
import changewire.delta as cwd
import changewire.spark as cws
from changewire.engines import log as of_arrow
from changewire.engines.log import ATTEMPT
from changewire.engines.spark.log import rows as of_spark
from changewire.engines.spark.merge.facts import known_log
from changewire.tables import Routing, template_of
from changewire.tables.routing import Refusal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HOSTILE = "a'b`c.d \u202e%s{e}"
PLACE = ("topic", "partition", "offset", "path", "number")
HISTORIES = 8
GOOD = b'{"msg": "delete", "key": ["d", "t", "YWJjZGVmZ2hpamtsbW5vcHFyc3Q=", 1]}'
OTHER = "/lake's/{table}"
TYPED = ("k", "refused")
"""Tables of which a change with another key is refused, and all changes are."""


def unchanged(log: pa.Table) -> pa.Table:
    """Return rows of a log as they are."""
    return log


def without_place(log: pa.Table) -> pa.Table:
    """Return rows of a log that do not say where they were read."""
    for name in PLACE:
        kind = log.schema.field(name)
        log = log.set_column(log.column_names.index(name), kind, pa.nulls(len(log), kind.type))
    return log


def without_key(log: pa.Table) -> pa.Table:
    """Return rows of a log without keys."""
    return log.set_column(log.column_names.index("key"), "key", pa.nulls(len(log), pa.string()))


def attempted(log: pa.Table, attempt: int) -> pa.Table:
    """Return rows of a log as those of a replay."""
    column = pa.array([attempt] * len(log), pa.int32())
    return log.set_column(log.column_names.index(ATTEMPT), ATTEMPT, column)


def letters(*values: bytes, attempt: int = 0) -> pa.Table:
    """Return dead letters at the first numbers of one file."""
    rows = as_log(cwa.decode(values, format="aerospike-json").rows.read_all())
    return attempted(rows, attempt)


def drawn() -> pa.Table:
    """Return all kinds of images, moves, halves and doubles of many rows, and truncates."""
    changes = deliveries_of(HISTORIES)
    for which, images in enumerate(drawn_of(HISTORIES, halves())):
        own = [of_history(which, one) for one in images]
        changes += in_tables(own, {}, HISTORIES + which)
    changes += placed(truncate(20), truncate(None), truncate(3), partition=3 * HISTORIES)
    return log_of(changes)


def replayed() -> pa.Table:
    """Return what was refused, what a replay made of it, and what it moved elsewhere."""
    first = placed(*(change(key=key, a=key) for key in range(1, 7)), truncate(9, "v"), start=100)
    second = placed(change(key=3, sequence=2, a="again"), start=102)
    moved = placed(change(key=3, table="u", a="moved"), start=103)
    gone = placed(truncate(30, "u"), start=106)
    keyed = placed(
        *(replace(change(table=one, database="typed", a=1), key={"other": 1}) for one in TYPED),
        change(table=TYPED[0], database="typed", a=2),
        start=150,
    )
    return pa.concat_tables(
        [
            log_of(first + keyed, second + moved + gone),
            refused(keyed[:2]),
            refused(first[1:4]),
            refused(first[1:2]),
            refused(first[4:5]),
            refused(first[4:5], 1),
            refused(second, 1),
            refused(first[2:4], target=OTHER),
            refused(second, 1, OTHER),
            of_no_target(refused(first[5:6])),
        ]
    )


def unplaced() -> pa.Table:
    """Return changes, refusals and dead letters of which each is an element by itself."""
    found = placed(
        change(key="x", a=1),
        change(key="y", a=1),
        change(key="x", sequence=2, a=2),
        change("update", "x", (3, 0), before={"id": "x"}, is_lone=True),
        change("update", "z", 3, a=3),
    )
    broken = letters(b"{", b"[", b"{")
    parts = [log_of(found), refused(found[:2]), broken, attempted(log_of(found[1:2]), 1)]
    return without_place(pa.concat_tables(parts))


def others() -> pa.Table:
    """Return changes of other databases, systems and topics, without a key, and without a table."""
    away = [
        change(key=1, database="other", a=1),
        change(key=1, sequence=7, table=HOSTILE, a=1),
        replace(change(key=1, sequence=3, table=HOSTILE), after={"id": 1, HOSTILE: HOSTILE}),
        change(key=None, a=1),
        change(key=2, table=None, a=1),
        change("delete", 5, 50, table=None),
        change("delete", 1, 5, table=None, database="other"),
    ]
    one = change(key=1, sequence=60, a="another system")
    system = replace(one, source=replace(one.source, system="o"))
    topics = [
        replace(one, position=one.position._replace(topic=f"t'{number}"))
        for number, one in enumerate(placed(*away, system, start=200))
    ]
    dead = [letters(b"{", b"[", b"nothing"), letters(b"{"), letters(b"]", attempt=1)]
    closed = attempted(letters(GOOD, GOOD).slice(1), 1)
    return pa.concat_tables([log_of(topics), *dead, closed])


def of_no_target(refusals: pa.Table) -> pa.Table:
    """Return refusals as earlier versions logged them."""
    place = refusals.column_names.index("target")
    return refusals.set_column(place, "target", pa.nulls(len(refusals), pa.string()))


KEYS = {"d.t": (3, 5, "x"), "d.u": (3,), f"d.{HOSTILE}": (1,)}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write a log of Parquet; return its place."""
    folder = tmp_path_factory.mktemp("log")
    rows = pa.concat_tables([drawn(), replayed(), unplaced(), others()])
    pq.write_table(rows, folder / "log.parquet")
    return str(folder)


def rows_of(found: pa.Table, names: list[str]) -> list[str]:
    """Return rows in an order of their own, as text."""
    return sorted(json.dumps(row, default=repr) for row in found.select(names).to_pylist())


def agree(spark: SparkSession, name: str, log: str, **options: Any) -> None:
    """Check that a query has the same rows with Spark and without."""
    expected = getattr(cwa, name)(log, **options)
    found = getattr(cws, name)(spark, log, table_format="parquet", **options).toArrow()
    names = expected.column_names
    assert rows_of(found, names) == rows_of(expected, names), (name, options)


@pytest.mark.parametrize(
    ("truncates", "tables"),
    [(False, ("d.u", "other.t")), (True, ("d.t", f"d.{HOSTILE}", "d", "d.nowhere"))],
    ids=["without", "with"],
)
def test_rows_and_versions(
    spark: SparkSession, log: str, tables: tuple[str, ...], *, truncates: bool
) -> None:
    """`current`, `history` and `trace` are the same, with truncates and without."""
    for table in tables:
        # The rows of now are the versions that have not ended.
        for name in ("current", "history") if table in KEYS else ("history",):
            agree(spark, name, log, table=table, apply_truncates=truncates)
        for key in ({"id": key} for key in KEYS.get(table, ())):
            options: dict[str, Any] = {"table": table, "apply_truncates": truncates}
            found = cws.trace(spark, log, key, table_format="parquet", **options)
            assert found == cwa.trace(log, key, **options)


def test_versions_of_a_type(spark: SparkSession, log: str) -> None:
    """The columns of the key are those of changes that a table takes; without any it has no row."""
    rows: Any = pa.schema([("a", pa.int64())])
    found = [cwa.history(log, table=f"typed.{name}", row_schema=rows) for name in TYPED]
    assert [(one.column_names[:2], len(one)) for one in found] == [
        (["a", "id"], 1),
        (["a", "other"], 0),
    ]
    for name in TYPED:
        agree(spark, "history", log, table=f"typed.{name}", row_schema=rows)


def test_a_source_of_which_a_change_was_refused_twice(spark: SparkSession, tmp_path: Path) -> None:
    """It has a table if another change of it was taken: a kill may have refused the first again."""
    changes = placed(change(), change(key=2))
    once = refused(changes[:1])
    codes = pa.array(["too-many-tables"], once.schema.field("code").type)
    once = once.set_column(once.column_names.index("code"), "code", codes)
    routing = Routing(template_of(f"{tmp_path}/{{table}}"))
    for taken, expected in ((changes, [f"{tmp_path}/t"]), (changes[:1], [])):
        pq.write_table(pa.concat_tables([log_of(taken), once, once]), tmp_path / "log.parquet")
        log = spark.read.parquet(f"{tmp_path}/log.parquet")
        known = known_log(log, routing, with_truncates=False, table_format="delta")
        assert [one.name for one in known.tables.names.values()] == expected


@pytest.mark.parametrize("engine", ["spark", "delta-rs"])
def test_a_closed_dead_letter(spark: SparkSession, tmp_path: Path, engine: str) -> None:
    """A row says who closed it and why; one without a position, and a later one, are open."""
    log, options = f"{tmp_path}/log", {"where": "code = 'truncated'", "by": "ann"}
    sent = [letters(b"{", b"[", b"nothing"), without_place(letters(b"{"))]
    write_deltalake(log, pa.concat_tables(sent))

    def close(why: str) -> int:
        if engine == "spark":
            return cws.close_dead_letters(spark, log, why=why, **options)
        return cwd.close_dead_letters(log, why=why, **options)

    with pytest.raises(ValueError, match="needs who does it"):
        close(" ")
    assert (close("sent again"), close("once more")) == (2, 0)
    assert DeltaTable(log).history(1)[0]["userMetadata"] == "changewire: dead letters are closed"
    rows = DeltaTable(log).to_pyarrow_table().to_pylist()
    closed = [row for row in rows if row["kind"] == "closed"]
    assert [(row["number"], row["code"], row["message"], row["value"]) for row in closed] == [
        (number, "truncated", "ann: sent again", None) for number in (0, 1)
    ]
    for number, expected in enumerate([[None, 2], [None, 0, 2]]):
        if number:
            write_deltalake(log, letters(b"}", attempt=1), mode="append")
        found = [cwa.dead_letters(log), cws.dead_letters(spark, log).toArrow()]
        for one in found:
            assert sorted(one["number"].to_pylist(), key=str, reverse=True) == sorted(
                expected, key=str, reverse=True
            )


HELD = {
    "nothing": letters(b"{").slice(0, 0),
    "the same": letters(b"{", b"[", GOOD, b"1"),
    "other bytes": letters(b"[", b"{", b"{", b"{"),
    "later bytes": attempted(letters(b"x", b"["), 3),
    "without places": without_place(letters(b"{", b"[", GOOD)),
    "without keys": without_key(attempted(letters(GOOD, GOOD, GOOD, b"1"), 1)),
    "keys of some": pa.concat_tables(
        [without_key(letters(b"{", GOOD, GOOD)), attempted(letters(b"{", b"x", GOOD), 2)]
    ),
}


@pytest.mark.parametrize("held", [*HELD])
@pytest.mark.parametrize("change", [unchanged, without_place, without_key])
def test_rows_that_a_log_gets(
    spark: SparkSession, tmp_path: Path, held: str, change: Callable[[pa.Table], pa.Table]
) -> None:
    """Decoded rows are the same rows of a log, of those that it lacks."""
    decoded = change(cwa.decode([b"{", b"[", GOOD, b"1"], format="aerospike-json").rows.read_all())
    for name, one in (("rows", decoded), ("held", HELD[held])):
        pq.write_table(one, tmp_path / name)
    rows, there = (spark.read.parquet(f"{tmp_path}/{name}") for name in ("rows", "held"))
    expected = of_arrow.log_rows(of_arrow.lacking(decoded, [HELD[held].select([*of_arrow.HELD])]))
    found = of_spark.lacking(of_spark.log_rows(rows), there).toArrow()
    assert rows_of(found, expected.column_names) == rows_of(expected, found.column_names)


@pytest.mark.parametrize("change", [unchanged, without_place, without_key])
def test_rows_that_say_why_a_change_is_refused(
    spark: SparkSession, tmp_path: Path, change: Callable[[pa.Table], pa.Table]
) -> None:
    """They are the same of decoded rows, with places and without."""
    decoded = change(cwa.decode([b"{", b"[", GOOD, b"1"], format="aerospike-json").rows.read_all())
    pq.write_table(decoded, tmp_path / "rows")
    rows = spark.read.parquet(f"{tmp_path}/rows")
    why = Refusal("schema-mismatch", "/after/a", "too long")
    expected = of_arrow.refused_rows(
        of_arrow.log_rows(decoded), dict.fromkeys(range(len(decoded)), why), TARGET
    )
    reason = F.struct(*(F.lit(text).alias(name) for name, text in why._asdict().items()))
    found = of_spark.refused_rows(rows, reason, TARGET).toArrow()
    columns = [name for name in expected.column_names if name != "version"]
    assert rows_of(found, columns) == rows_of(expected, columns)


@pytest.mark.parametrize("name", ["dead_letters", "refused"])
def test_what_is_open(spark: SparkSession, log: str, name: str) -> None:
    """Dead letters and refused changes are the same, those without positions each by itself."""
    agree(spark, name, log)
    assert len(getattr(cwa, name)(log).filter(pc.field("offset").is_null())) > 1


def test_what_a_target_refused(spark: SparkSession, log: str) -> None:
    """A refusal of another target is left out, and one that names none counts for every target."""
    for target in (TARGET, OTHER, "/lake/nothing/{table}"):
        agree(spark, "refused", log, target=target)
        agree(spark, "unapplied", log, target=target)
    at = [(row["offset"], row["attempt"], row["target"]) for row in cwa.refused(log).to_pylist()]
    assert {one for one in at if one[0] in {101, 102, 105}} == {
        (101, 0, TARGET),
        (102, 1, TARGET),
        (102, 1, OTHER),
        (105, 0, None),
    }
    places = {
        name: {*cwa.refused(log, target=name)["offset"].to_pylist()} for name in (TARGET, OTHER)
    }
    assert [{101, 102, 104, 105} & found for found in places.values()] == [
        {101, 102, 104, 105},
        {102, 105},
    ]


def test_what_is_in_no_table(spark: SparkSession, log: str) -> None:
    """Refused changes and those without a key are counted by table; the newest attempt counts."""
    agree(spark, "unapplied", log)
    found = {row.pop("table"): row for row in cwa.unapplied(log).to_pylist()}
    assert found["typed.k"] == {"refused": 1, "key_missing": 0}
    assert found["d.t"]["key_missing"] == 1
