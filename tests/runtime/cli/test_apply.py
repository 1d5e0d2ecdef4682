"""``changewire apply``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable
from tests.runtime.cli.conftest import Ended
from tests.runtime.engines.merge.messages import message

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., Ended]


@pytest.fixture
def lake(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the output folder of a run, with a number that no DOUBLE holds."""
    monkeypatch.chdir(tmp_path)
    values = [message("INSERT", 1, {"id": number}, table="t") for number in range(2)]
    values.append(message("INSERT", 1, {"id": 2, "price": "1e400"}, table="t"))
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(values))
    places = ("-o", "out", "--target", "first/{table}", "--row-schema", "json")
    assert cli("run", "-f", "dataworks-json", *places, "in.jsonl").exit_code == 0
    return tmp_path / "out"


def test_another_target_gets_the_whole_log(cli: Cli, lake: Path, engine: str) -> None:
    """A second run does nothing; what is refused is said."""
    options = ("apply", lake, "--target", "second/{table}", "--misfits", "refuse")
    first = cli(*options, "--engine", engine)
    assert first.exit_code == 0, first.stderr
    assert "inserted 2" in first.stderr
    assert "1 change is in no table" in first.stderr
    rows = DeltaTable("second/t").to_pyarrow_table().to_pylist()
    assert sorted(row["id"] for row in rows) == [0, 1]
    again = cli(*options, "--engine", engine, "--json")
    assert (again.exit_code, json.loads(again.stdout)) == (0, {"tables": {}})


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nothing"], "the log does not exist"),
        (["out", "--checkpoint", "c"], "need --engine spark"),
        (["out", "--table-format", "iceberg"], "need --engine spark"),
    ],
)
def test_wrong_usage(cli: Cli, lake: Path, arguments: list[Any], sentence: str) -> None:
    """A sentence says what is wrong, and no table is made."""
    assert lake.exists()
    ended = cli("apply", *arguments, "--target", "second/{table}")
    assert ended.exit_code == 2
    assert sentence in " ".join(ended.stderr.replace("│", " ").split())
    assert not Path("second").exists()
