"""The code of docs/operate/streaming.md runs, from top to bottom, on a real broker."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.docs.pages import blocks
from tests.runtime.cli.conftest import cli
from tests.samples import examples
from tests.support.topics import create, produce

from changewire.framing import Position, Record

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["cli"]

PAGE = "docs/operate/streaming.md"
TOPICS = ("users", "orders")


def test_the_page_runs(
    spark: SparkSession, kafka: str, cli: Callable[..., Any], tmp_path: Path
) -> None:
    """Each block runs after the one before it, and all changes of the topics are in the tables."""
    create(kafka, *TOPICS)
    values = [json.dumps(message).encode() for message in examples("write")]
    at = [Position(topic=topic, partition=0) for topic in TOPICS]
    produce(kafka, [Record(None, value, position) for position in at for value in values])
    (tmp_path / "secrets").write_text("jaas=Module required;\n", encoding="utf-8")
    names: dict[str, Any] = {
        "servers": kafka,
        "lake": str(tmp_path / "lake"),
        "secrets": str(tmp_path / "secrets"),
    }
    for block in blocks(PAGE):
        exec(block, names)  # noqa: S102 - our own text
    assert names["spark"] is spark
    log = spark.read.parquet(f"{tmp_path}/lake/log")
    assert log.where("kind = 'change'").count() == 2 * len(values)
    assert names["written"].counts.changes == len(values)
    (command,) = blocks(PAGE, "sh")
    for written, meant in (("\\\n", ""), ("HOST:PORT", kafka), ("lake/", f"{tmp_path}/out")):
        command = command.replace(written, meant)
    words = shlex.split(command)
    assert words[0] == "changewire"
    ended = cli(*words[1:])
    assert ended.exit_code == 0, ended.stderr
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert report["changes"] == 2 * len(values)
