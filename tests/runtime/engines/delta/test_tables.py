"""What a run that applies changes by delta-rs does to tables, sentence by sentence."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from tests.runtime.engines.delta.lake import ChangeDecoder, Lake
from tests.runtime.engines.ends import CrashError, crash, ending
from tests.runtime.engines.halves import UNUSED, halved
from tests.runtime.tables.histories import applied, change, content, eventful, placed, truncate
from tests.runtime.tables.model import tables_of

import changewire as cw
import changewire.delta as cwd
from changewire.engines import retries
from changewire.engines.counts import ConservationError
from changewire.engines.delta import merge
from changewire.engines.delta.queries import older_than
from changewire.engines.delta.store import DeltaCheckpoint
from changewire.engines.kept import SUFFIX, TRUNCATED
from changewire.tables.order import ChangePosition, Order

STEPS = {
    "before tombstones": (merge, "write_tombstones", True),
    "after tombstones": (merge, "write_tombstones", False),
    "before rows": (merge, "write_rows", True),
    "after rows": (merge, "write_rows", False),
    "after tables": (DeltaCheckpoint, "keep_tables", False),
}
"""Steps of a batch: where the function is that takes it, and whether the run ends before it."""


@pytest.mark.parametrize("step", STEPS)
def test_a_crash_at_any_step_has_no_effect(step: str, tmp_path: Path) -> None:
    """A run that ended is done again; in the end tables are those of the model."""
    lake = Lake(tmp_path)
    module, name, is_before = STEPS[step]
    first, again, late = eventful()
    lake.apply(first)
    with ending(module, name, crash, is_before=is_before), pytest.raises(CrashError):
        lake.apply(again)
    assert [row["offset"] for row in lake.output("changes")] == [0, 1, 2]
    lake.apply(again)
    assert lake.apply(late) == {"stale": 2}
    assert lake.content() == tables_of([*first, *again, *late])
    assert [row["offset"] for row in lake.output("changes")] == [20, 21]


def test_tombstones_are_written_before_rows(tmp_path: Path) -> None:
    """So a row is gone only if its tombstone is there, whenever a run ends."""
    lake = Lake(tmp_path)
    lake.apply(placed(change(key=1, a=1)))
    module, name, is_before = STEPS["before rows"]
    with ending(module, name, crash, is_before=is_before), pytest.raises(CrashError):
        lake.apply(placed(change("delete", 1, 5), start=10))
    graves = DeltaTable(str(lake.folder / f"t{SUFFIX}")).to_pyarrow_table()
    assert graves["key"].to_pylist() == ['{"id":1}']
    assert lake.rows("t") == [{"id": 1, "a": 1}]


def test_many_tables(tmp_path: Path) -> None:
    """Names go where they belong; what has no table, or another's but for its case, is refused."""
    lake = Lake(tmp_path)
    sent = placed(
        change(key=1, table="../t", a=1),
        change(key=2, table=None, a=1),
        change(key=3, table="U", a=1),
        change(key=4, table="u", a=1),
        change(key=None, table="U", a=1),
        change("delete", 1, 5, table=None),
    )
    counts = lake.apply(sent)
    assert lake.tables() == ["U", "null", "x002E__x002E__x002F_t"]
    assert lake.rows("U") == [{"id": 3, "a": 1}]
    assert lake.rows("null") == [{"id": 2, "a": 1}]
    assert lake.rows("x002E__x002E__x002F_t") == []
    (letter,) = lake.output("dead_letters")
    assert (letter["code"], letter["pointer"], letter["offset"]) == (
        "name-collision",
        "/source",
        3,
    )
    assert msgspec.json.decode(letter["value"], type=cw.Change) == sent[3].change
    assert len(lake.output("changes")) == len(sent) - 1
    assert counts["key_missing"] == 1
    # The delete that named no table holds for those to come, and a name stays taken.
    lake.apply(placed(change(key=1, sequence=4, table="new", a=1), start=10))
    assert lake.rows("new") == []
    lake.apply(placed(change(key=9, table="u", a=1), start=20))
    assert [row["code"] for row in lake.output("dead_letters")] == ["name-collision"]


def test_halves_of_one_batch_are_one_change(tmp_path: Path) -> None:
    """Columns go that only the row before has, and so does the key that it alone has."""
    lake, sent = Lake(tmp_path), halved()
    counts = [lake.apply(batch) for batch in sent]
    tables, _ = applied(*sent)
    assert lake.content() == content(tables)
    assert sum(count.get("lone_before_unused", 0) for count in counts) == UNUSED


def test_hostile_names_and_values(tmp_path: Path) -> None:
    """Whatever columns, keys and topics are called, and the folder: they are data, and no SQL."""
    lake = Lake(tmp_path / "a b'c;#é $ü")
    names = ['"a"', "a'b; DROP", "`x`", "rows", "held", "KEY", "row", "_changewire", "{0}", "\0\n"]
    values: dict[str, Any] = {name: f"{name}'); --" for name in names}
    keys = [*values.values(), "", "\U0001f600", "\\", "%20", "null"]
    first = placed(*(change(key=key, **values) for key in keys))
    again = placed(
        *(change("update", key, 2, image="patch", before=values) for key in keys[::2]),
        *(change("delete", key, 2) for key in keys[1::2]),
        start=len(keys),
    )
    lake.apply(first)
    lake.apply(again)
    assert lake.content() == tables_of([*first, *again])
    late: dict[str, Any] = {"\ue000": 1}
    lone = change(key="\\ud800", sequence=3, **late)
    lake.apply(placed(lone, start=99))
    assert lake.content() == tables_of([*first, *again, *placed(lone)])


def test_truncates(tmp_path: Path) -> None:
    """A truncate removes what is older, and nothing older comes back."""
    lake = Lake(tmp_path, applies_truncates=True)
    patched = change("update", 4, 7, image="patch", a=2)
    runs = [
        placed(
            change(key=1, a=1),
            change(key=2, a=1),
            change(key=3, sequence=9, a=1),
            change(key=4, sequence=4, a=1, b=1),
            change("update", 5, 5, image="patch", a=1),
            change("update", 5, 3, image="patch", b=1),
            change(key=6, sequence=None, a=1),
            patched,
        ),
        placed(
            truncate(5),
            truncate(None),
            change(key=2, sequence=6, a=2),
            change(key=1, sequence=2, a=2),
            start=10,
        ),
        placed(change(key=1, sequence=4, a=3), change("update", 4, 5, image="patch", b=9)),
    ]
    for run in runs:
        lake.apply(run)
    first, second, third = runs
    good = [*first, second[0], *second[2:], *third]
    assert lake.content() == tables_of(good, truncates=True)
    assert lake.counts["truncate-without-sequence"] == 0
    lake.apply(second)
    assert [row["code"] for row in lake.output("dead_letters")] == ["truncate-without-sequence"]
    assert lake.content() == tables_of(good, truncates=True)


def test_a_truncate_ends_at_its_own_place(tmp_path: Path) -> None:
    """Of rows with its sequence those are older that were read before it, topic by topic."""
    topics = ["a", "a'b", "a\U0001f600", "a\uffff", "b", "a'"]
    places = [
        (sequence, ChangePosition(topic, partition, offset, 0))
        for sequence in (4, 5, 6)
        for topic in topics
        for partition in (0, 1)
        for offset in (3, 4, 5)
    ]
    floor = Order((5, 1), ChangePosition("a\uffff", 1, 4, 0))
    lake = Lake(tmp_path, applies_truncates=True)
    sent = [
        msgspec.structs.replace(one, position=place)
        for number, (sequence, place) in enumerate(places)
        for one in placed(change(key=number, sequence=sequence, a=1))
    ]
    (end,) = placed(truncate(5))
    end = msgspec.structs.replace(end, position=floor.position)
    lake.apply(sent, batch_size=len(sent))
    lake.apply([end])
    left = tables_of([*sent, end], truncates=True)
    assert 0 < len(left["t"]) < len(sent)
    assert lake.content() == left
    graves = DeltaTable(str(lake.folder / f"t{SUFFIX}"))
    assert TRUNCATED in graves.metadata().configuration
    assert older_than(floor).count("'a\uffff'") == len(["<", "="])


def test_two_writers_of_one_table(tmp_path: Path) -> None:
    """What another run writes between decision and merge is seen, and decided on again."""
    lake = Lake(tmp_path / "one")
    other = Lake(tmp_path / "two", lake=lake.folder)
    first = placed(change(key=1, a=1), change(key=2, a=1))
    lake.apply(first)
    mine = placed(change(key=1, sequence=2, a=2), change(key=2, sequence=2, a=2), start=10)
    theirs = placed(change(key=1, sequence=3, a=3), change("delete", 2, 3), start=20)
    with preceded("write_rows", lambda: other.apply(theirs)):
        assert lake.apply(mine) == {"stale": 2}
    assert lake.content() == tables_of([*first, *mine, *theirs])


@pytest.mark.parametrize("late_step", ["write_tombstones", "write_rows"])
def test_a_delete_and_an_older_write_that_do_not_see_each_other(
    late_step: str, tmp_path: Path
) -> None:
    """A tombstone that comes while its row is written, or the other way round, is not missed."""
    lake = Lake(tmp_path / "one")
    other = Lake(tmp_path / "two", lake=lake.folder)
    lake.apply(placed(change(key=9, a=1)))
    write = placed(change(key=1, sequence=2, a=2), start=10)
    delete = placed(change("delete", 1, 3), start=20)
    first, second = (delete, write) if late_step == "write_tombstones" else (write, delete)
    with preceded(late_step, lambda: other.apply(second)):
        lake.apply(first)
    assert lake.rows("t") == [{"id": 9, "a": 1}]


def test_rows_are_written_as_the_next_version_of_their_table(tmp_path: Path) -> None:
    """A row that comes before them is seen, although its file is none that the MERGE reads."""
    lake = Lake(tmp_path / "one")
    other = Lake(tmp_path / "two", lake=lake.folder)
    first = placed(change(key=9, a=1))
    lake.apply(first)
    mine = placed(change("delete", 1, 3), change(key=5, sequence=3, a=3), start=10)
    late = placed(change(key=1, sequence=2, a=2), start=20)
    with preceded("write_tombstones", lambda: other.apply(late)):
        lake.apply(mine)
    assert lake.content() == tables_of([*first, *mine, *late])


@contextmanager
def preceded(step: str, come: Callable[[], object]) -> Generator[None, None, None]:
    """Let another run come before a step is taken for the first time."""
    real: Callable[..., None] = getattr(merge, step)
    calls = list[Any]()

    def after_the_other(*arguments: Any) -> None:
        calls.append(arguments)
        if len(calls) == 1:
            come()
        real(*arguments)

    with patch.object(merge, step, after_the_other):
        yield


def test_other_writers_end_a_run_at_last(tmp_path: Path) -> None:
    """A table that another writer changes each time ends the run, and nothing is half written."""
    lake = Lake(tmp_path)
    lake.apply(placed(change(key=1, a=1)))
    write, tries = merge.write_rows, 6

    def after_another(*arguments: Any) -> None:
        table_again = DeltaTable(str(lake.folder / "t"))
        table_again.alter.set_table_properties({"delta.appendOnly": "false"})
        write(*arguments)

    with (
        patch.object(merge, "write_rows", after_another),
        patch.object(retries, "sleep") as waited,
        pytest.raises(cwd.ConflictError, match=f"other writers changed it {tries} times"),
    ):
        lake.apply(placed(change(key=1, sequence=2, a=2), start=5))
    assert [call.args for call in waited.mock_calls] == [(1,), (2,), (4,), (8,), (16,)]
    assert lake.rows("t") == [{"id": 1, "a": 1}]


class LossyDecoder(ChangeDecoder):
    """Takes each message for two elements, and loses the last one."""

    def _elements(self, value: bytes | None, key: bytes | None) -> list[Any]:
        return 2 * super()._elements(value, key)

    def __call__(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a batch of messages."""
        for rows in super().__call__(batch):
            yield rows.slice(0, len(rows) - 1)


def test_outputs_stay_as_they_were_if_an_element_is_lost(tmp_path: Path) -> None:
    """The run ends with an error, and leaves nothing beside them."""
    lake = Lake(tmp_path)
    lake.apply(placed(change(key=1, a=1)))
    places = sorted((tmp_path / "out").iterdir())
    lake.decoder = LossyDecoder
    with pytest.raises(ConservationError, match="have 2 elements, decoded were 1: 1 changes"):
        lake.apply(placed(change(key=1, sequence=2, a=2), start=10))
    assert [row["offset"] for row in lake.output("changes")] == [0]
    assert sorted((tmp_path / "out").iterdir()) == places


def test_missing_keys_end_a_run(tmp_path: Path) -> None:
    """A run in which no change has a key ends, and nothing is written."""
    lake = Lake(tmp_path)
    with pytest.raises(cwd.KeysMissingError, match="none of 2 changes has a key"):
        lake.apply(placed(change(key=None, a=1), change(key=None, a=2)))
    assert not (tmp_path / "out").exists()
    assert not lake.folder.exists()


def test_a_table_is_vacuumed(tmp_path: Path) -> None:
    """Tombstones go that were written before a time, and only they."""
    lake = Lake(tmp_path)
    lake.apply(placed(change(key=1, a=1), change("delete", 1, 2), change("delete", 2, 2)))
    table, now, hour = str(lake.folder / "t"), datetime.now(timezone.utc), timedelta(hours=1)
    assert cwd.vacuum(table, older_than=now - hour) == 0
    assert cwd.vacuum(table, older_than=now + hour) == len([1, 2])
    with pytest.raises(ValueError, match="no time zone"):
        cwd.vacuum(table, older_than=datetime(2026, 1, 1))  # noqa: DTZ001 - that is the point
    with pytest.raises(cwd.OutputError, match="delta-rs cannot do it"):
        cwd.vacuum(str(tmp_path / "none"), older_than=now)


REFUSED: dict[str, tuple[Callable[[str], object], str]] = {
    "another's": (
        lambda path: write_deltalake(path, pa.table({"key": ["1"], "row": ["{}"]})),
        "a column _changewire of type struct<.*> is needed, and the table lacks it; it was not",
    ),
    "columns of a type": (
        lambda path: write_deltalake(path, pa.table({"key": ["1"], "a": [1]})),
        "a column row of type string is needed, and the table lacks it; .* needs `rows`",
    ),
    "another type": (
        lambda path: write_deltalake(path, pa.table({"key": [1], "row": ["{}"]})),
        "a column key of type string is needed, and the table has bigint",
    ),
    "column mapping": (
        lambda path: DeltaTable.create(
            path,
            pa.schema([("key", pa.string())]),
            configuration={"delta.columnMapping.mode": "name"},
        ),
        "it is not for delta-rs to read",
    ),
}


@pytest.mark.parametrize(("make", "why"), REFUSED.values(), ids=REFUSED)
def test_tables_that_are_not_of_this_engine(
    make: Callable[[str], object], why: str, tmp_path: Path
) -> None:
    """A table that is there and has other columns is left as it is."""
    lake = Lake(tmp_path)
    lake.folder.mkdir()
    make(str(lake.folder / "t"))
    version = DeltaTable(str(lake.folder / "t")).version()
    with pytest.raises(cwd.OutputError, match=why):
        lake.apply(placed(change(key=1, a=1)))
    assert DeltaTable(str(lake.folder / "t")).version() == version
