"""What the runs read and wrote: folders, rows, and the messages that rows came from."""

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pyarrow.dataset as ds

from changewire.changes.decode_options import AUTO
from changewire.engines.options import LOG
from changewire.engines.outcome import Outcome, place_order
from changewire.framing import Record, read

INPUTS: Final = Path(__file__).resolve().parents[1]
FORMATS: Final[Mapping[str, str]] = {
    "aerospike_flat_json": "aerospike-flat-json",
    "aerospike_json": "aerospike-json",
    "aerospike_msgpack": "aerospike-msgpack",
    "dataworks_json": "dataworks-json",
    "lindorm_json": "lindorm-json",
    "mixed": AUTO,
}
"""Format of the messages in each folder of examples."""

Row = dict[str, Any]


def rows_of(outcome: Outcome, *kinds: str) -> list[Row]:
    """Return the rows of some kinds in a log by the place that they came from; all by default."""
    chosen = ds.field("kind").isin(kinds) if kinds else None
    log = ds.dataset(Path(outcome.output, LOG), format="parquet")
    rows: list[Row] = log.to_table(filter=chosen).to_pylist()
    return sorted(rows, key=place_order)


def record_of(row: Row) -> Record:
    """Return the record that a row came in, as it stands in its file."""
    return next(islice(read(row["path"]), row["number"], None))


def place(row: Row) -> str:
    """Return file and number of the record that a row came in."""
    return f"{Path(row['path']).name} {row['number']}"


def table_name(source: Row) -> str:
    """Return the name of a table; most deletes of Aerospike leave out the set of the record."""
    parts = (source["database"], source["schema"], source["table"])
    return ".".join(part for part in parts if part) or "(no table)"
