"""The comparison with Flink measures the same messages; what needs Flink itself is not run here."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks import topics
from benchmarks.flink import cases, rates, sql
from benchmarks.flink.rates import COLUMNS, FLINK, KERNEL, Done

import changewire.arrow as cwa


def test_files_hold_every_message_in_a_line(tmp_path: Path) -> None:
    """Both read the same files, whose messages have the columns that the table declares."""
    values = topics.table(rates.FORMAT, 203)["value"].to_pylist()
    rates.write(values, tmp_path)
    files = sorted(tmp_path.iterdir())
    assert len(files) == 4
    assert b"".join(file.read_bytes() for file in files).splitlines() == values
    for value in values:
        payload = json.loads(value)["payload"]
        assert {*(payload.get("after") or payload["before"])} == COLUMNS.keys()
    counts = cwa.decode(tmp_path, format=rates.FORMAT, key_columns=["id"]).counts
    assert (counts.changes, counts.dead_letters) == (203, 0)


def test_a_statement_quotes_names_and_texts() -> None:
    """A folder may have any name."""
    options = sql.messages("/tmp/Anne's", ignore_errors=False)  # noqa: S108 - nothing is written
    found = sql.table("a`b", {"id": "BIGINT"}, {**options, "path": "file:///Anne's"})
    assert found.startswith("CREATE TEMPORARY TABLE `a``b` (`id` BIGINT) WITH (")
    assert "'path' = 'file:///Anne''s'" in found
    assert "'debezium-json.ignore-parse-errors' = 'false'" in found


def test_rates_are_those_of_the_job_without_its_cluster() -> None:
    """Starting a cluster is no part of the rate; CPU time includes it."""
    rounds = {
        FLINK: [Done(2.0, 1.0, 4.0), Done(3.0, 2.0, 4.0), Done(9.0, 8.0, 5.0)],
        KERNEL: [Done(0.5, 0.5, 0.5)] * 3,
    }
    found = rates.result(rounds, 8000)
    assert found.rows == [
        (FLINK, "3.00", "2.00", "4", "1-8", "4.00", "2"),
        (KERNEL, "0.50", "0.50", "16", "16-16", "0.50", "16"),
    ]
    assert found.data["seconds"][FLINK][0] == {"wall": 2.0, "job": 1.0, "cpu": 4.0}


def test_changewire_loses_no_message_of_the_cases() -> None:
    """What is rejected has its reason, and values of changes stay as they were sent."""
    found = {name: cases.by_changewire(value) for name, value in cases.CASES.items()}
    rejected = {name: text for name, text in found.items() if text.startswith("rejected")}
    assert rejected == {
        "broken JSON": "rejected: truncated",
        "text after the message": "rejected: trailing-data",
        "an unknown `op`": "rejected: unknown-variant",
    }
    kept = {
        "a key beyond 64 bits": '"id":9223372036854775808',
        "a key with a fraction": '"id":1.9',
        "more digits than a double has": '"12345678901234567.89"',
        "a number beyond doubles": '"1E+400"',
        "an unknown column": '"nick":"An"',
    }
    assert {name: text for name, text in kept.items() if text not in found[name]} == {}
