"""The code of docs/operate/streaming.md runs, from top to bottom, on a real broker."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.docs.pages import all_blocks
from tests.runtime.cli.conftest import cli
from tests.samples import examples
from tests.support.topics import create, produce

from changewire.framing import Position, Record

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["cli"]

PAGE = "docs/operate/streaming.md"
TOPICS = ("users", "orders")


def test_the_page_runs(spark: SparkSession, kafka: str, tmp_path: Path) -> None:
    """Each block runs after the one before it, and all changes of the topics are in the tables."""
    create(kafka, *TOPICS)
    values = [json.dumps(message).encode() for message in examples("write")]
    at = [Position(topic=topic, partition=0) for topic in TOPICS]
    produce(kafka, [Record(None, value, position) for position in at for value in values])
    (tmp_path / "secrets").write_text("jaas=Module required;\n", encoding="utf-8")
    names: dict[str, Any] = {
        "spark": spark,
        "servers": kafka,
        "lake": str(tmp_path / "lake"),
        "secrets": str(tmp_path / "secrets"),
    }
    for block in before_the_tour("python"):
        exec(block, names)  # noqa: S102 - our own text
    assert names["spark"] is spark
    log = spark.read.parquet(f"{tmp_path}/lake/log")
    assert log.where("kind = 'change'").count() == 2 * len(values)
    assert names["written"].counts.changes == 2 * len(values)


def test_the_file_of_options_runs(
    kafka: str, cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command reads the options of the file, and lands the topics that it names."""
    create(kafka, *(f"file-{topic}" for topic in TOPICS))
    values = [json.dumps(examples("write")[0]).encode()] * 3
    at = [Position(topic=f"file-{topic}", partition=0) for topic in TOPICS]
    produce(kafka, [Record(None, value, position) for position in at for value in values])
    monkeypatch.chdir(tmp_path)
    (text,) = (code for code in before_the_tour("toml") if "# stream.toml" in code)
    meant = text.replace("HOST:PORT", kafka).replace('"users,orders"', '"file-users,file-orders"')
    Path("stream.toml").write_text(meant, encoding="utf-8")
    (command,) = before_the_tour("sh")
    words = shlex.split(command.replace(" --continuous --apply-every 5m", ""))
    assert words == ["changewire", "stream", "--config", "stream.toml"]
    ended = cli(*words[1:], "--default-table", "no_set")
    assert ended.exit_code == 0, ended.stderr
    report = json.loads(Path("lake", "report.json").read_text(encoding="utf-8"))
    assert report["changes"] == 2 * len(values)


def before_the_tour(language: str) -> list[str]:
    """Return the blocks of the page in a language, up to the part that starts a broker."""
    found = list(all_blocks(PAGE))
    end = next(i for i, block in enumerate(found) if "examples.broker" in block.code)
    return [block.code for block in found[:end] if block.language == language]
