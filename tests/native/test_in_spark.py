"""What kernels do in the tasks of Spark is known in the driver."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.native.differential import batch_of, kernel, needs_kernel
from tests.runtime.engines.stream.streams import Stream, stream
from tests.samples import FORMAT, mixed_messages

import changewire.spark as cws
from changewire.changes.decode_options import DecodeOptions
from changewire.engines import native
from changewire.engines.options import FileRun
from changewire.engines.spark.run import run_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [needs_kernel, pytest.mark.usefixtures("compiled")]

OPTIONS = DecodeOptions(FORMAT)

FEW = [mixed_messages()[0], None, b"{}"]
"""A change, a message without value and a declined one."""


def did(messages: Sequence[bytes | None]) -> native.KernelCounts:
    """Return what a kernel has to do with some messages."""
    found = kernel(OPTIONS)
    found.decode(batch_of(messages))
    assert found.counts.declined > 0
    return found.counts


def natives(lines: Sequence[str]) -> list[Any]:
    """Return what the lines of batches of messages say of the kernel."""
    return [line.get("native") for line in map(json.loads, lines) if "tables" not in line]


def test_a_batch_of_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    """Its line has the counts of its own messages alone, also after a restart."""
    made, lines = stream(tmp_path, 2), list[str]()
    made.land(spark, metrics=lines.append)
    made.send([None, b"{}"])
    made.land(spark, metrics=lines.append)
    expected = [did(part)._asdict() for part in (*[mixed_messages()] * 2, [None, b"{}"])]
    assert natives(lines) == expected


def test_a_batch_that_feeds_tables(spark: SparkSession, tmp_path: Path) -> None:
    """Its line has the same counts."""
    made, lines = Stream(tmp_path), list[str]()
    made.send(FEW)
    query = cws.apply_changes(
        made.read(spark),
        format=FORMAT,
        log=made.place.target,
        target=str(tmp_path / "tables" / "{table}"),
        checkpoint=str(tmp_path / "checkpoint"),
        row_schema="json",
        trigger={"availableNow": True},
        metrics=lines.append,
    )
    cws.await_termination(query)
    assert natives(lines) == [did(FEW)._asdict()]


@pytest.mark.usefixtures("spark")
def test_a_run(tmp_path: Path) -> None:
    """A run says what kernels did in all tasks."""
    messages = [b"%s\n" % message for message in mixed_messages() if message]
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_bytes(b"".join(messages))
    files = [str(tmp_path / f"{name}.jsonl") for name in ("a", "b")]
    once = did([message.strip() for message in messages])
    assert run_files(files, str(tmp_path / "out"), FileRun(OPTIONS)).native == once.plus(once)


def test_nothing_without_a_kernel(spark: SparkSession) -> None:
    """Where no task has a kernel, nothing is said."""
    decoded = cws.decode(
        spark.createDataFrame([(b"{}",)], "value binary"), format=FORMAT, check_digests="warn"
    )
    assert decoded.counts.messages == 1
    assert decoded.native is not None
    assert decoded.native.take() is None


def test_sums_and_differences() -> None:
    """Nodes that declined nothing are left out, those that declined most come first."""
    one = native.kernel_counts(5, {"a": 1, "b": 2})
    assert [*one.declined_by] == ["b", "a"]
    assert one.plus(one) == native.KernelCounts(10, 6, {"b": 4, "a": 2})
    assert one.minus(native.kernel_counts(2, {"a": 1})) == native.KernelCounts(3, 2, {"b": 2})


@pytest.mark.parametrize("counts", [native.kernel_counts(0, {}), native.kernel_counts(3, {"a": 1})])
def test_counts_that_are_nothing(counts: native.KernelCounts) -> None:
    """Nothing added or taken away leaves counts as they are."""
    nothing = native.kernel_counts(0, {})
    assert counts.plus(nothing) == counts.minus(nothing) == counts
