"""Tables without Spark are made of their log alone, whoever landed it, and whenever."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from deltalake import DeltaTable, write_deltalake
from tests.runtime.engines.merge.messages import message, records
from tests.runtime.engines.merge_local.lake import Lake

import changewire.delta as cwd
from changewire.engines.errors import OutputError
from changewire.engines.merge import applying, delta, url_files
from changewire.engines.merge.log import log_there
from changewire.engines.merge.options import local_options
from changewire.engines.options import TableOptions

TYPED = pa.schema([("id", pa.int64()), ("price", pa.float64())])
BAD = {"id": 2, "price": "x"}
TEXTS = {"id": "LONG", "price": "STRING"}


def test_a_run_without_the_types_does_not_lose_them(tmp_path: Path) -> None:
    """The log says what messages declare, so a later run with the right option applies them."""
    lake = Lake(tmp_path)
    lake.apply_records(records(message("INSERT", 1, {"id": 1, "name": "a"})), row_schema="embedded")
    later = [
        message("INSERT", 2, {"id": 2, "name": "b"}),
        message("UPDATE_AFTER", 3, {"id": 1, "name": "c"}, before={"id": 1}),
    ]
    with pytest.raises(
        OutputError, match=r"its rows are columns, and .* asks for JSON text; `rebuild`"
    ):
        lake.apply_records(records(*later, start=5))
    assert len(lake.log("change")) == 3
    outcome = lake.apply_records(records(*later, start=5), row_schema="embedded")
    assert outcome.tables == {"inserted": 1, "updated": 1}
    assert sorted((row["id"], row["name"]) for row in lake.rows()) == [(1, "c"), (2, "b")]


def test_rows_that_retention_deletes_stay_in_tables(tmp_path: Path) -> None:
    """A commit that rewrites files of the log without some rows has nothing to merge."""
    lake = Lake(tmp_path)
    lake.apply_records(records(*(message("INSERT", 1, {"id": n, "name": "a"}) for n in range(5))))
    deleted = DeltaTable(f"{tmp_path}/log").delete("kind = 'change' AND offset < 3")
    assert (deleted["num_deleted_rows"], deleted["num_copied_rows"]) == (3, 2)
    later = [message("UPDATE_AFTER", 2, {"id": n, "name": "b"}) for n in range(2)]
    outcome = lake.apply_records(records(*later, start=5))
    assert (outcome.tables, outcome.unapplied, len(lake.log())) == ({"updated": 2}, 0, 4)
    assert len(lake.rows()) == 5


def test_a_refused_move_does_not_hold_back_late_writes(tmp_path: Path) -> None:
    """To later changes it is as if it never came, whichever run they come in."""
    lake = Lake(tmp_path)
    first = message("INSERT", 1, {"id": 1, "price": 1.5})
    move = message("UPDATE_AFTER", 5, BAD, before={"id": 1}, types=TEXTS)
    assert lake.apply_records(records(first, move), row_schema=TYPED).tables == {
        "inserted": 1,
        "refused": 1,
    }
    late = message("INSERT", 3, {"id": 1, "price": 2.5})
    assert lake.apply_records(records(late, start=5), row_schema=TYPED).tables == {"updated": 1}
    assert [(row["id"], row["price"]) for row in lake.rows()] == [(1, 2.5)]


@pytest.mark.parametrize("batch_size", [1, 9])
def test_a_refused_move_does_not_hold_back_earlier_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch_size: int
) -> None:
    """An earlier delete lets a look at the log happen, which has moves that came later too."""
    monkeypatch.setattr(applying, "_APPLIED", 1)
    lake = Lake(tmp_path)
    gone = {"id": 9, "price": 1.5}
    first = [message("INSERT", 1, gone), message("DELETE", 8, gone)]
    lake.apply_records(records(*first), row_schema=TYPED)
    late = message("INSERT", 3, {"id": 1, "price": 2.5})
    move = message("UPDATE_AFTER", 5, BAD, before={"id": 1}, types=TEXTS)
    sent = records(late, move, start=5)
    found = lake.apply_records(sent, row_schema=TYPED, batch_size=batch_size).tables
    assert found == {"inserted": 1, "refused": 1}


@pytest.mark.parametrize("together", [1, 2, 9])
def test_refusals_are_of_their_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    """However many rows are merged together, also if tables are left out."""
    monkeypatch.setattr(applying, "_APPLIED", together)
    lake = Lake(tmp_path)
    sent = [
        message("INSERT", n, {"id": n, "price": price}, types=TEXTS, table=table)
        for n, (price, table) in enumerate(
            [("1", "t"), ("x", "u"), ("x", "t"), ("2", "t"), ("y", "u"), ("y", "t"), ("z", "t")]
        )
    ]
    outcome = lake.apply_records(
        records(*sent), row_schema=TYPED, only_tables=["d.t"], batch_size=2
    )
    assert outcome.tables == {"inserted": 2, "refused": 3, "left_out": 2}
    refused = lake.log("refused")
    assert sorted(row["offset"] for row in refused) == [2, 5, 6]
    changes = {row["offset"]: row for row in lake.log("change")}
    for row in refused:
        reason = {name: row[name] for name in ("kind", "code", "pointer", "message", "target")}
        assert row == changes[row["offset"]] | reason
        assert reason["pointer"] == "/after/price"


@pytest.mark.parametrize("parts", [1, 2])
def test_a_row_stays_if_the_image_of_its_new_place_is_refused(tmp_path: Path, parts: int) -> None:
    """Its two images may come in one run, or the one before in a later one."""
    lake = Lake(tmp_path)
    first = message("INSERT", 1, {"id": 1, "price": 1.5})
    after = message("UPDATE_AFTER", 5, BAD, types=TEXTS)
    before = message("UPDATE_BEFOR", 5, None, before={"id": 1, "price": 1.5})
    runs = [[first, after, before]] if parts == 1 else [[first, after], [before]]
    for number, run in enumerate(runs):
        lake.apply_records(records(*run, start=10 * number), row_schema=TYPED)
    assert [(row["id"], row["price"]) for row in lake.rows()] == [(1, 1.5)]


def test_a_log_is_applied_to_another_target(tmp_path: Path) -> None:
    """It gets all of the log once; `apply_log` does the rest of a run that was only landed."""
    lake = Lake(tmp_path)
    lake.apply_records(records(message("INSERT", 1, {"id": 1}), message("INSERT", 2, {"id": 2})))
    other = f"{tmp_path}/other/{{table}}"
    assert cwd.apply_log(lake.places["log"], target=other, row_schema="json") == {"inserted": 2}
    assert cwd.apply_log(lake.places["log"], target=other, row_schema="json") == {}
    found = DeltaTable(f"{tmp_path}/other/t").to_pyarrow_table().to_pylist()
    assert sorted(row["row"] for row in found) == sorted(row["row"] for row in lake.rows())
    with pytest.raises(OutputError, match="the log does not exist"):
        cwd.apply_log(f"{tmp_path}/missing/log", target=other, row_schema="json")


def test_a_log_without_effects_is_applied(tmp_path: Path) -> None:
    """A log of an earlier version gets the columns; what it has is applied as before."""
    lake = Lake(tmp_path)
    lake.apply_records(
        records(
            message("INSERT", 1, {"id": 1, "name": "a"}),
            message("INSERT", 2, {"id": 2, "name": "b"}),
            message("UPDATE_AFTER", 3, {"id": 3, "name": "a"}, before={"id": 1, "name": "a"}),
            message("DELETE", 4, {"id": 2, "name": "b"}),
        )
    )
    rows = DeltaTable(lake.places["log"]).to_pyarrow_table()
    old = f"{tmp_path}/old/log"
    write_deltalake(old, rows.drop_columns(["effect", "columns"]))
    target = f"{tmp_path}/old/tables/{{table}}"
    assert cwd.apply_log(old, target=target, row_schema="json") == {"inserted": 1}
    found = DeltaTable(f"{tmp_path}/old/tables/t").to_pyarrow_table().to_pylist()
    assert [row["row"] for row in found] == [row["row"] for row in lake.rows()]
    assert {"effect", "columns"} <= {one.name for one in DeltaTable(old).schema().fields}


@pytest.mark.parametrize(
    ("damaged", "named"),
    [
        ("tables/t", r"/tables/t: delta-rs cannot do it \([^↳\n]*: Not a directory [^↳\n]*\)"),
        ("log/*.parquet", "/log: delta-rs cannot do it .*Parquet magic bytes not found"),
        ("log/*.parquet gone", "/log: delta-rs cannot do it .*No such file"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, damaged: str, named: str) -> None:
    """The error names the table or the log."""
    lake, (pattern, *gone) = Lake(tmp_path), damaged.split()
    lake.apply_records(records(message("INSERT", 1, {"id": 1})))
    for path in [*tmp_path.glob(pattern)]:
        if path.is_dir():
            shutil.rmtree(path)
        if gone:
            path.unlink()
        else:
            path.write_bytes(b"something else")
    with pytest.raises(OutputError, match=named):
        lake.apply_records(records(message("INSERT", 2, {"id": 2}), start=5))


@pytest.mark.parametrize(("path", "read"), [("s3://lake/log", 3), ("/lake/log", 1)])
def test_a_scan_at_a_url_is_read_to_its_end(path: str, read: int) -> None:
    """A thread of Arrow that still reads when the interpreter ends would abort the process."""
    batches: list[Any] = []

    class Scanned:
        schema = pa.schema([("a", pa.int64())])

        def to_batches(self, **_: Any) -> Iterator[pa.RecordBatch]:
            for number in range(3):
                batches.append(pa.RecordBatch.from_pydict({"a": [number], "wanted a": [True]}))
                yield batches[-1]

    found = delta.tables_in(path, Scanned(), ds.scalar(value=True))
    assert next(found).to_pylist() == [{"a": 0}]
    del found
    assert len(batches) == read


def test_the_process_does_not_end_while_threads_have_files(tmp_path: Path) -> None:
    """A thread of Arrow lets go of a file after the last row of a scan."""
    url = tmp_path.as_uri()
    write_deltalake(url, pa.table({"a": [1]}))
    data = delta.dataset_of(url, DeltaTable(url))
    opened = [data.filesystem.open_input_file(next(data.get_fragments()).path)]
    thread = threading.Timer(0.2, opened.clear)
    thread.start()
    url_files.await_threads()
    assert not opened


def test_the_merged_version_never_goes_back(tmp_path: Path) -> None:
    """A run that ends after a later run keeps the version that the later one has written."""
    lake = Lake(tmp_path)
    first = records(message("INSERT", 1, {"id": 1, "name": "a"}))
    lake.apply_records(first, target=f"{tmp_path}/other/{{table}}")
    asked = TableOptions(lake.places["target"], row_schema="json")
    how = local_options(None, asked, log=lake.places["log"])
    slow = applying.Applying(log_there(how), how)
    slow()
    lake.apply_records(records(message("INSERT", 2, {"id": 2, "name": "b"}), start=1))
    before = log_there(how)
    slow.finish()
    after = log_there(how)
    assert (after.merged, after.version) == (before.merged, before.version)
    assert len(cwd.verify(**lake.places)) == 0


def test_compactions_of_a_log_at_rest_add_nothing(tmp_path: Path) -> None:
    """The first one has its commit, and one that says that the tables have it; others none."""
    lake = Lake(tmp_path)
    for number in range(3):
        lake.apply_records(records(message("INSERT", 1, {"id": number}), start=number))
    asked = TableOptions(lake.places["target"], row_schema="json")
    log = log_there(local_options(None, asked, log=lake.places["log"]))
    log.merged_to(log.version)
    versions = [log.version]
    for _ in range(3):
        log.compact()
        log.finish()
        versions.append(log.version)
    assert versions[1:] == [versions[0] + 2] * 3
