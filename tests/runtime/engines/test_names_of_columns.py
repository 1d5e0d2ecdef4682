"""Columns of typed rows are found whatever the case of their names, as in most catalogs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql.types import LongType, StringType, StructField, StructType
from tests.runtime.engines.merge.lake import Lake
from tests.samples import FORMAT, examples

import changewire.arrow as cwa
import changewire.delta as cwd
import changewire.spark as cws
from changewire.engines.typed.cells import CellError, RowCells
from changewire.engines.typed.evolve import evolved
from changewire.engines.typed.readings import EXACT_TEXT
from changewire.engines.typed.types import field_json, struct_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TYPE = pa.schema({"Age": pa.int64(), "name": pa.string()})


def write(**bins: int | str) -> bytes:
    """Return a write with some bins."""
    kinds = {int: "int", str: "str"}
    found = [{"name": n, "type": kinds[type(v)], "value": v} for n, v in bins.items()]
    return msgspec.json.encode({**examples("write")[0], "bins": found})


def decoded(message: bytes, rows: pa.Schema = TYPE) -> tuple[dict[str, Any], ...]:
    """Return the rows of a message as changes and as dead letters."""
    changes, _, letters, _ = cwa.decode([message], format=FORMAT, row_schema=rows).tables()
    return (*changes.to_pylist(), *letters.to_pylist())


def test_the_only_match_is_taken_and_counted() -> None:
    """A bin that differs from a column in case only is in that column."""
    (row,) = decoded(write(age=7, NAME="a", other=1))
    assert row["after"] == {"Age": 7, "name": "a"}
    assert row["leniencies"] == ["other-case"] * 2
    assert msgspec.json.decode(row["attributes"])["undeclared"] == {"after": {"other": 1}}
    (row,) = decoded(write(Age=7, name="a"))
    assert (row["after"], row["leniencies"]) == ({"Age": 7, "name": "a"}, [])


@pytest.mark.parametrize("bins", [{"age": 1, "Age": 2}, {"Age": 1, "age": 2}, {"AGE": 1, "age": 2}])
def test_two_bins_for_one_column_are_refused(bins: dict[str, int]) -> None:
    """A table that ignores case cannot hold both, so neither is lost silently."""
    (letter,) = decoded(write(**bins))
    assert (letter["code"], letter["pointer"]) == ("duplicate-column", f"/after/{[*bins][1]}")
    assert "one column for 'Age' of the type" in letter["message"]


def test_a_type_that_holds_both_gets_both() -> None:
    """Exact names come first; a third one could be either, and stays undeclared."""
    both = pa.schema({"Age": pa.int64(), "age": pa.int64()})
    (row,) = decoded(write(Age=1, age=2, AGE=3), both)
    assert (row["after"], row["leniencies"]) == ({"Age": 1, "age": 2}, [])
    assert msgspec.json.decode(row["attributes"])["undeclared"] == {"after": {"AGE": 3}}


def test_undeclared_names_may_differ_in_case_only() -> None:
    """Attributes hold both of two bins that no column is for."""
    (row,) = decoded(write(x=1, X=2))
    assert msgspec.json.decode(row["attributes"])["undeclared"] == {"after": {"x": 1, "X": 2}}


def test_a_value_in_another_case_has_to_fit() -> None:
    """The pointer is that of the column."""
    (letter,) = decoded(write(age="seven"))
    assert (letter["code"], letter["pointer"]) == ("wrong-type", "/after/Age")


@pytest.mark.parametrize("row_image", ["full", "patch"])
def test_tables_have_the_column(tmp_path: Path, row_image: Any) -> None:
    """A Delta table has the value, of a full row and of a patch."""
    sent = {
        "value": [write(Age=1, name="a"), write(AGE=2)],
        "topic": ["t", "t"],
        "partition": [0, 0],
        "offset": [0, 1],
    }
    outcome = cwd.apply_changes(
        pa.table(sent),
        format=FORMAT,
        row_image=row_image,
        target=f"{tmp_path}/lake/{{table}}",
        default_table="users",
        row_schema=TYPE,
        log=str(tmp_path / "log"),
    )
    assert outcome.counts.dead_letters == 0
    (path,) = (tmp_path / "lake").iterdir()
    (row,) = DeltaTable(str(path)).to_pyarrow_table().to_pylist()
    assert row["Age"] in {1, 2}
    assert {name for name in row if name.lower() == "age"} == {"Age"}


def test_tables_of_spark_have_the_column(spark: SparkSession, tmp_path: Path) -> None:
    """A patch by another name sets the column, and is kept under its name."""
    lake = Lake(tmp_path)
    sent = [write(Age=1, name="a"), write(AGE=2)]
    lake.send_records([(one, "t", 0, offset) for offset, one in enumerate(sent)])
    lake.apply_messages(
        spark, format=FORMAT, row_image="patch", row_schema=TYPE, default_table="users"
    )
    (name,) = lake.names()
    (row,) = lake.table(spark, name).toArrow().to_pylist()
    assert (row["Age"], row["name"]) == (2, "a")
    assert "AGE" not in row["_changewire"]["columns"]


@pytest.mark.parametrize("row_image", ["full", "patch"])
def test_histories_have_the_column(row_image: Any) -> None:
    """Versions that are made of a change log with other names have its values."""
    message = msgspec.json.decode(write(age=7, name="a"))
    table = message["key"][1]
    changes = cwa.decode([msgspec.json.encode(message)], format=FORMAT, row_image=row_image).changes
    found = cwa.history(changes.read_all(), table=f"{message['key'][0]}.{table}", row_schema=TYPE)
    (version,) = pa.table(found).to_pylist()
    assert (version["Age"], version["name"]) == (7, "a")


def test_spark_has_the_rows_of_arrow(spark: SparkSession) -> None:
    """A StructType is read alike."""
    kind = StructType([StructField("Age", LongType()), StructField("name", StringType())])
    messages = [write(age=7, name="a"), write(age=1, AGE=2)]
    frame = spark.createDataFrame([(one,) for one in messages], "value binary").coalesce(1)
    names = ("kind", "after", "leniencies", "code", "pointer")
    rows = cws.decode(frame, format=FORMAT, row_schema=kind).rows.select(*names)
    found = rows.toArrow().to_pylist()
    theirs = cwa.decode(messages, format=FORMAT, row_schema=TYPE).rows.read_all().select(names)
    assert found == theirs.to_pylist()
    assert [row["kind"] for row in found] == ["change", "dead_letter"]


def test_case_is_that_of_unicode() -> None:
    """Letters beyond ASCII have cases too; the sign for Kelvin is a K."""
    names = RowCells([pa.field(name, pa.int64()) for name in ("Größe", "k", "a", "A")], EXACT_TEXT)
    assert names.column("GRÖßE") == "Größe"
    assert names.column("\u212a") == "k"
    assert (names.column("a"), names.column("A"), names.column("b")) == ("a", "A", "b")
    with pytest.raises(CellError, match="one column for 'k' of the type"):
        names.renamed({"K": 1, "\u212a": 2}, "/after", [])


class Counted(str):
    """A name that counts how often names are compared in lower case."""

    __slots__ = ()
    lowered = 0

    def lower(self) -> str:
        """Return the name in lower case."""
        Counted.lowered += 1
        return super().lower()


def test_names_are_not_compared_with_all_others() -> None:
    """The work for a schema grows with its columns, and not with their square."""
    fields = [field_json(Counted(f"c{number}"), "long") for number in range(1000)]
    found = evolved(None, [("one", struct_json(fields)), ("C1", struct_json([*fields, *_C1]))])
    assert len(found.columns["fields"]) == len(fields)
    assert found.refused == {"C1": "column 'C1' differs from 'c1' in case only"}
    assert Counted.lowered < 10 * len(fields)


_C1 = [field_json("C1", "long")]
