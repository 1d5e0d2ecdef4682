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
PLACES = {"changes": [0], "controls": [2], "dead_letters": [1]}
GOOD = Facts(3, 3, 1, 1, 1, 0, 1, 0, 0, 0)


@pytest.fixture(scope="module")
def topic(kafka: str) -> str:
    """A topic with a write, a message that is refused, and a batch without elements."""
    create(kafka, "audited")
    position = Position(topic="audited", partition=0)
    produce(kafka, [Record(None, value, position) for value in VALUES])
    return "audited"


@pytest.fixture
def audited(kafka: str, topic: str, tmp_path: Path) -> Callable[..., Facts]:
    """Audit outputs with messages at some offsets, and a table with some rows."""

    def once(places: dict[str, list[int]], rows: dict[str, str]) -> Facts:
        for name, offsets in places.items():
            columns: dict[str, Any] = {
                "offset": pa.array(offsets, pa.int64()),
                "element": pa.array([0 for _ in offsets], pa.int32()),
            }
            write_deltalake(tmp_path / "log" / name, pa.table(columns))
        table = {
            "key": pa.array([*rows], pa.string()),
            "row": pa.array([*rows.values()], pa.string()),
        }
        write_deltalake(tmp_path / "tables" / "users", pa.table(table))
        return audit(kafka, topic, tmp_path, "users")

    return once


def test_what_is_right_is_good(audited: Callable[..., Facts]) -> None:
    """Each element is in one output, and the row is that of its message."""
    found = audited(PLACES, {KEY: ROW})
    assert found == GOOD
    assert found.are_good


@pytest.mark.parametrize(
    ("places", "rows", "wrong"),
    [
        ({**PLACES, "dead_letters": []}, {KEY: ROW}, (1, 0, 0)),
        ({**PLACES, "changes": [0, 0]}, {KEY: ROW}, (0, 1, 0)),
        ({**PLACES, "changes": [0, 7]}, {KEY: ROW}, (0, 1, 0)),
        (PLACES, {}, (0, 0, 1)),
        (PLACES, {KEY: ROW.replace("Ann", "Anne")}, (0, 0, 1)),
        (PLACES, {KEY: ROW, "{}": "{}"}, (0, 0, 1)),
    ],
    ids=["lost", "double", "not-sent", "no-row", "wrong-row", "row-too-many"],
)
def test_what_is_not_right_is_found(
    audited: Callable[..., Facts],
    places: dict[str, list[int]],
    rows: dict[str, str],
    wrong: tuple[int, int, int],
) -> None:
    """An element that is missing, there twice or never sent, and a row that should not be so."""
    found = audited(places, rows)
    assert (found.lost, found.double, found.wrong_rows) == wrong
    assert not found.are_good
