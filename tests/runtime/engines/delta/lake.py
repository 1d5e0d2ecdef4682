"""A lake that delta-rs merges changes into."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from tests.runtime.tables.model import Content, key_of

import changewire as cw
from changewire.changes.change_row import row_of
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.arrow.messages import opener
from changewire.engines.changelog import stored_row
from changewire.engines.changelog.target import StoredRow
from changewire.engines.delta.batches import RunReport, grouped, merge_all
from changewire.engines.delta.plan import DeltaRsRules
from changewire.engines.delta.store import DeltaStore
from changewire.engines.effects import EffectsDecoder
from changewire.engines.kept import ENDS_SUFFIX, SUFFIX
from changewire.engines.layout import INPUT_COLUMNS
from changewire.engines.typed.plan import TypedTables
from changewire.engines.typed.types import columns_as_json
from changewire.tables import PositionedChange, Routing, template_of
from changewire.tables.keys import key_text
from changewire.tables.metadata import COLUMN

COLUMNS = {name: INPUT_COLUMNS[name] for name in ("value", "topic", "partition", "offset")}


class ChangeDecoder(EffectsDecoder):
    """Takes changes themselves for messages, so that any history can be told."""

    def _elements(self, value: bytes | None, key: bytes | None) -> list[Any]:
        del key
        assert value is not None
        return [(row_of(msgspec.json.decode(value, type=cw.Change)), [])]


def records(batch: Sequence[PositionedChange]) -> pa.Table:
    """Return changes as records."""
    rows = [(msgspec.json.encode(one.change), *one.position[:3]) for one in batch]
    return pa.table(
        {
            name: pa.array([row[i] for row in rows], kind)
            for i, (name, kind) in enumerate(COLUMNS.items())
        }
    )


@dataclass
class Lake:
    """Tables that runs feed.

    Attributes:
        root: Holds checkpoint, outputs and tables.
        applies_truncates: Whether truncates are applied.
        lake: Folder of the tables, where it is not that of the root.
        given: Columns of rows; None for rows of JSON text.
        history: How tables of versions are named; empty without any.
        decoder: Makes rows of the messages.
        counts: What became of changes in tables, in all runs.
        versions: What became of versions of rows, in the last run.
    """

    root: Path
    applies_truncates: bool = False
    lake: Path | None = None
    given: pa.Schema | None = None
    history: str = ""
    decoder: type[ChangeDecoder] = ChangeDecoder
    counts: Counter[str] = field(default_factory=Counter)
    versions: Counter[str] = field(default_factory=Counter)

    def apply(self, batch: Sequence[PositionedChange], batch_size: int = 100) -> Counter[str]:
        """Apply changes in one run; return what became of them."""
        routing = Routing(template_of(f"{self.folder}/{{table}}"), "null")
        checkpoint = str(self.root / "checkpoint")
        decode_options, typed = DecodeOptions("dataworks-json"), None
        if self.given is not None:
            typed = TypedTables(decode_options, DeltaRsRules(), columns_as_json(self.given))
        history = template_of(self.history) if self.history else None
        store = DeltaStore(
            routing, checkpoint, "dataworks-json", self.applies_truncates, typed, history
        )
        decode = self.decoder(decode_options)
        read, _ = opener(records(batch), "auto")
        rows = grouped((rows for part in read() for rows in decode(part)), batch_size)
        merge_all(rows, store, str(self.root / "out"), RunReport())
        self.counts += store.counts
        self.versions = +store.versions
        return +store.counts

    @property
    def folder(self) -> Path:
        """Where the tables are."""
        return self.lake or self.root / "tables"

    def tables(self) -> list[str]:
        """Return the names of the tables, without those beside them."""
        names = [path.name for path in self.folder.iterdir()] if self.folder.exists() else []
        return sorted(
            name for name in names if not name.endswith((SUFFIX, "__history", ENDS_SUFFIX))
        )

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of a table; of typed ones what is not NULL."""
        table = DeltaTable(str(self.folder / name)).to_pyarrow_table()
        if self.given is None:
            return [msgspec.json.decode(text) for text in table["row"].to_pylist()]
        rows = table.drop_columns(COLUMN).to_pylist(maps_as_pydicts="strict")
        return [{name: one for name, one in row.items() if one is not None} for row in rows]

    def kept(self, name: str, key: Any) -> StoredRow | None:
        """Return a row of a table, as `changewire trace` reads it."""
        return stored_row(str(self.folder / name), key_text({"id": key}))

    def content(self) -> Content:
        """Return the rows of every table, as the model has them; none is there twice."""
        found: Content = {}
        for name in self.tables():
            rows = self.rows(name)
            found[name] = {key_of({"id": row["id"]}): row for row in rows}
            assert len(found[name]) == len(rows), name
        return found

    def output(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of an output of the last run."""
        return list(pq.read_table(self.root / "out" / name).to_pylist())
