"""No message ends a run without Spark: each element is in the log once, as what it was read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.runtime.codec.formats import FORMATS
from tests.runtime.engines.any_messages import (
    KEYS,
    Content,
    Read,
    captured,
    differences,
    json_contents,
    json_key,
    mutated,
    without,
)
from tests.runtime.engines.merge_local.lake import Lake

import changewire.delta as cwd
from changewire.tables import ChangePosition

FEW, MANY = 300, 5_000
BATCH = 500
EMBEDDED = [name for name in FORMATS if not name.startswith("aerospike")]


@pytest.mark.parametrize("format", FORMATS)
def test_a_run_takes_any_message(tmp_path: Path, format: str) -> None:
    """Tables are as the model says."""
    messages = [*captured(format), *mutated(format, FEW, seed=3)]
    check(tmp_path, Read(format, messages, befores_wait=True))


@pytest.mark.long
@pytest.mark.parametrize("format", FORMATS)
def test_a_run_takes_thousands_of_mutated_messages(tmp_path: Path, format: str) -> None:
    """The same holds for thousands."""
    messages = [*captured(format), *mutated(format, MANY, seed=3)]
    check(tmp_path, Read(format, messages, befores_wait=True))


@pytest.mark.parametrize("format", EMBEDDED)
def test_a_run_takes_any_schema(tmp_path: Path, format: str) -> None:
    """Whatever messages declare, each element is in the log once, and what fits in a table."""
    sent = Read(format, [*captured(format), *mutated(format, FEW, seed=4)])
    lake = applied(tmp_path, sent, row_schema="embedded")
    assert elements(lake, "change", "control", "dead_letter") == [at for at, _ in sent.elements()]
    assert {row["code"] for row in lake.log("refused")} <= {
        *("key-mismatch", "schema-mismatch", "table-missing", "name-collision", "wrong-type"),
        *("truncate-without-sequence", "duplicate-column", "out-of-range"),
    }
    assert any(lake.rows(name) for name in lake.names())


def check(root: Path, sent: Read) -> None:
    """Apply messages, and compare log and tables with what Python reads of the messages."""
    lake = applied(root, sent)
    assert elements(lake, "change", "control", "dead_letter") == [at for at, _ in sent.elements()]
    assert not any(row["code"] == "apply-failed" for row in lake.log())
    lost = {*elements(lake, "dead_letter"), *elements(lake, "refused")}
    found: Content = {
        name: {
            row["key"]: msgspec.json.decode(row["row"])
            for row in lake.rows(name)
            if not row["_changewire"]["deleted"]
        }
        for name in lake.names()
    }
    unordered, expected = sent.unordered(json_key), json_contents(sent, lost)
    assert differences(without(found, unordered), without(expected, unordered)) == []


def applied(root: Path, sent: Read, **options: Any) -> Lake:
    """Apply messages, a table for each database."""
    lake = Lake(root)
    outcome = lake.apply_records(
        [(value, "topic", 0, offset) for offset, value in enumerate(sent.messages)],
        format=sent.format,
        target=f"{root}/tables/{{database}}",
        one_table=True,
        key_columns=KEYS.get(sent.format),
        apply_truncates=True,
        batch_size=BATCH,
        **options,
    )
    faults = cwd.verify(
        f"{root}/log", target=f"{root}/tables/{{database}}", one_table=True, apply_truncates=True
    )
    assert faults.to_pylist() == []
    kinds, counts = Counter(row["kind"] for row in lake.log()), outcome.counts
    assert (kinds["change"], kinds["control"]) == (counts.changes, counts.controls)
    return lake


def elements(lake: Lake, *kinds: str) -> list[ChangePosition]:
    """Return where the elements of some kinds in the log were read, in order."""
    names = ("topic", "partition", "offset", "element")
    return sorted(ChangePosition(*(row[name] for name in names)) for row in lake.log(*kinds))
