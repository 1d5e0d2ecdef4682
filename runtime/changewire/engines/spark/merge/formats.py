"""The table formats that changes can be merged into: how tables are named, made and changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from operator import itemgetter
from typing import Any, Final, TypeAlias, cast

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.functions import partitioning
from pyspark.sql.types import (
    ByteType,
    DataType,
    DecimalType,
    IntegerType,
    ShortType,
    StructField,
    StructType,
    TimestampNTZType,
)

from changewire.engines.by_table import MergedRows
from changewire.engines.partitions import TIMES, Partition, delta_fault, layout_by
from changewire.engines.settings import NONE, Settings
from changewire.engines.spark.jvm import local_rows, log_size, source_rows
from changewire.engines.spark.merge.constraints import identity_columns
from changewire.engines.spark.merge.shapes import arrow_schema
from changewire.engines.spark.parts import quoted, split_name
from changewire.engines.spark.types import inside, nullable
from changewire.engines.typed.types import has_unsafe_names
from changewire.tables.names import is_path

_EXISTS: Final = "TABLE_OR_VIEW_ALREADY_EXISTS"
_CANNOT_CLUSTER: Final = ("DELTA_CLUSTER_", "DELTA_CLUSTERING_")
"""How the conditions of errors begin if Delta cannot cluster a table by some columns."""

_WIDENING: Final[Mapping[str, str]] = {"delta.enableTypeWidening": "true"}
_CLOCKS: Final[Mapping[str, str]] = {"delta.feature.timestampNtz": "supported"}
"""A new table with times without a zone gets it by itself, one that exists does not."""

ANY_NAMES: Final[Mapping[str, str]] = {
    "delta.columnMapping.mode": "name",
    # With no feature of readers Delta keeps an old protocol, by which deltalake finds NULL in
    # columns. This one keeps the fewest readers away.
    **_CLOCKS,
}
_ANY_SCHEMA: Final = "write.spark.accept-any-schema"

_COUNTS: Final = ("inserted", "updated", "deleted")


class Delta:
    """Tables of Delta Lake, by path or by name. `Iceberg` has the same attributes and methods.

    https://docs.delta.io/latest/delta-update.html#upsert-into-a-table-using-merge

    Attributes:
        name: The format as Spark names it.
        takes_paths: Whether a table may be a path.
    """

    name = "delta"
    takes_paths = True

    def identifier(self, target: str) -> str:
        """Return a table, a path or a name, as SQL names it."""
        return f"delta.{quoted(target)}" if is_path(target) else target

    def kept(self, columns: StructType) -> StructType:
        """Return columns as they are: Delta has all types of Spark that rows have."""
        return columns

    def fault(self, columns: StructType) -> str | None:  # noqa: ARG002 - it takes any name
        """Return why a table cannot have some columns; None if it can."""
        return None

    def widens(self, there: DataType, wider: DataType) -> bool:  # noqa: ARG002 - it widens all
        """Whether a column's type can become another one, which has all of its values."""
        return True

    def part_fault(self, name: str, kind: Any, *, is_key: bool) -> str | None:
        """Return why a table cannot be partitioned by a column; None if it can."""
        if not {*name}.isdisjoint(".`"):
            return f"column {name!r} has a dot or a backtick, and a MERGE of Delta does not find it"
        return delta_fault(name, kind, is_key=is_key)

    def create(
        self,
        spark: SparkSession,
        target: str,
        columns: StructType,
        properties: Mapping[str, str],
        settings: Settings = NONE,
    ) -> None:
        """Make a table with some properties if it does not exist, and the namespace of its name."""
        mapping = ANY_NAMES if has_unsafe_names(columns.jsonValue()) else {}
        table = self.identifier(target)
        if not is_path(target):
            _make_namespace(spark, target)
        properties = {**settings.properties, **properties}
        if not _created(spark, table, columns, self.name, {**mapping, **properties}, settings):
            if is_path(target):  # the folder may hold files of a commit that was not completed
                writer = no_rows(spark, columns).write.format(self.name).mode("ignore")
                writer = writer.partitionBy(*(one.column for one in settings.partition_by or ()))
                writer.options(**mapping).save(target)
            if settings.cluster_by:
                spark.sql(f"ALTER TABLE {table}{_clusters(settings)}")
            set_properties(spark, table, properties)

    def evolve(self, spark: SparkSession, target: str, columns: StructType) -> None:
        """Add columns to a table, and widen its types.

        Features that keep other readers away are switched on only if they are needed.
        """
        table = self.identifier(target)
        needed = {
            **(ANY_NAMES if has_unsafe_names(columns.jsonValue()) else {}),
            **(_WIDENING if _is_wider(columns, spark.table(table).schema) else {}),
            **(_CLOCKS if _has_clocks(columns) else {}),
        }
        if needed:
            set_properties(spark, table, needed)
        closed = identity_columns(spark, table)
        columns = StructType([one for one in columns.fields if one.name not in closed])
        writer = no_rows(spark, columns).write.format(self.name).mode("append")
        writer = writer.option("mergeSchema", "true")
        writer.save(target) if is_path(target) else writer.saveAsTable(target)

    def repair(self, spark: SparkSession, target: str, properties: Mapping[str, str]) -> None:
        """Do nothing: a killed `evolve` leaves nothing behind."""

    def refresh(self, spark: SparkSession, target: str) -> None:
        """Let the next query read what other sessions have written: with Delta every query does."""

    def size(self, spark: SparkSession, target: str) -> int | None:
        """Return how many bytes the files of a table have; None if that is not known."""
        return log_size(spark, self.identifier(target))

    def inserted(self, columns: StructType, others: Collection[str]) -> dict[str, str]:  # noqa: ARG002
        """Return what a MERGE gives new rows in columns of others: Delta knows it."""
        return {}

    def merged(self, found: DataFrame) -> MergedRows:
        """Return what a MERGE did, by what it returned."""
        row = found.collect()[0].asDict()
        rows = +Counter({name: row[f"num_{name}_rows"] for name in _COUNTS})
        return MergedRows(rows, asked=source_rows(found))


class Iceberg:
    """Tables of Apache Iceberg, by the names that a catalog gives them; see also `Delta`.

    https://iceberg.apache.org/docs/latest/spark-writes/#merge-into
    """

    name = "iceberg"
    takes_paths = False

    def identifier(self, target: str) -> str:
        """Return a table's name."""
        return target

    def kept(self, columns: StructType) -> StructType:
        """Return columns as in Iceberg: integers of 8 and 16 bits have 32."""
        return cast("StructType", nullable(columns, _kept))

    def fault(self, columns: StructType) -> str | None:
        """Return why a table cannot have some columns; None if it can.

        Parquet files of Iceberg have no empty names, and Iceberg finds columns by the path of their
        names, joined by dots.
        """
        found = [*_paths(columns)]
        if any(not name for _, name in found):
            return "a column without a name cannot be in a table of Iceberg"
        paths = Counter(path for path, _ in found)
        path, number = max(paths.items(), key=itemgetter(1), default=("", 0))
        return f"two columns have the path {path!r}" if number > 1 else None

    def widens(self, there: DataType, wider: DataType) -> bool:
        """Whether a column's type can become a wider one: the scale of decimals stays.

        https://iceberg.apache.org/spec/#schema-evolution
        """
        if isinstance(there, DecimalType) and isinstance(wider, DecimalType):
            return there.scale == wider.scale
        return True

    def part_fault(self, name: str, kind: Any, *, is_key: bool) -> str | None:  # noqa: ARG002
        """Return why a table cannot be partitioned by a column: it can, by all scalars."""
        return None

    def create(
        self,
        spark: SparkSession,
        target: str,
        columns: StructType,
        properties: Mapping[str, str],
        settings: Settings = NONE,
    ) -> None:
        """Make a table with some properties if it does not exist, and the namespace of its name."""
        _make_namespace(spark, target)
        properties = {**settings.properties, **properties}
        if not _created(spark, target, columns, self.name, properties, settings):
            set_properties(spark, target, properties)

    def evolve(self, spark: SparkSession, target: str, columns: StructType) -> None:
        """Add columns to a table, and widen its types."""
        # Only for this write: Spark does not align the columns of a MERGE while it is set.
        set_properties(spark, target, {_ANY_SCHEMA: "true"})
        try:
            kind = _as_there(columns, spark.table(target).schema)
            rows = local_rows(spark, arrow_schema(kind).empty_table(), kind)
            writer = rows.writeTo(target).option("mergeSchema", "true")
            writer.option("check-ordering", "false").append()
        finally:
            self.repair(spark, target, {_ANY_SCHEMA: "true"})

    def repair(self, spark: SparkSession, target: str, properties: Mapping[str, str]) -> None:
        """Undo what a killed `evolve` left among the properties of a table."""
        if _ANY_SCHEMA in properties:
            spark.sql(f"ALTER TABLE {target} UNSET TBLPROPERTIES ('{_ANY_SCHEMA}')")

    def refresh(self, spark: SparkSession, target: str) -> None:
        """Forget the snapshot that the session's catalog keeps for a while."""
        spark.catalog.refreshTable(target)

    def size(self, spark: SparkSession, target: str) -> int | None:
        """Return how many bytes the files of a table have; None if that is not known."""
        found = spark.sql(
            f"SELECT summary['total-files-size'] AS size FROM {target}.snapshots "  # noqa: S608
            "ORDER BY committed_at DESC LIMIT 1"
        ).collect()
        return int(found[0]["size"]) if found and found[0]["size"] else None

    def inserted(self, columns: StructType, others: Collection[str]) -> dict[str, str]:
        """Return what a MERGE gives new rows in columns of others, which Iceberg asks for.

        No row gets that far: NULL is not allowed there.
        """
        needed = (one for one in columns.fields if one.name in others and not one.nullable)
        return {quoted(one.name): f"CAST(NULL AS {one.dataType.simpleString()})" for one in needed}

    def merged(self, found: DataFrame) -> MergedRows:  # noqa: ARG002 - it says nothing
        """Return that nothing is known: a MERGE of Iceberg does not say what it did."""
        return MergedRows(None)


TableFormat: TypeAlias = Delta | Iceberg

_FORMATS: Final[Mapping[str, TableFormat]] = {one.name: one for one in (Delta(), Iceberg())}


def format_of(table_format: str) -> TableFormat:
    """Return a table format that a stream can merge into, by its name.

    Raises:
        ValueError: There is no such format.
    """
    if table_format not in _FORMATS:
        raise ValueError(f"no table_format {table_format!r}; there are: {', '.join(_FORMATS)}")
    return _FORMATS[table_format]


def no_rows(spark: SparkSession, columns: StructType) -> DataFrame:
    """Return a DataFrame without rows.

    Not by `createDataFrame`, which makes the session of a stream's batch the active one for good.
    """
    nothing = F.lit(None)
    return spark.range(0).select(
        *(nothing.cast(f.dataType).alias(f.name, metadata=f.metadata) for f in columns.fields)
    )


def properties_of(spark: SparkSession, identifier: str) -> dict[str, str]:
    """Return all properties of a table."""
    rows = spark.sql(f"SHOW TBLPROPERTIES {identifier}").collect()
    return {row["key"]: row["value"] for row in rows}


def set_properties(spark: SparkSession, identifier: str, properties: Mapping[str, str]) -> None:
    """Set properties of a table in one commit; names and texts are without quotes."""
    spark.sql(f"ALTER TABLE {identifier} SET TBLPROPERTIES ({_pairs(properties)})")


def _clusters(settings: Settings) -> str:
    return layout_by((), settings.cluster_by or ()).sql


def _pairs(properties: Mapping[str, str]) -> str:
    return ", ".join(f"'{name}' = '{text}'" for name, text in properties.items())


def cluster_fault(error: Exception) -> str | None:
    """Return the reason of an error if Delta cannot cluster a table; None for other errors."""
    condition = error.getCondition() if isinstance(error, AnalysisException) else None
    is_one = condition is not None and condition.startswith(_CANNOT_CLUSTER)
    return str(error).partition("\n")[0] if is_one else None


def _make_namespace(spark: SparkSession, name: str) -> None:
    """Make the namespace of a table's name, if it has one that does not exist."""
    namespace = ".".join(split_name(name)[:-1])
    if namespace:
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {namespace}")


def _created(  # noqa: PLR0917 - a table, and what is asked of it
    spark: SparkSession,
    table: str,
    columns: StructType,
    format: str,
    properties: Mapping[str, str],
    settings: Settings,
) -> bool:
    """Whether a table was made, in one commit; not if it exists."""
    rows = no_rows(spark, columns)
    writer = rows.writeTo(table).using(format)
    if settings.partition_by:
        writer = writer.partitionedBy(*map(_partition, settings.partition_by))
    for key, value in properties.items():
        writer = writer.tableProperty(key, value)
    try:
        if settings.cluster_by:  # Delta does not take these from a writer
            head = f"CREATE TABLE {table} USING {format}{_clusters(settings)} "
            head += f"TBLPROPERTIES ({_pairs(properties)}) AS SELECT * FROM "  # noqa: S608 - quoted
            run_sql(spark, head, rows)
        else:
            writer.create()
    except AnalysisException as error:
        if error.getCondition() != _EXISTS:
            raise
        return False
    return True


def run_sql(spark: SparkSession, head: str, source: DataFrame, tail: str = "") -> DataFrame:
    """Return what a statement returns, which has a source between two texts."""
    # PySpark formats the text, and names of columns may have braces.
    before, behind = (text.replace("{", "{{").replace("}", "}}") for text in (head, tail))
    return spark.sql(f"{before}{{source}}{behind}", source=source)


def _partition(one: Partition) -> Column:
    """Return what Spark calls a partition."""
    # Spark reads the name once more, unless it has a dot.
    name = quoted(one.column)
    column = F.col(name if "." in one.column else quoted(name))
    if one.transform == "bucket":
        return partitioning.bucket(one.buckets, column)
    by_time = {name: getattr(partitioning, name) for name in TIMES}
    return by_time[one.transform](column) if one.transform else column


def _has_clocks(kind: DataType) -> bool:
    """Whether a type has times without a zone, at any depth."""
    return isinstance(kind, TimestampNTZType) or any(_has_clocks(part) for _, part in inside(kind))


def _is_wider(columns: StructType, there: StructType) -> bool:
    """Whether a column has another type than in the current table."""
    known = {field.name: field.dataType.simpleString() for field in there.fields}
    return any(known.get(f.name, "") not in {"", f.dataType.simpleString()} for f in columns.fields)


def _paths(kind: DataType, above: str = "") -> Iterator[tuple[str, str]]:
    """Yield path and name of each column and field of a type, as in Iceberg."""
    for name, part in inside(kind):
        path = f"{above}.{name}" if above else name
        yield path, name
        yield from _paths(part, path)


def _as_there(columns: StructType, there: StructType) -> StructType:
    """Return columns as in a table, with NOT NULL, but for their types."""
    known = {one.name: one for one in there.fields}
    found = []
    for one in columns.fields:
        has = known.get(one.name, one)
        same = has.dataType.simpleString() == one.dataType.simpleString()
        found.append(StructField(one.name, (has if same else one).dataType, has.nullable))
    return StructType(found)


def _kept(kind: DataType) -> DataType:
    return IntegerType() if isinstance(kind, (ByteType, ShortType)) else kind
