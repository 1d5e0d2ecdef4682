"""Memory while a large file streams through the engine without Spark."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from benchmarks import messages
from benchmarks.tables import Result
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.merge.land import land
from changewire.engines.options import FileRun

_MB = 2**20


def run(*, megabytes: int) -> Iterator[Result]:
    """Yield the table of resident memory at each tenth of a file made on the fly.

    Args:
        megabytes: Size of the file; it is a pipe and never on disk.
    """
    line = messages.wire(messages.large()) + b"\n"
    total = megabytes * _MB // len(line)
    with tempfile.TemporaryDirectory() as folder:
        pipe = str(Path(folder, "messages.jsonl"))
        os.mkfifo(pipe)
        writer = threading.Thread(target=_feed, args=(pipe, line, total), daemon=True)
        writer.start()
        samples = _samples(pipe, folder, total)
        writer.join()
    tenth = [samples[len(samples) * i // 10] for i in range(1, 10)] + [samples[-1]]
    rows = [(f"{i * 10} %", f"{size / _MB:.0f}") for i, size in enumerate(tenth, start=1)]
    growth = (tenth[-1] - tenth[1]) / _MB
    text = (
        f"To reach: flat. From 20 % to the end it grew by {growth:.0f} MB of {megabytes} MB read."
    )
    title = f"Resident memory while {megabytes} MB ({total} messages) stream to a log"
    yield Result(title, ("read", "MB"), rows, text, {"bytes": samples})


def _feed(pipe: str, line: bytes, count: int) -> None:
    block = 500
    with Path(pipe).open("wb") as file:
        file.writelines(line * block for _ in range(count // block))
        file.write(line * (count % block))


def _samples(pipe: str, folder: str, total: int) -> list[int]:
    process = psutil.Process()
    samples: list[int] = []
    start = time.perf_counter()

    def sample(_: int) -> None:
        samples.append(process.memory_info().rss)

    asked = FileRun(DecodeOptions(messages.FORMAT), shape="json-lines", progress=sample)
    outcome = land([pipe], str(Path(folder, "out")), asked)
    if outcome.counts.changes != total:
        raise RuntimeError(f"{total} messages went in, {outcome.counts.changes} changes came out")
    print(f"streamed {total} messages in {time.perf_counter() - start:.0f} s")
    return samples
