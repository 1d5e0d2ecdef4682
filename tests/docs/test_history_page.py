"""The page of versions: its examples are what the rule makes of them, and its code runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from docs.making.histories import History, histories, sequence_text
from docs.making.spans import PAGE, versions
from tests.docs.pages import ROOT
from tests.docs.running import run_page

import changewire.spark as cws

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

HISTORIES = list(histories(PAGE))
ACCOUNTS = ROOT / "examples" / "dataworks_json" / "accounts.kcat.jsonl"


@pytest.mark.parametrize("history", HISTORIES, ids=[history.name for history in HISTORIES])
def test_histories(history: History) -> None:
    """The versions below each example are those of its changes."""
    assert [*rows_of(history)] == history.rows


def rows_of(history: History) -> Iterator[dict[str, str]]:
    """Yield the versions of an example as the page has them."""
    columns = [name for name in history.rows[0] if name not in {"id", "from", "to"}]
    for key, of_key in versions(history).items():
        for one in of_key:
            values = {name: str(one.values.get(name, "")) for name in columns}
            last = "" if one.ended is None else sequence_text(one.ended.sequence)
            ends = {"from": sequence_text(one.began.sequence), "to": last}
            yield {"id": str(key), **ends, **values}


def test_every_history_is_drawn() -> None:
    """Below the versions of each stands its picture."""
    drawn = re.findall(r"\]\(\.\./pictures/history-(.+)\.svg\)", PAGE.read_text(encoding="utf-8"))
    assert drawn == [history.name for history in HISTORIES]


def test_the_page_runs(
    spark: SparkSession,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From the topic to versions by each of its ways, which agree."""
    history = cws.history

    def kept(*args: Any, **given: Any) -> DataFrame:
        """Return versions at which the page and this test look again and again."""
        return history(*args, **given).persist()

    monkeypatch.setattr(cws, "history", kept)
    topic = tmp_path / "topic"
    topic.mkdir()
    records = map(json.loads, ACCOUNTS.read_text(encoding="utf-8").splitlines())
    values = [one["payload"] for one in records if one["payload"]]
    (topic / "values.jsonl").write_text("\n".join(values), encoding="utf-8")
    places = {"inputs": str(ACCOUNTS), "lake": str(tmp_path / "lake"), "topic": str(topic)}
    known: dict[str, Any] = {"spark": spark, **places}
    names = run_page("docs/guides/history.md", tmp_path, known)
    assert names["as_of"].count() < names["current"].count() < names["versions"].count()
    assert "valid_from" in capsys.readouterr().out
    spark.catalog.clearCache()
