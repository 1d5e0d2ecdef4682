"""What Flink's format makes of messages that are not as they should be, beside changewire."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import changewire.arrow as cwa
from benchmarks.flink import sql
from benchmarks.tables import Result

COLUMNS: Final = {"id": "BIGINT", "name": "STRING", "balance": "DOUBLE", "is_active": "BOOLEAN"}
FAILED: Final = "the job fails"
NOTHING: Final = "nothing"

_ROW: Final = '{"id":1,"name":"Anne","balance":0.5,"is_active":true}'


def message(op: str, *, before: str = "null", after: str = "null") -> bytes:
    """Return a message of Lindorm whose rows are any text."""
    source = '"version":"v1.0","db":"ld-xxxx","namespace":"default","table":"customers"'
    payload = f'"op":{json.dumps(op)},"ts_ms":1617167159556,"before":{before},"after":{after}'
    text = f'{{"schema":{{}},"payload":{{{payload},"source":{{{source},"ts_ms":1617167159548}}}}}}'
    return text.encode()


def _inserted(old: str, new: str) -> bytes:
    """Return an insert in whose row a text is replaced."""
    return message("c", after=_ROW.replace(old, new))


CASES: Final[Mapping[str, bytes]] = {
    "an insert": message("c", after=_ROW),
    "an update": message("u", before=_ROW, after=_ROW.replace("0.5", "0.7")),
    "broken JSON": message("c", after=_ROW)[:-3],
    "text after the message": message("c", after=_ROW) + b" etc.",
    "an unknown `op`": message("x", after=_ROW),
    "an update without `before`": message("u", after=_ROW),
    "an unknown column": _inserted('"name"', '"nick":"An","name"'),
    "a key that is text": _inserted('"id":1', '"id":"abc"'),
    "a key beyond 64 bits": _inserted('"id":1', '"id":9223372036854775808'),
    "a key with a fraction": _inserted('"id":1', '"id":1.9'),
    "more digits than a double has": _inserted("0.5", "12345678901234567.89"),
    "a number beyond doubles": _inserted("0.5", "1e400"),
    "a boolean that is text": _inserted("true", '"maybe"'),
}
"""A message for each case."""


def cases(env: Any) -> Result:
    """Return the table of what becomes of each message."""
    rows = []
    for number, (name, value) in enumerate(CASES.items()):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "message.jsonl").write_bytes(value + b"\n")
            made = {
                ignore: _by_flink(env, f"case_{number}_{ignore}", folder, ignore_errors=ignore)
                for ignore in (False, True)
            }
        rows.append((name, made[False], made[True], by_changewire(value)))
    head = ("", "Flink", "Flink, `ignore-parse-errors`", "changewire")
    title = f"What becomes of a message: columns {', '.join(COLUMNS)}"
    return Result(title, head, rows, "", {"cases": rows})


def by_changewire(value: bytes) -> str:
    """Return what changewire makes of a message, as text: changes, or the codes of rejections."""
    rows = (
        cwa.decode([value], format="lindorm-json", key_columns=["id"]).rows.read_all().to_pylist()
    )
    texts = [
        f"rejected: {row['code']}"
        if row["kind"] == "dead_letter"
        else f"{row['op']} `{row['after']}`"
        for row in rows
    ]
    return ", ".join(texts)


def _by_flink(env: Any, name: str, folder: str, *, ignore_errors: bool) -> str:
    """Return the rows that Flink makes of a message, as text."""
    from py4j.protocol import Py4JJavaError

    options = sql.messages(folder, ignore_errors=ignore_errors)
    env.execute_sql(sql.table(name, COLUMNS, options))
    try:
        with env.from_path(name).execute().collect() as rows:
            texts = [f"`{row.get_row_kind()} {[*row]}`" for row in rows]
    except Py4JJavaError:
        return FAILED
    return ", ".join(texts) or NOTHING
