"""``--strip-registry-prefix``: records behind the prefix of a schema registry, by every command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.runtime.changes import lindorm
from tests.runtime.cli.conftest import Ended, json_lines
from tests.samples import FORMAT, examples

import changewire as cw

Cli = Callable[..., Ended]

PREFIX = b"\x00\x00\x00\x00\x09"
FLAG = "--strip-registry-prefix"
ROW = cw.encode(lindorm.message("u", after={"id": 7, "name": "a"}))


def framed(folder: Path, value: bytes, key: bytes = b'{"id": 7}') -> Path:
    """Return a Parquet file with one framed record."""
    columns = {"value": [PREFIX + value], "key": [PREFIX + key]}
    path = folder / "topic.parquet"
    pq.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize(
    "command",
    ["decode", "validate", "explain", "explain --count", "decode --as changes", "schema observed"],
)
def test_commands_read_what_follows(cli: Cli, tmp_path: Path, command: str) -> None:
    """Without the option a framed message is refused by its name, and with it read."""
    path = framed(tmp_path, ROW)
    refused = cli(*command.split(), path)
    assert refused.exit_code == 1
    if "--count" not in command:
        assert "registry-framing" in refused.stdout + refused.stderr
        assert "strip_registry_prefix" in refused.stdout + refused.stderr
    assert cli(*command.split(), path, FLAG).exit_code == 0


def test_keys_are_read_too(cli: Cli, tmp_path: Path) -> None:
    """The record key behind its prefix names the row."""
    (change,) = json_lines(cli("decode", "--as", "changes", framed(tmp_path, ROW), FLAG).stdout)
    assert change["key"] == {"id": 7}


def test_convert_and_infer_take_it(cli: Cli, tmp_path: Path) -> None:
    """A framed message is converted, and its rows are seen."""
    path = framed(tmp_path, json.dumps(examples("write")[0]).encode())
    pair = ("--from", FORMAT, "--to", "aerospike-msgpack")
    assert cli("convert", *pair, path).exit_code == 1
    assert cli("convert", *pair, path, FLAG).exit_code == 0
    ended = cli("schema", "infer", framed(tmp_path, ROW), FLAG)
    assert [*json.loads(ended.stdout)["properties"]] == ["id", "name"]


def test_a_run_takes_it(cli: Cli, tmp_path: Path) -> None:
    """A run decodes framed values and keys, and otherwise has dead letters of their own code."""
    run = ("run", "-f", "lindorm-json", framed(tmp_path, ROW), "--json", "-o")
    refused, read = cli(*run, tmp_path / "a"), cli(*run, tmp_path / "b", FLAG)
    assert (refused.exit_code, read.exit_code) == (1, 0)
    assert json.loads(refused.stdout)["by_error_code"] == {"registry-framing": 1}
    assert json.loads(read.stdout)["changes"] == 1
