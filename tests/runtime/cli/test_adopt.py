"""``changewire adopt``: tables that something else has made, or that belong to another log."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from tests.runtime.cli.conftest import Ended
from tests.runtime.engines.merge.messages import message

Cli = Callable[..., Ended]
TABLE = "lake/t"
TYPES = {"id": "LONG", "name": "STRING"}


@pytest.fixture
def adopt(
    engine: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Ended]:
    """Let the next run take a table over, by an engine, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return lambda *words: cli("adopt", TABLE, "--engine", engine, *words)


def applied(cli: Cli, output: str, *values: bytes) -> Ended:
    """Apply messages to the table, without Spark."""
    file = Path(f"{output}.jsonl")
    file.write_bytes(b"\n".join(values))
    places = ("-o", output, "--target", "lake/{table}", "--row-schema", "embedded")
    return cli("run", "-f", "dataworks-json", *places, "--row-image", "patch", file)


def rows() -> dict[int, Any]:
    """Return the names of the rows by their keys."""
    found = DeltaTable(TABLE).to_pyarrow_table().to_pylist()
    return {row["id"]: row["name"] for row in found}


def test_a_table_of_another_program_is_adopted(adopt: Callable[..., Ended], cli: Cli) -> None:
    """Its rows are older than every change, patched ones too; a wrong key changes nothing."""
    write_deltalake(TABLE, pa.table({"id": [1, 2, 3], "name": ["a", "b", "b"]}))
    changes = [
        message("UPDATE_AFTER", 1, {"id": 1, "name": "new"}, types=TYPES),
        message("DELETE", 1, {"id": 2, "name": "b"}, types=TYPES),
        message("UPDATE_AFTER", 1, {"id": 3}, types={"id": "LONG"}),
    ]
    refused = applied(cli, "first", *changes)
    assert refused.exit_code == 2
    assert "which takes it over by changewire adopt" in " ".join(refused.stderr.split())
    for words, text in (
        ((), "changewire did not make the table; name them by --key-column"),
        (("--key-column", "no"), "the key's column no is not one of the table's"),
        (("--key-column", "name"), "1 keys (name) have more than one row each"),
    ):
        ended = adopt(*words)
        assert ended.exit_code == 2
        assert text in " ".join(ended.stderr.split())
    assert DeltaTable(TABLE).version() == 0
    ended = adopt("--key-column", "id", "--json")
    assert (ended.exit_code, json.loads(ended.stdout)) == (0, {"table": TABLE})
    assert applied(cli, "first", *changes).exit_code == 0
    assert rows() == {1: "new", 3: "b"}


def test_a_table_of_another_log_is_taken_over(adopt: Callable[..., Ended], cli: Cli) -> None:
    """It belongs to the next run, and the first one is refused with the command to use."""
    first = message("INSERT", 1, {"id": 1, "name": "a"}, types=TYPES)
    second = message("INSERT", 2, {"id": 2, "name": "b"}, types=TYPES)
    assert applied(cli, "first", first).exit_code == 0
    refused = applied(cli, "second", second)
    assert refused.exit_code == 2
    assert "take it over by changewire adopt" in " ".join(refused.stderr.split())
    assert adopt().exit_code == 0
    assert applied(cli, "second", second).exit_code == 0
    assert rows() == {1: "a", 2: "b"}
    assert applied(cli, "first", first, second).exit_code == 2


def test_names_and_missing_tables_are_refused(cli: Cli, tmp_path: Path) -> None:
    """Each with one sentence."""
    for words, text in (
        (("users",), "has no slash: it is a name"),
        ((tmp_path / "none",), "there is no such table"),
        (("a/b", "--table-format", "iceberg"), "--table-format iceberg needs --engine spark"),
    ):
        ended = cli("adopt", *words)
        assert ended.exit_code == 2
        assert text in " ".join(ended.stderr.split())
