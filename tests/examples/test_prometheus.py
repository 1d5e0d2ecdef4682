"""The recipe for Prometheus, and the dashboard and rules that use its metrics."""

from __future__ import annotations

import json
import re
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.request import urlopen

from examples.prometheus import GAUGES, NAMED, TOTALS, Metrics, server
from tests.docs.pages import ROOT, all_blocks

from changewire.engines.batch_lines import BatchProgress
from changewire.engines.counts import Counts, MessageCounts

PAGE = "docs/operate/monitoring.md"
LINE: dict[str, Any] = {
    "query": "q",
    "batch": 4,
    "seconds": 1.5,
    "native": {"messages": 8, "declined": 1},
    **dict.fromkeys((*TOTALS, "offset_gaps"), 8),
    "by_operation": {"insert": 7},
    "by_error_code": {"wrong-type": 1},
    "leniencies": {"other-case": 2},
    "lag_offsets": 10,
    "lag_seconds": 0.5,
    "rows_per_second": 5.3,
}
TABLES: dict[str, Any] = {
    "query": "q",
    "batch": 2,
    "seconds": 3.5,
    "tables": {"refused": 1, "inserted": 6},
    "changes_by_table": {
        "shop.orders": {"changes": 7, "refused": 1, "inserted": 6, "rescued": {"price": 2}}
    },
}


def written(path: Path, *lines: dict[str, Any]) -> None:
    """Append lines of metrics to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def test_lines_are_added_up_and_the_newest_is_shown(tmp_path: Path) -> None:
    """Counters add each batch once, gauges are those of the last, and an open line waits."""
    path = tmp_path / "metrics.jsonl"
    metrics = Metrics(path)
    metrics.read()
    assert metrics.text() == ""
    written(path, LINE, TABLES, {**LINE, "batch": 5, "lag_offsets": 3, "offset_gaps": None})
    with path.open("a", encoding="utf-8") as file:
        file.write('{"query": "q"')
    for _ in range(2):
        metrics.read()
    text = metrics.text()
    assert 'changewire_messages_total{query="q"} 16\n' in text
    assert 'changewire_offset_gaps_total{query="q"} 8\n' in text
    assert 'changewire_tables_total{query="q",outcome="refused"} 1\n' in text
    counter = 'changewire_table_changes_total{query="q",table="shop.orders",outcome='
    assert f'{counter}"inserted"}} 6\n' in text
    assert f'{counter}"refused"}} 1\n' in text
    assert "rescued" not in text
    assert 'changewire_lag_offsets{query="q"} 3\n' in text
    assert 'changewire_batch{query="q"} 5\n' in text
    assert 'changewire_batches_total{query="q"} 2\n' in text
    assert 'changewire_table_batch{query="q"} 2\n' in text
    assert 'changewire_table_batch_seconds_total{query="q"} 3.5\n' in text


def test_a_truncated_file_is_read_from_its_start(tmp_path: Path) -> None:
    """After a rotation the counters go on."""
    path = tmp_path / "metrics.jsonl"
    written(path, LINE, LINE)
    metrics = Metrics(path)
    metrics.read()
    path.write_text(json.dumps(LINE) + "\n", encoding="utf-8")
    metrics.read()
    assert metrics.samples['changewire_batches_total{query="q"}'] == 3


def test_a_damaged_line_is_passed_over(tmp_path: Path) -> None:
    """A process that was killed left half of it; the lines around it count once."""
    path = tmp_path / "metrics.jsonl"
    written(path, LINE)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"query": "q", "ba\n')
    written(path, LINE)
    metrics = Metrics(path)
    for _ in range(2):
        metrics.read()
    assert metrics.samples['changewire_batches_total{query="q"}'] == 2


def test_prometheus_reads_them(tmp_path: Path) -> None:
    """The server answers in the text format, one sample a line."""
    written(tmp_path / "metrics.jsonl", LINE)
    with server(tmp_path / "metrics.jsonl", 0) as serving:
        Thread(target=serving.serve_forever, daemon=True).start()
        with urlopen(f"http://127.0.0.1:{serving.server_port}/metrics") as answer:
            lines = answer.read().decode().splitlines()
        serving.shutdown()
    assert lines
    sample = re.compile(r'changewire_\w+\{(\w+="[^"\\\n]*",?)+\} [\d.]+')
    assert [line for line in lines if not sample.fullmatch(line)] == []


def test_the_keys_are_those_of_a_stream() -> None:
    """Whatever the recipe reads of a line, streams write."""
    known = {*Counts().as_dict(), *MessageCounts().as_dict(), *BatchProgress.__struct_fields__}
    assert {*TOTALS, *NAMED, *GAUGES, "offset_gaps"} - known == {"tables"}


def known_metrics() -> set[str]:
    """Return the names of all metrics that the recipe has."""
    metrics = Metrics(Path("unread"))
    metrics.add(LINE)
    metrics.add(TABLES)
    return {sample.partition("{")[0] for sample in metrics.samples}


def test_the_dashboard_and_the_rules_name_metrics_that_exist() -> None:
    """The JSON for Grafana parses; its expressions, and those of the page, use known metrics."""
    board = json.loads(ROOT.joinpath("examples", "grafana.json").read_bytes())
    shown = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"]) == 10
    rules = [b.code for b in all_blocks(PAGE) if b.language == "yaml" and "expr:" in b.code]
    for expression in (*shown, *re.findall(r"expr: (.+)", "".join(rules))):
        named = set(re.findall(r"changewire_\w+", expression))
        assert named
        assert named <= known_metrics(), expression


def test_the_page_names_every_metric() -> None:
    """The table of metrics lists each of them."""
    text = ROOT.joinpath(PAGE).read_text(encoding="utf-8")
    names = {name.removeprefix("changewire") for name in known_metrics()}
    assert {name for name in names if not re.search(rf"{name}\b", text)} == set()
