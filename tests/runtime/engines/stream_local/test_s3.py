"""Log and tables in a store that speaks S3, without Spark."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from subprocess import Popen
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from examples.broker import HOST, free_port, waited
from tests.cluster.processes import LOG, kill_all, running
from tests.cluster.store import BUCKET, s3_server
from tests.runtime.engines.stream_local.topics import Topic, history

import changewire.delta as cwd
from changewire.engines.errors import OutputError
from changewire.engines.merge.log import LocalLog

AWAY = 8  # seconds; by itself, delta-rs gives up after some five
LAKE = f"s3://{BUCKET}/lake"
PLACES: dict[str, Any] = {"log": f"{LAKE}/log", "target": f"{LAKE}/tables/{{table}}"}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server; delta-rs learns of it as the page of deployment says."""
    with s3_server(tmp_path / "store") as address:
        for name, value in {
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": address,
            "AWS_ALLOW_HTTP": "true",
        }.items():
            monkeypatch.setenv(name, value)
        yield address


def rows_of(table: str) -> list[dict[str, Any]]:
    """Return the rows of a table in the store, by their keys."""
    rows = DeltaTable(f"{LAKE}/tables/{table}").to_pyarrow_table().to_pylist()
    return sorted(rows, key=lambda row: row["id"])


@pytest.mark.usefixtures("store")
def test_log_and_tables_are_those_of_a_folder(topic: Topic) -> None:
    """Runs go on where the log says, compact files, and verify what they wrote."""
    for seed in (1, 2):
        topic.send(history(seed, 30))
        assert topic.stream(**PLACES).tables
    expected = topic.expected().tables()
    assert {table: rows_of(table) for table in expected} == expected
    assert cwd.verify(**PLACES).num_rows == 0


@pytest.mark.usefixtures("store")
def test_a_commit_replaces_no_other_one(topic: Topic, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two streams that commit the same version, one gets an error, and nothing is lost."""
    topic.send(history(1, 10))
    topic.stream(**PLACES)
    append = LocalLog.append

    def overtaken(log: LocalLog, rows: pa.Table, *numbers: Any) -> None:
        monkeypatch.setattr(LocalLog, "append", append)
        topic.stream(**PLACES)
        append(log, rows, *numbers)

    topic.send(history(2, 10))
    monkeypatch.setattr(LocalLog, "append", overtaken)
    with pytest.raises(cwd.OwnerError, match="another stream writes to the log"):
        topic.stream(**PLACES)
    expected = topic.expected().tables()
    assert {table: rows_of(table) for table in expected} == expected


def test_a_store_that_is_away_for_some_seconds_is_waited_for(
    topic: Topic, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch is written once the store answers again."""
    port = free_port()
    relay = f"exec '{sys.executable}' -m tests.runtime.engines.stream_local.relay {port} "
    relay += store.rpartition(":")[2]
    variables = {"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path)}
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{HOST}:{port}")
    append, away = LocalLog.append, [f"sleep {AWAY}; {relay}"]
    with ExitStack() as stack:

        def started(command: str, name: str) -> Popen[bytes]:
            return stack.enter_context(running(command, tmp_path / name, variables))

        first = started(relay, "first")
        assert waited(first, f"{HOST}:{port}", tmp_path / "first" / LOG, seconds=60) is None
        topic.send(history(1, 10))
        topic.stream(**PLACES)

        def left(log: LocalLog, rows: pa.Table, *numbers: Any) -> None:
            while away:
                kill_all(first)
                started(away.pop(), "second")
            append(log, rows, *numbers)

        topic.send(history(2, 10))
        monkeypatch.setattr(LocalLog, "append", left)
        topic.stream(**PLACES)
        expected = topic.expected().tables()
        assert {table: rows_of(table) for table in expected} == expected
    assert not away


@pytest.mark.usefixtures("store")
def test_why_a_store_refuses_is_said() -> None:
    """Its answer is XML of several lines; the code in it is what helps."""
    places: dict[str, Any] = {"log": "s3://nosuch/log", "target": "s3://nosuch/{table}"}
    with pytest.raises(OutputError, match=r"s3://nosuch/log: .*NoSuchBucket"):
        cwd.apply_changes([], format="dataworks-json", **places)
