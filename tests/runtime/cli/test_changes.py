"""``changewire decode --as changes``: messages to changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.runtime.cli.conftest import Ended, json_lines
from tests.samples import FORMAT, MIXED_COUNTS

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.merge.land import land
from changewire.engines.options import FileRun

LINDORM = """\
{"payload":{"op":"c","ts_ms":1,"after":{"ROW":"AAE=","f_g_a":"Ag==","x":""},\
"source":{"namespace":"n","table":"t","ts_ms":1}}}
{"payload":{"op":"d","ts_ms":2,"before":{"id":7,"x":"a"},\
"source":{"namespace":"n","table":"t","ts_ms":2}}}
"""
"""One row of an HBase table, and one of another."""

Cli = Callable[..., Ended]


def test_each_change_is_a_line(cli: Cli, mixed: Path, tmp_path: Path) -> None:
    """Changes and control events are the rows that a run puts into its tables."""
    ended = cli("decode", "--as", "changes", "-f", FORMAT, mixed)
    found = json_lines(ended.stdout)
    counts = land([str(mixed)], str(tmp_path / "out"), FileRun(DecodeOptions(FORMAT))).counts
    assert (ended.exit_code, len(found)) == (1, MIXED_COUNTS["changes"] + 1)
    assert {op: [line["op"] for line in found].count(op) for op in counts.by_operation} == dict(
        counts.by_operation
    )
    assert sum(len(line["leniencies"]) for line in found) == counts.leniencies.total()


def test_a_change_has_its_place(cli: Cli, kcat: Path) -> None:
    """The line of a change says where it stood, a tombstone is an empty event."""
    change, empty = json_lines(cli("decode", "--as", "changes", "-f", FORMAT, kcat).stdout)
    assert (change["topic"], change["offset"], change["op"]) == ("t", 0, "delete")
    assert (empty["offset"], empty["op"], empty["attributes"]) == (1, "empty", {"tombstone": True})


def test_image_is_passed_on(cli: Cli, good: Path) -> None:
    """What a write holds of its row is what the user says."""
    found = json_lines(
        cli("decode", "--as", "changes", "-f", FORMAT, "--row-image", "patch", good).stdout
    )
    assert found[0]["attributes"]["row_image"] == "patch"


def test_a_message_that_contradicts_itself_is_refused(cli: Cli, mixed: Path) -> None:
    """Two bins of one name are no change: the place is named on standard error."""
    assert (
        "record 11: duplicate-column at /bins/1/name"
        in cli("decode", "--as", "changes", "-f", FORMAT, mixed).stderr
    )


def test_keys_and_families_are_passed_on(cli: Cli) -> None:
    """Columns that name the row and column families are those that the user names."""
    arguments = (
        "decode",
        "--as",
        "changes",
        "-f",
        "lindorm-json",
        "--column-family",
        "f",
        "--column-family",
        "f_g",
    )
    cells, _ = json_lines(cli(*arguments, data=LINDORM.encode()).stdout)
    assert cells["key"] == {"ROW": "AAE="}
    assert cells["after"] == {"ROW": "AAE=", "f_g:a": "Ag==", "x": ""}
    assert cells["attributes"]["leniencies"] == cells["leniencies"][-1:] == ["unknown-family"]
    arguments = (
        "decode",
        "--as",
        "changes",
        "-f",
        "lindorm-json",
        "--key-column",
        "x",
        "--key-column",
        "id",
    )
    _, row = json_lines(cli(*arguments, data=LINDORM.encode()).stdout)
    assert row["key"] == {"x": "a", "id": 7}


@pytest.mark.parametrize("command", [("decode", "--as", "changes"), ("run", "-o", "out")])
def test_options_that_do_not_fit_are_wrong_usage(
    cli: Cli, good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    """An option that has no meaning in the format is named before anything is read or written."""
    monkeypatch.chdir(tmp_path)
    ended = cli(*command, "-f", FORMAT, "--key-column", "a", good)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "rows are named by their digest" in " ".join(ended.stderr.replace("\u2502", " ").split())
    assert not Path("out").exists()


def test_records_without_value_are_deletes_where_asked_for(cli: Cli) -> None:
    """What kcat read of a compacted topic: the key of a null value names the row that is gone."""
    key = json.dumps('["n", "s", "YWJjZGVmZ2hpamtsbW5vcHFyc3Q=", 1]')
    place = '"topic": "t", "partition": 0, "offset": 7, "tstype": "create", "ts": 1'
    data = f'{{{place}, "key": {key}, "payload": null}}'.encode()
    arguments = ("decode", "--as", "changes", "-f", FORMAT, "--shape", "kcat")
    (line,) = json_lines(cli(*arguments, data=data).stdout)
    assert (line["op"], line["key"]) == ("empty", None)
    (line,) = json_lines(cli(*arguments, "--tombstones", "delete", data=data).stdout)
    assert (line["op"], line["source"]["table"], line["offset"]) == ("delete", "s", 7)
    assert line["key"] == {"aerospike_digest": "YWJjZGVmZ2hpamtsbW5vcHFyc3Q="}


def test_digests_are_compared_where_asked_for(cli: Cli) -> None:
    """A digest that is not that of set and user key is counted or refused, as the option says."""
    key = '["n", "s", "YWJjZGVmZ2hpamtsbW5vcHFyc3Q=", 1]'
    data = f'{{"msg": "delete", "key": {key}}}'.encode()
    (line,) = json_lines(
        cli("decode", "--as", "changes", "-f", FORMAT, "--check-digests", "warn", data=data).stdout
    )
    assert line["leniencies"] == ["missing-durable", "keys-on-delete", "digest-mismatch"]
    refused = cli("decode", "--as", "changes", "-f", FORMAT, "--check-digests", "reject", data=data)
    assert "digest-mismatch at /key/2: expected the digest of set and user key" in refused.stderr
    assert (refused.exit_code, refused.stdout) == (1, "")
    wrong = cli(
        "decode", "--as", "changes", "-f", "lindorm-json", "--check-digests", "warn", data=data
    )
    assert "it is for aerospike-flat-json, aerospike-json, aerospike-msgpack" in " ".join(
        wrong.stderr.replace("│", " ").split()
    )
    assert wrong.exit_code == 2


DATAWORKS_DATE = b"""\
{"schema":{"dataColumn":[{"name":"day","type":"DATE"}],"primaryKey":["day"],"source":null},\
"payload":{"op":"INSERT","after":{"dataColumn":{"day":1731600000000}},"timestamp":{"eventTime":1}},\
"version":"0.0.1"}
"""
"""A row whose date is 2024-11-15 in China."""


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ((), "2024-11-14T16:00:00Z"),
        (("--time-zone", "Asia/Shanghai"), "2024-11-15T00:00:00+08:00"),
    ],
)
def test_the_time_zone_is_passed_on(cli: Cli, more: tuple[str, ...], text: str) -> None:
    """Dates have the offset of the zone that the user names; without it they are in UTC."""
    (line,) = json_lines(cli("decode", "--as", "changes", *more, data=DATAWORKS_DATE).stdout)
    assert (line["after"], line["key"]) == ({"day": text}, {"day": text})


@pytest.mark.parametrize(
    ("format", "zone", "why"),
    [
        ("dataworks-json", "Asia/Beijing", "no --time-zone 'Asia/Beijing'"),
        ("lindorm-json", "Asia/Shanghai", "--time-zone does not apply to lindorm-json"),
    ],
)
def test_a_time_zone_that_does_not_fit_is_refused(
    cli: Cli, format: str, zone: str, why: str
) -> None:
    """A zone that does not exist, or has no use, is refused before a message is read."""
    ended = cli("decode", "--as", "changes", "-f", format, "--time-zone", zone, data=b"{")
    assert ended.exit_code == 2
    assert why in " ".join(ended.stderr.replace("\u2502", " ").split())
