"""A log and tables that runs without Spark feed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
from deltalake import DeltaTable
from tests.runtime.engines.accounts import assert_all_are_explained
from tests.runtime.tables.model import Content, key_of

import changewire as cw
from changewire.changes.change_row import row_of
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.decode import Decoder
from changewire.engines.layout import INPUT_COLUMNS
from changewire.engines.merge.apply import Run, apply_changes
from changewire.engines.merge.options import local_options
from changewire.engines.options import TableOptions
from changewire.engines.outcome import Outcome
from changewire.tables import PositionedChange

COLUMNS = {name: INPUT_COLUMNS[name] for name in ("value", "topic", "partition", "offset")}
BATCH_SIZE = 1000


class ChangeDecoder(Decoder):
    """Takes changes themselves for messages, so that any history can be recorded."""

    def _elements(self, value: bytes | None, key: bytes | None) -> list[Any]:
        del key
        assert value is not None
        return [(row_of(msgspec.json.decode(value, type=cw.Change)), [])]


def records_of(batch: Sequence[PositionedChange]) -> list[tuple[Any, ...]]:
    """Return changes as records."""
    return [(msgspec.json.encode(one.change), *one.position[:3]) for one in batch]


def recorded(rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    """Return records: value, topic, partition and offset."""
    return pa.table(
        {
            name: pa.array([row[i] for row in rows], kind)
            for i, (name, kind) in enumerate(COLUMNS.items())
        }
    )


def numbers_of(outcome: Outcome) -> dict[str, dict[str, Any]]:
    """Return what became of the changes of each table."""
    return {name: one.numbers() for name, one in outcome.changes_by_table.items()}


@dataclass
class Lake:
    """A log and its tables, with rows of JSON text unless a test gives a `row_schema`.

    Attributes:
        root: Holds both.
    """

    root: Path

    @property
    def places(self) -> dict[str, Any]:
        """Where they are, as `apply_changes` takes it."""
        return {"log": f"{self.root}/log", "target": f"{self.root}/tables/{{table}}"}

    def run(self, **options: Any) -> Run:
        """Return a run that takes changes themselves for messages."""
        decode = DecodeOptions("dataworks-json")
        places, adopt_table = self.places, options.pop("adopt_table", False)
        given: dict[str, Any] = {"default_table": "null", "row_schema": "json", **options}
        tables = TableOptions(places["target"], **given)
        how = local_options(decode, tables, log=places["log"], adopt_table=adopt_table)
        return Run(how, ChangeDecoder(decode))

    def apply(self, *batches: Sequence[PositionedChange], **options: Any) -> Outcome:
        """Apply changes, a batch after the other in one run."""
        run = self.run(**options)
        outcomes = [run.apply(recorded(records_of(batch)), "auto", BATCH_SIZE) for batch in batches]
        for outcome in outcomes:
            assert_all_are_explained(numbers_of(outcome))
        return outcomes[-1]

    def apply_records(self, records: Sequence[tuple[Any, ...]], **options: Any) -> Outcome:
        """Apply messages, by what users call."""
        rows = {"format": "dataworks-json", "row_schema": "json"}
        given: dict[str, Any] = {**rows, **self.places, **options}
        # Messages are decoded by the batches of a table, and never cut to be merged.
        parts = recorded(records).to_batches(max_chunksize=options.get("batch_size", BATCH_SIZE))
        outcome = apply_changes(pa.Table.from_batches(parts, recorded([]).schema), **given)
        assert_all_are_explained(numbers_of(outcome))
        return outcome

    def log(self, *kinds: str) -> list[dict[str, Any]]:
        """Return the rows of the log, all or those of some kinds."""
        rows = DeltaTable(self.places["log"]).to_pyarrow_table().to_pylist()
        return [row for row in rows if not kinds or row["kind"] in kinds]

    def rows(self, name: str = "t") -> list[dict[str, Any]]:
        """Return the rows of a table, those that are deleted too."""
        table = DeltaTable(f"{self.root}/tables/{name}").to_pyarrow_table()
        found: list[dict[str, Any]] = table.to_pylist()
        return found

    def names(self) -> list[str]:
        """Return the names of the tables."""
        folder = self.root / "tables"
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []

    def json_rows(self, name: str = "t") -> dict[Any, dict[str, Any]]:
        """Return the rows of a table of JSON text that are not deleted, by their id."""
        live = (row["row"] for row in self.rows(name) if not row["_changewire"]["deleted"])
        return {row["id"]: row for row in map(msgspec.json.decode, live)}

    def content(self) -> Content:
        """Return the rows of every table that are not deleted, as the model has them."""
        return {
            name: {key_of({"id": key}): row for key, row in self.json_rows(name).items()}
            for name in self.names()
        }
