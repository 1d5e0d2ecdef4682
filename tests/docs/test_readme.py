"""The README's code does what it says."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.docs.pages import ROOT, blocks, links
from tests.samples import mixed_messages
from tests.support.topics import create

import changewire as cw
from changewire.kafka import SerializationError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

README = "README.md"


def test_the_first_example_runs_and_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    """The Python example runs; the comment below its print is the output."""
    code = blocks(README)[0]
    exec(code, {})  # noqa: S102 - our own text
    assert capsys.readouterr().out.strip() == code.strip().rpartition("# ")[2]


def test_the_producer_example_runs(kafka: str) -> None:
    """The producer of the example sends a model, and refuses what is none."""
    create(kafka, "shop.users")
    names: dict[str, Any] = {"servers": kafka, "message": cw.decode(mixed_messages()[0] or b"")}
    exec(blocks(README)[1], names)  # noqa: S102 - our own text
    assert names["producer"].flush(30) == 0
    with pytest.raises(SerializationError, match="missing-property"):
        names["producer"].produce("shop.users", value={})


def test_the_spark_example_runs(spark: SparkSession, tmp_path: Path) -> None:
    """The Spark example runs on a frame with Kafka's columns."""
    rows = [(value, i) for i, value in enumerate(mixed_messages())]
    messages = spark.createDataFrame(rows, "value binary, offset long")
    exec(blocks(README)[2], {"messages": messages, "output": str(tmp_path)})  # noqa: S102
    log = spark.read.format("delta").load(str(tmp_path))
    assert log.where("kind = 'change'").count() == 9


def test_the_arrow_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The example without Spark asks DuckDB about a compressed file."""
    monkeypatch.chdir(tmp_path)
    lines = b"\n".join(value for value in mixed_messages() if value is not None)
    Path("topic.jsonl.gz").write_bytes(gzip.compress(lines))
    exec(blocks(README)[3], {})  # noqa: S102 - our own text
    assert "upsert" in capsys.readouterr().out


def test_ci_runs_the_test_command() -> None:
    """Continuous integration calls the README's command and nothing else."""
    commands = [line for block in blocks(README, "sh") for line in block.splitlines()]
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert [c for c in commands if c in script.splitlines() and "nox" in c] == commands


@pytest.mark.parametrize(
    "file",
    sorted({link.partition("#")[0] for link in links(README)}),
)
def test_links_lead_somewhere(file: str) -> None:
    """Every relative link of the README is a file or folder of the repository."""
    assert (ROOT / file).exists()
