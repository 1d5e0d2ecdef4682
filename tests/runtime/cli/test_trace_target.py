"""``changewire trace --target``: whether a table holds what its log says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from tests.runtime.cli.conftest import json_lines
from tests.runtime.cli.trace_logs import history

from changewire.cli.traced import VERDICTS
from changewire.engines.changelog import Verdict
from changewire.tables.metadata import metadata_of
from changewire.tables.order import ChangePosition, Order
from changewire.tables.state import full_image

if TYPE_CHECKING:
    from tests.runtime.cli.conftest import Ended


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder of a run in Python."""
    return history(tmp_path_factory.mktemp("trace"))


def table(folder: Path, sequence: int, record: int, row: str) -> Path:
    """Write a table with the row of id 1 as `apply_changes` has it."""
    position = ChangePosition(str(folder.parent / "topic.jsonl"), -1, record, 0)
    state = full_image(Order((sequence, 1), position), {})
    kind = pa.struct({"major": pa.int64(), "minor": pa.int64()})
    place = {"topic": pa.string(), "partition": pa.int32(), "offset": pa.int64()}
    order = pa.struct({"sequence": kind, **place, "element": pa.int32()})
    columns = {"columns": pa.map_(pa.string(), order), "floor": order, "version": pa.int32()}
    metadata = pa.array([metadata_of(state)], pa.struct([*order, *pa.struct(columns)]))
    rows = {"key": ['{"id":1}'], "row": [row], "_changewire": metadata}
    write_deltalake(folder, pa.table(rows), mode="overwrite")
    return folder


TARGETS: dict[Verdict, tuple[int, int, str]] = {
    "same": (13, 2, '{"id":1,"name":"c\\u001b[31m","price":null}'),
    "other-values": (13, 2, '{"id":1,"name":"edited"}'),
    "other-change": (12, 3, '{"id":1,"name":"late"}'),
}


@pytest.mark.parametrize("name", TARGETS)
def test_the_table_is_compared(cli: Callable[..., Ended], output: Path, name: Verdict) -> None:
    """The row of the table is that of the log, or was made by another change, or was edited."""
    target = table(output.parent / "target", *TARGETS[name])
    ended = cli("trace", output, "id=1", "--target", target)
    assert ended.exit_code == (0 if name == "same" else 1)
    assert f"the table {VERDICTS[name]} ({name})" in ended.stderr.replace("\n", " ")


def test_rows_that_should_not_be_there(cli: Callable[..., Ended], output: Path) -> None:
    """A table may lack the row, or have one that is no more."""
    target = table(output.parent / "target", *TARGETS["same"])
    left = cli("trace", output, "id=1", "--apply-as-truncates", "--target", target, "--json")
    assert json_lines(left.stdout)[-1]["target"] == "left-over"
    missing = cli("trace", output, "id=2", "--target", target, "--json")
    assert json_lines(missing.stdout)[-1]["target"] == "missing"
