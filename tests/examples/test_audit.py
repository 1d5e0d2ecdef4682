"""The audit of the streaming demo finds what is lost, double or wrong, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from examples.demo_stream.audit import Facts, audit
from tests.support.topics import create, produce

from changewire.framing import Position, Record

DIGEST = "YWFhYWFhYWFhYWFhYWFhYWFhYWE="
WRITE = {"msg": "write", "key": ["shop", "users", DIGEST, "ann"], "gen": 1, "exp": 0, "lut": 1000}
BINS = [{"name": "name", "type": "str", "value": "Ann"}]
VALUES = [json.dumps({**WRITE, "bins": BINS}).encode(), b'{"msg": "write"}', b"[]"]
KEY = json.dumps({"aerospike_digest": DIGEST}, separators=(",", ":"))
ROW = json.dumps({"aerospike_digest": DIGEST, "name": "Ann"})
LOG = [("change", 0, 0), ("dead_letter", 1, 0), ("control", 2, 0)]
GOOD = Facts(3, 3, 1, 1, 1, 0, 0, 1, 0, 0, 0)


@pytest.fixture(scope="module")
def topic(kafka: str) -> str:
    """A topic with a write, a message that is refused, and a batch without elements."""
    create(kafka, "audited")
    position = Position(topic="audited", partition=0)
    produce(kafka, [Record(None, value, position) for value in VALUES])
    return "audited"


Rows = list[tuple[str, int, int]]
"""Kind, offset and attempt of rows of a log."""


@pytest.fixture
def audited(kafka: str, topic: str, tmp_path: Path) -> Callable[..., Facts]:
    """Audit a log with some rows, and a table with some rows."""

    def once(log: Rows, rows: dict[str, str]) -> Facts:
        kinds, offsets, attempts = zip(*log, strict=True)
        columns: dict[str, Any] = {
            "kind": pa.array(kinds, pa.string()),
            "offset": pa.array(offsets, pa.int64()),
            "element": pa.array([0 for _ in log], pa.int32()),
            "attempt": pa.array(attempts, pa.int32()),
        }
        write_deltalake(tmp_path / "ops" / "log", pa.table(columns))
        table = {
            "key": pa.array([*rows], pa.string()),
            "row": pa.array([*rows.values()], pa.string()),
        }
        write_deltalake(tmp_path / "tables" / "users", pa.table(table))
        return audit(kafka, topic, tmp_path, "users")

    return once


def test_what_is_right_is_good(audited: Callable[..., Facts]) -> None:
    """Each element is in the log once, and the row is that of its message."""
    found = audited(LOG, {KEY: ROW})
    assert found == GOOD
    assert found.are_good


@pytest.mark.parametrize(
    ("log", "rows", "wrong"),
    [
        (LOG[1:], {KEY: ROW}, (1, 0, 0)),
        ([*LOG, LOG[0]], {KEY: ROW}, (0, 1, 0)),
        ([*LOG, ("change", 7, 0)], {KEY: ROW}, (0, 1, 0)),
        (LOG, {}, (0, 0, 1)),
        (LOG, {KEY: ROW.replace("Ann", "Anne")}, (0, 0, 1)),
        (LOG, {KEY: ROW, "{}": "{}"}, (0, 0, 1)),
    ],
    ids=["lost", "double", "not-sent", "no-row", "wrong-row", "row-too-many"],
)
def test_what_is_not_right_is_found(
    audited: Callable[..., Facts],
    log: Rows,
    rows: dict[str, str],
    wrong: tuple[int, int, int],
) -> None:
    """An element that is missing, there twice or never sent, and a row that should not be so."""
    found = audited(log, rows)
    assert (found.lost, found.double, found.wrong_rows) == wrong
    assert not found.are_good


def test_what_no_table_took_is_open(audited: Callable[..., Facts]) -> None:
    """A refused change is no second element, and is counted until it is replayed."""
    refused = ("refused", 0, 0)
    found = audited([*LOG, refused], {KEY: ROW})
    assert (found.refused, found.replayed, found.are_good) == (1, 0, True)


def test_a_replayed_change_is_counted_once(audited: Callable[..., Facts]) -> None:
    """Its later row is not a second element, and closes a refusal or a dead letter."""
    later = [("refused", 0, 0), ("change", 0, 1), ("control", 1, 1)]
    found = audited([*LOG, *later], {KEY: ROW})
    assert found == GOOD._replace(dead_letters=0, replayed=2)
