"""What a stream does between its batches: merges, and compactions."""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from tests.runtime.engines.ends import CrashError
from tests.runtime.engines.merge.messages import message
from tests.runtime.engines.stream_local.running import landed, running
from tests.runtime.engines.stream_local.topics import BROKEN, TYPES, Topic, assert_same, history

import changewire.delta as cwd
from changewire.engines.merge import applying
from changewire.engines.stream import upkeep


def files(path: Path) -> int:
    """Return how many files a table has."""
    return len(DeltaTable(str(path)).file_uris())


def test_files_are_compacted_while_a_stream_runs(topic: Topic) -> None:
    """Log and tables have few files, the same content, and nothing is merged again."""
    lake = topic.root / "lake"
    with running(topic, compact_every=0.5, batch_size=3) as found:
        for seed in range(2):
            topic.send(history(seed, 20))
            found.until(lambda: landed(topic) == len(topic.sent))
        found.until(lambda: files(lake / "log") == 1)
        found.until(lambda: files(lake / "tables" / "t") == 1)
        topic.send(history(9, 10))
        found.until(lambda: landed(topic) == len(topic.sent))
    assert any(line.startswith("compacted the log and its tables") for line in found.lines)
    assert_same(topic)
    assert topic.stream().tables == {}


def test_a_crash_after_a_compaction_merges_nothing_again(
    topic: Topic, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next run knows that the files of the log were only written again."""
    without = message("INSERT", 1, {"id": 1, "name": "a"}, types=TYPES).replace(b'"1"', b"null", 1)
    topic.send([*history(1, 20), (0, without)])
    compact = upkeep.Upkeep.compact

    def then_crash(self: Any) -> None:
        compact(self)
        raise CrashError

    monkeypatch.setattr(upkeep.Upkeep, "compact", then_crash)
    with pytest.raises(CrashError):
        topic.stream(continuous=True, batch_size=5, batch_every=0.2, compact_every=1)
    monkeypatch.undo()
    topic.stream()
    before = topic.lake().tables()
    assert topic.stream().tables == {}
    assert topic.lake().tables() == before
    assert_same(topic)


def test_merges_are_as_rare_as_asked(topic: Topic) -> None:
    """Batches are landed meanwhile; the last merge comes at the end."""
    topic.send(history(1, 20))
    with running(topic, apply_every=3600, batch_size=4) as found:
        found.until(lambda: landed(topic) == len(topic.sent))
        assert not (topic.root / "lake" / "tables").exists()
    assert len([line for line in found.lines if line.startswith("tables, ")]) == 1
    assert_same(topic)


def test_a_continuous_stream_reads_its_log_once(
    topic: Topic, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the log has is known after the first merge, unless another writer changed it."""
    reads: list[int] = []
    known: Any = vars(applying)["known_log"]

    def counted(*arguments: Any, **options: Any) -> Any:
        reads.append(1)
        return known(*arguments, **options)

    monkeypatch.setattr(applying, "known_log", counted)
    with running(topic, batch_size=4) as found:
        for seed in range(3):
            topic.send(history(seed, 10))
            found.until(lambda: landed(topic) == len(topic.sent))
        found.until(lambda: bool(reads))
        assert len(reads) == 1
        others = {**topic.places(), "target": f"{topic.root}/lake/others/{{table}}"}
        cwd.apply_log(others["log"], target=others["target"])
        topic.send(history(5, 10))
        found.until(lambda: landed(topic) == len(topic.sent))
        found.until(lambda: len([line for line in found.lines if "tables, " in line]) > len(reads))
    assert_same(topic)


def test_a_table_of_others_keeps_nothing_out_of_the_log(topic: Topic) -> None:
    """It ends the stream after the batch is landed; the next one applies what it left."""
    topic.send([*history(1, 20), (0, BROKEN)])
    table = topic.root / "lake" / "tables" / "t"
    write_deltalake(str(table), pa.table({"other": [1]}))
    with pytest.raises(cwd.StreamError, match="tables/t"):
        topic.stream()
    assert landed(topic) == len(topic.sent)
    rmtree(table)
    assert topic.stream().counts.messages == 0
    assert_same(topic)
