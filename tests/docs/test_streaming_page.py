"""The tour of docs/operate/streaming.md, command by command: a broker, a kill, a replay."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from examples.broker import HOST, free_port
from examples.demo_stream.programs import environment
from tests.docs.pages import ROOT, Block, all_blocks
from tests.docs.running import run_block

from changewire.tested import TESTED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = "docs/operate/streaming.md"
BROKER = "python -m examples.broker "
BLOCKS = [block for block in all_blocks(PAGE) if block.reason is None]


@pytest.mark.long
def test_the_tour(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command does what the page shows; its last look finds every element once."""
    assert spark is not None
    port = free_port()
    texts = {
        "localhost:9092": f"{HOST}:{port}",
        "tour/": f"{tmp_path}/tour/",
        "python -m": f"{sys.executable} -m",
    }
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", environment()["PYSPARK_SUBMIT_ARGS"])
    (start,) = [block for block in BLOCKS if block.code.startswith(BROKER)]
    rest = [block for block in BLOCKS[BLOCKS.index(start) :] if block is not start]
    names: dict[str, object] = {}
    with running(f"{put(start.code.strip(), texts)} --port {port}"):
        for block in rest:
            run_block(block._replace(code=put(block.code, ours(block, texts))), names)


def ours(block: Block, texts: Mapping[str, str]) -> Mapping[str, str]:
    """Return what is put into a block; one of shell kills the program itself, not a shell."""
    program = {"changewire stream": f"exec {sys.executable} -m changewire.cli stream"}
    return {**texts, **program} if block.language == "sh" else texts


def put(code: str, texts: Mapping[str, str]) -> str:
    """Put what is of this machine in place of what the page has."""
    for text, there in texts.items():
        code = code.replace(text, there)
    return code


@contextmanager
def running(command: str) -> Generator[None]:
    """Run a broker as the page does, and end it by Ctrl-C."""
    with subprocess.Popen(command.split(), cwd=ROOT, stdout=subprocess.PIPE, text=True) as broker:
        assert broker.stdout is not None
        assert broker.stdout.readline().startswith(f"Kafka listens on {HOST}:")
        try:
            yield
        finally:
            broker.send_signal(signal.SIGINT)
            said, _ = broker.communicate(timeout=60)
    assert (broker.returncode, said) == (0, "Kafka has ended\n")


def test_the_connectors_of_the_page_are_those_that_the_command_takes() -> None:
    """The page installs a tested Spark, names what was tested with it, and needs no option."""
    text = ROOT.joinpath(PAGE).read_text(encoding="utf-8")
    release = next(one for one in TESTED if f'"pyspark=={one.pyspark}"' in text)
    assert re.findall(r"`((?:[\w.]+):[\w.-]+:[\d.]+)`", text) == [release.kafka, release.delta]
    assert re.findall(r"--packages [\w.]+:", text) == []


def test_git_ignores_what_the_tour_makes() -> None:
    """A tour in a clone leaves no files that could be committed."""
    assert "/tour/" in ROOT.joinpath(".gitignore").read_text(encoding="utf-8").splitlines()
