"""No message ends a run of `changewire.delta`: each is in the tables, or a dead letter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from tests.runtime.codec.formats import FORMATS
from tests.runtime.engines.any_messages import (
    KEYS,
    Content,
    Read,
    captured,
    differences,
    json_contents,
    json_key,
    mutated,
    without,
)

import changewire.delta
from changewire.tables import ChangePosition

FEW, MANY = 400, 5_000
BATCH = 500


@pytest.mark.parametrize("format", FORMATS)
def test_a_run_takes_any_message(tmp_path: Path, format: str) -> None:
    """Every element is in one output, and tables are as the model says."""
    check(tmp_path, Read(format, [*captured(format), *mutated(format, FEW, seed=2)]))


@pytest.mark.long
@pytest.mark.parametrize("format", FORMATS)
def test_a_run_takes_thousands_of_mutated_messages(tmp_path: Path, format: str) -> None:
    """The same holds for thousands."""
    check(tmp_path, Read(format, [*captured(format), *mutated(format, MANY, seed=2)]))


def check(root: Path, sent: Read) -> None:
    """Apply messages, and compare outputs and tables with what Python reads of the messages."""
    offsets = pa.array(range(len(sent.messages)), pa.int64())
    columns = {
        "value": pa.array(sent.messages, pa.binary()),
        "topic": pa.array(["topic"] * len(offsets)),
        "partition": pa.array([0] * len(offsets), pa.int32()),
        "offset": offsets,
    }
    outcome = changewire.delta.apply_changes(
        pa.table(columns),
        format=sent.format,
        target=f"{root}/tables/{{database}}",
        output=str(root / "out"),
        checkpoint=str(root / "checkpoint"),
        keys=KEYS.get(sent.format),
        apply_as_truncates=True,
        batch_size=BATCH,
    )
    places = {name: placed(root / "out" / name) for name in ("changes", "controls", "dead_letters")}
    assert {name: len(found) for name, found in places.items()} == {
        "changes": outcome.counts.changes,
        "controls": outcome.counts.controls,
        "dead_letters": outcome.counts.dead_letters,
    }
    elements = sorted(place for found in places.values() for place in found)
    assert elements == [position for position, _ in sent.elements()]
    assert not outcome.counts.by_error_code["apply-failed"]
    dead, unordered = {*places["dead_letters"]}, sent.unordered(json_key)
    found: Content = {
        path.name: rows(path)
        for path in sorted((root / "tables").iterdir())
        if not path.name.endswith("__tombstones")
    }
    expected = json_contents(sent, dead)
    assert differences(without(found, unordered), without(expected, unordered)) == []


def placed(output: Path) -> list[ChangePosition]:
    """Return where the elements of an output were read."""
    columns = pq.read_table(output, columns=["topic", "partition", "offset", "element"])
    return [ChangePosition(**row) for row in columns.to_pylist()]


def rows(table: Path) -> dict[str, Any]:
    """Return the rows of a table."""
    found = DeltaTable(table).to_pyarrow_table(columns=["key", "row"]).to_pylist()
    return {row["key"]: msgspec.json.decode(row["row"]) for row in found}
