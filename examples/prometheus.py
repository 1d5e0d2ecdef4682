"""Serve the metrics of a stream to Prometheus: python -m examples.prometheus METRICS [PORT].

METRICS is the file that ``changewire stream --metrics METRICS`` appends to: one line of JSON for
each batch of messages, and one for each batch of the log that was merged into tables. Counts are
added up since this program started, and what was in the file before counts as well. The file may be
rotated by copying and truncating it.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Final

PORT: Final = 9109

TOTALS: Final = ("rows", "messages", "elements", "changes", "controls", "valid", "dead_letters")
"""Numbers of a line that are added up, each to a counter."""

NAMED: Final = {
    "by_operation": ("operations", "operation"),
    "by_error_code": ("errors", "code"),
    "leniencies": ("leniencies", "leniency"),
    "tables": ("tables", "outcome"),
}
"""Properties of a line that are counts by name: the counter, and the label with the name."""

GAUGES: Final = ("lag_offsets", "lag_seconds", "rows_per_second")
"""Numbers of the newest line."""


class Metrics:
    """What a file of metrics says of each query."""

    def __init__(self, path: Path) -> None:
        """Start at the beginning of a file, which need not exist yet."""
        self._path = path
        self._offset = 0
        self.samples: Counter[str] = Counter()

    def read(self) -> None:
        """Add the whole lines that were appended since the last call, but for damaged ones."""
        if not self._path.exists():
            return
        if self._path.stat().st_size < self._offset:
            self._offset = 0
        with self._path.open("rb") as file:
            file.seek(self._offset)
            lines, end, _ = file.read().rpartition(b"\n")
        self._offset += len(lines + end)
        for line in lines.split(b"\n"):
            with suppress(ValueError):  # a process that was killed may leave half a line
                self.add(json.loads(line))

    def add(self, line: dict[str, Any]) -> None:
        """Add a line, which is one batch: of messages, or of the log."""
        query, batch = {"query": line["query"]}, "table_batch" if "tables" in line else "batch"
        added: dict[str, Any] = {
            name: line[name] or 0 for name in (*TOTALS, "offset_gaps") if name in line
        }
        added |= {f"{batch}es": 1, f"{batch}_seconds": line["seconds"]}
        for total, number in added.items():
            self.samples[sample(f"{total}_total", **query)] += number
        for name, (counter, label) in NAMED.items():
            for value, number in line.get(name, {}).items():
                self.samples[sample(f"{counter}_total", **query, **{label: value})] += number
        for table, numbers in line.get("changes_by_table", {}).items():
            for outcome in numbers.keys() - {"rescued"}:
                labels = {**query, "table": table, "outcome": outcome}
                self.samples[sample("table_changes_total", **labels)] += numbers[outcome]
        for name in ("messages", "declined"):
            if name in line.get("native", {}):
                self.samples[sample(f"native_{name}_total", **query)] += line["native"][name]
        for name in GAUGES:
            if line.get(name) is not None:
                self.samples[sample(name, **query)] = line[name]
        self.samples[sample(batch, **query)] = line["batch"]

    def text(self) -> str:
        """Return the samples in Prometheus' text format."""
        return "".join(f"{name} {number}\n" for name, number in sorted(self.samples.items()))


def sample(name: str, **labels: str) -> str:
    """Return the name and labels of a sample; texts in labels are quoted as in JSON."""
    quoted = ",".join(
        f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in labels.items()
    )
    return f"changewire_{name}{{{quoted}}}"


def server(path: Path, port: int = PORT) -> HTTPServer:
    """Return a server of the metrics at ``/metrics``, on all addresses of the machine."""
    metrics = Metrics(path)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            metrics.read()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.end_headers()
            self.wfile.write(metrics.text().encode())

    return HTTPServer(("", port), Handler)


if __name__ == "__main__":
    server(Path(sys.argv[1]), *map(int, sys.argv[2:3])).serve_forever()
