"""Whether tables of Delta Lake that two engines wrote are the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from deltalake import DeltaTable

from changewire.engines.kept import SUFFIX


def content(folder: Path) -> list[str]:
    """Return the rows of a table, or its tombstones, each once; when is not compared."""
    rows = DeltaTable(str(folder)).to_pyarrow_table().to_pylist(maps_as_pydicts="strict")
    texts = (json.dumps({**row, "since": None}, sort_keys=True, default=repr) for row in rows)
    return sorted({*texts} if folder.name.endswith(SUFFIX) else texts)


def layout(folder: Path) -> tuple[Any, dict[str, str]]:
    """Return the columns of a table with their comments, and its properties of ours."""
    table = DeltaTable(str(folder))
    properties = table.metadata().configuration
    ours = {name: text for name, text in properties.items() if name.startswith("changewire.")}
    return json.loads(table.schema().to_json()), ours


def assert_same(spark_folder: Path, folder: Path) -> None:
    """Compare all tables below two folders."""
    names = {path.parent.relative_to(folder) for path in folder.rglob("_delta_log")}
    assert names
    assert names == {
        path.parent.relative_to(spark_folder) for path in spark_folder.rglob("_delta_log")
    }
    for name in sorted(names):
        assert content(folder / name) == content(spark_folder / name), name
        assert layout(folder / name) == layout(spark_folder / name), name
