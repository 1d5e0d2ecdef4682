"""Rows that are typed in every way there is, for a process that cannot import PySpark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable
from pyarrow.fs import LocalFileSystem, SubTreeFileSystem

import changewire.arrow as cwa
import changewire.delta as cwd
from changewire.job import run

FORMAT = "dataworks-json"


def typed(folder: str, schema: str) -> str:
    """Decode a file of messages with rows of each kind; return what that gives as JSON."""
    file = f"{folder}/messages.jsonl"
    columns = pa.schema(
        {"id": pa.int64(), "price": pa.decimal128(9, 2), "at": pa.timestamp("us", "UTC")}
    )
    found: dict[str, Any] = {
        "arrow": decoded(file, columns),
        "schema": decoded(file, schema),
        "embedded": decoded(file, "embedded"),
        "json schema": decoded(file, f"{folder}/row.json"),
    }
    output = f"{folder}/python"
    run([file], output, format=FORMAT, engine="python", row_schema=columns)
    log = pq.read_table(f"{output}/log")
    changes = log.filter(pc.equal(log["kind"], "change"))["after"].to_pylist()
    letters = log.filter(pc.equal(log["kind"], "dead_letter"))["pointer"].to_pylist()
    found["python"] = [changes, letters]
    for name, rows in {"tables": columns, "tables of schemas": "auto"}.items():
        outcome = cwd.apply_changes(
            file,
            format=FORMAT,
            target=f"{folder}/{name}/{{table}}",
            log=f"{folder}/log of {name}",
            row_schema=rows,
            misfits="refuse" if rows == "auto" else None,
        )
        (table,) = (path for path in Path(folder, name).iterdir() if "__" not in path.name)
        kept = rows_of(table)
        rejected = [one["pointer"] for one in outcome.first_dead_letters]
        rejected += cwa.refused(f"{folder}/log of {name}")["pointer"].to_pylist()
        found[name] = [kept, rejected]
    for name, rows in {"versions": columns, "versions by schema": schema}.items():
        versions = cwa.history(
            f"{folder}/log of tables", table="shop.users", row_schema=rows, format=FORMAT
        )
        found[name] = versions.select(columns.names).to_pylist()
    return json.dumps(found, default=str)


def rows_of(table: Path) -> list[Any]:
    """Return the rows of a table of delta-rs, without the column of their changes."""
    # Threads of Arrow that call a file system of Python's may abort a process that ends.
    files = SubTreeFileSystem(str(table), LocalFileSystem())
    found = DeltaTable(table).to_pyarrow_dataset(filesystem=files).to_table()
    rows: list[Any] = found.drop_columns("_changewire").sort_by("id").to_pylist()
    return rows


def decoded(file: str, rows: Any) -> list[Any]:
    """Return rows after changes, and pointers of dead letters."""
    tables = cwa.decode(file, format=FORMAT, row_schema=rows).tables()
    letters = tables.dead_letters.column("pointer").to_pylist()
    return [tables.changes.column("after").to_pylist(), letters]
