"""Columns whose names a table format keeps for itself: their values are rescued."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.runtime.engines.merge.messages import message, records
from tests.runtime.engines.merge_local.lake import Lake

import changewire.delta as cwd
from changewire.engines.spark.merge.formats import format_of
from changewire.engines.spark.merge.plan import SparkRules
from changewire.engines.typed.types import field_json, struct_json

TYPES = {"id": "LONG", "_change_type": "STRING"}


@pytest.mark.parametrize(
    ("table_format", "name", "has_fault"),
    [
        ("delta", "_Change_Type", True),
        ("delta", "_commit_version", True),
        ("delta", "_file", False),
        ("iceberg", "_file", True),
        ("iceberg", "_FILE", True),
        ("iceberg", "_last_updated_sequence_number", True),
        ("iceberg", "_change_type", False),
    ],
)
def test_formats_keep_names_for_themselves(
    table_format: str, name: str, *, has_fault: bool
) -> None:
    """Iceberg does not read a table with such a column; Delta does not write its feed."""
    rules = SparkRules(format_of(table_format), None)
    fault = rules.fault(struct_json([field_json(name, "string")]))
    expected = f"column {name!r} has a name that the table format keeps for itself"
    assert fault == (expected if has_fault else None)


def test_values_of_such_columns_are_rescued(tmp_path: Path) -> None:
    """A table with a change data feed takes them; no row is lost."""
    settings: dict[str, cwd.TableSettings] = {
        "*": {"properties": {"delta.enableChangeDataFeed": "true"}}
    }
    sent = message("INSERT", 1, {"id": 1, "_change_type": "own"}, types=TYPES)
    lake = Lake(tmp_path)
    lake.apply_records(records(sent), format="dataworks-json", row_schema="auto", tables=settings)
    (row,) = lake.rows()
    assert row["id"] == 1
    assert row["_changewire"]["rescued"] == '{"_change_type":"own"}'
