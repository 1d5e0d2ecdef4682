"""A topic that carries JSON and flat JSON ends in one table, without Spark."""

from base64 import b64encode
from pathlib import Path
from typing import Any

from deltalake import DeltaTable
from tests.runtime.engines.same import parsed
from tests.runtime.engines.two_forms import BATCHES, ROWS

import changewire.delta as cwd


def test_messages_of_both_forms_are_one_table(tmp_path: Path) -> None:
    """Rows have the last version, of either form; what is rejected is a dead letter."""
    options: dict[str, Any] = {
        "log": f"{tmp_path}/log",
        "target": f"{tmp_path}/tables/{{table}}",
        "row_schema": "json",
    }
    letters = 0
    for number, batch in enumerate(BATCHES):
        file = tmp_path / f"{number}.jsonl"
        file.write_bytes(b"\n".join(batch))
        letters += cwd.apply_changes(str(file), format="auto", **options).counts.dead_letters
    assert letters == 1
    rows = DeltaTable(f"{tmp_path}/tables/users").to_pyarrow_table(columns=["row"]).to_pylist()
    found = [parsed(row["row"]) for row in rows]
    digests = {b64encode(bytes([number] * 20)).decode(): row for number, row in ROWS.items()}
    assert {row.pop("aerospike_digest"): row for row in found} == digests
