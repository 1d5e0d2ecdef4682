"""``changewire trace --target``: whether a table holds what its log says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from tests.runtime.cli.conftest import json_lines
from tests.runtime.cli.trace_logs import history

from changewire.cli.traced import VERDICTS
from changewire.engines.changelog.target import Verdict
from changewire.tables.order import ChangePosition, Order
from changewire.tables.row_state import row_state
from changewire.tables.state import full_image
from changewire_messages.tables.arrow import ROW_STATE

if TYPE_CHECKING:
    from tests.runtime.cli.conftest import Ended


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder of a run in Python."""
    return history(tmp_path_factory.mktemp("trace"))


def table(folder: Path, sequence: int, record: int, row: str, *, is_deleted: bool = False) -> Path:
    """Write a table with the row of id 1 as `apply_changes` has it."""
    position = ChangePosition(str(folder.parent / "topic.jsonl"), -1, record, 0)
    state = full_image(Order((sequence, 1), position), {})
    metadata = pa.array([{**row_state(state), "deleted": is_deleted}], ROW_STATE)
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


def test_a_table_that_was_rewritten_is_compared(cli: Callable[..., Ended], output: Path) -> None:
    """Text of a table that delta-rs has rewritten is compared, though it is stored as views."""
    target = table(output.parent / "rewritten", *TARGETS["same"])
    DeltaTable(target).update({"row": "row"})
    (file,) = DeltaTable(target).file_uris()
    assert pq.read_schema(file).field("key").type == pa.string_view()
    assert cli("trace", output, "id=1", "--target", target).exit_code == 0


def test_rows_that_should_not_be_there(cli: Callable[..., Ended], output: Path) -> None:
    """A table may lack the row, or have one that is no more."""
    target = table(output.parent / "target", *TARGETS["same"])
    left = cli("trace", output, "id=1", "--apply-truncates", "--target", target, "--json")
    assert json_lines(left.stdout)[-1]["target"] == "left-over"
    missing = cli("trace", output, "id=2", "--target", target, "--json")
    assert json_lines(missing.stdout)[-1]["target"] == "missing"


def test_a_row_that_is_flagged_as_deleted_is_none(cli: Callable[..., Ended], output: Path) -> None:
    """A table that keeps deleted rows agrees with the log of them."""
    target = table(output.parent / "flagged", *TARGETS["same"], is_deleted=True)
    missing = cli("trace", output, "id=1", "--target", target, "--json")
    assert json_lines(missing.stdout)[-1]["target"] == "missing"
    same = cli("trace", output, "id=1", "--apply-truncates", "--target", target, "--json")
    assert json_lines(same.stdout)[-1]["target"] == "same"


def test_a_table_of_another_layout_is_refused(cli: Callable[..., Ended], output: Path) -> None:
    """The error names the table and the column."""
    target = output.parent / "other"
    rows = {"key": ['{"id":1}'], "row": ["{}"], "_changewire": [{"sequence": 1}]}
    write_deltalake(target, pa.table(rows))
    ended = cli("trace", output, "id=1", "--target", target)
    said = ended.stderr.replace("\n", " ")
    assert (ended.exit_code, "'_changewire' has another layout" in said) == (2, True)


def test_a_damaged_table_is_refused(cli: Callable[..., Ended], output: Path) -> None:
    """The error has the reason of delta-rs without its backtrace."""
    target = output.parent / "damaged"
    write_deltalake(target, pa.table({"key": ["{}"]}))
    (target / "_delta_log" / f"{0:020}.json").write_text("{no", "utf-8")
    ended = cli("trace", output, "id=1", "--target", target)
    said = " ".join(ended.stderr.split())
    assert ended.exit_code == 2
    assert "damaged: it cannot be read without Spark (Kernel error: Json error: " in said
    assert "<unknown>" not in said
