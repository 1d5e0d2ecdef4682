"""The code of docs/spark.md runs, from top to bottom."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from tests.samples import mixed_messages

PAGE = Path(__file__).parents[2] / "docs" / "spark.md"


def test_the_page_runs(spark: SparkSession, tmp_path: Path) -> None:
    """Each block runs after the one before it; the last one shows typed columns."""
    lines = [message for message in mixed_messages() if message]
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(lines))
    user = {"msg": "write", "key": ["shop", "users", "YWJjZGVmZ2hpamtsbW5vcHFyc3Q=", 1]}
    bins = [{"name": "age", "type": "int", "value": 41}]
    text = json.dumps({**user, "gen": 1, "exp": 0, "lut": 0, "bins": bins})
    names: dict[str, Any] = {
        "inputs": str(tmp_path / "in.jsonl"),
        "output": str(tmp_path / "out"),
        "messages": spark.createDataFrame([(text,)], "value string"),
    }
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    first, files, *rest = blocks
    exec(first, names)  # noqa: S102 - our own text
    one = names["messages"]
    exec(files, names)  # noqa: S102
    assert names["messages"].count() == len(lines)
    names["messages"] = one
    for block in rest:
        exec(block, names)  # noqa: S102
    assert [row["after"]["age"] for row in names["users"].changes.collect()] == [41]
