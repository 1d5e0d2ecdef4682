"""The report of a run as one page that needs nothing but itself, and runs nothing."""

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from changewire.changes.leniencies import LENIENCIES
from changewire.changes.values import READ_IN_UTC
from changewire.codec import CODES
from changewire.engines.applied import COUNTED, NOT_APPLIED
from changewire.engines.by_table import BECAME
from changewire.report.charts import WIDTH, ranking, timeline
from changewire.report.hours import series
from changewire.report.remedies import REMEDIES

ROWS: Final = 100
"""Rows of a table of counts at most; ``report.json`` has them all."""

_RANKED: Final[Mapping[str, str]] = {
    "by_operation": "Operations",
    "by_variant": "Variants",
    "by_table": "Tables",
    "by_error_code": "Codes of dead letters",
}
"""Title of each ranking; a report has those of its counts."""

_TERMS: Final[Mapping[str, str]] = {
    "changes": "changes",
    "controls": "control events",
    "valid": "valid messages",
    "dead_letters": "dead letters",
}
"""The parts of the sum of elements, in words; a report has some of them."""

_MEANINGS: Final[Mapping[str, object]] = {
    "codes": CODES,
    "counted": COUNTED,
    "leniencies": LENIENCIES,
    "not_applied": NOT_APPLIED,
    "remedies": REMEDIES,
}
"""What names in the report mean, by the name that the template has for them."""

_LEADING: Final = 3
"""Tables whose refused changes the page begins with."""

_INPUTS: Final = 8
_COLUMNS: Final = 10
_MINUTE: Final = 60


def page(report: Mapping[str, Any]) -> str:
    """Return the page of a report, which `changewire.report.write.summary` returned.

    It has no script and loads nothing: its policy forbids both, whatever a message smuggles in.
    """
    charts = {
        name: ranking(title, list(report[name].items()))
        for name, title in _RANKED.items()
        if name in report
    }
    time, by_table = series(report.get("by_hour", {})), report.get("changes_by_table", {})
    accounts = [*by_table.items()][:ROWS]
    return _template().render(
        report=report,
        style=_style(),
        policy=_policy(),
        **_MEANINGS,
        dates=report["leniencies"].get(READ_IN_UTC, 0),
        unapplied=_unapplied(report),
        lost={name: one for name, one in by_table.items() if one["refused"] or one["key_missing"]},
        accounts=accounts,
        became_words=BECAME,
        outcomes=[name for name in BECAME if any(one.get(name) for _, one in accounts)],
        leading=_LEADING,
        rows=ROWS,
        columns=_COLUMNS,
        inputs=report["input"][:_INPUTS],
        more_inputs=max(len(report["input"]) - _INPUTS, 0),
        duration=duration,
        time=time,
        chart_width=WIDTH,
        terms=[(name, report[name], words) for name, words in _TERMS.items() if name in report],
        charts={**charts, "by_hour": timeline(f"Changes by {time.unit}", time)},
    )


def _unapplied(report: Mapping[str, Any]) -> int:
    """Return how many changes are in no table."""
    tables = report.get("tables", {})
    return sum(tables.get(name, 0) for name in ("refused", "key_missing"))


def duration(seconds: float) -> str:
    """Return a duration in words that are read at a glance: 0.42 s, 7.1 s, 3 min 20 s."""
    if seconds < 1:
        return f"{seconds:.2f} s"
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), _MINUTE)
    return f"{minutes:,} min {rest} s"


def reason(letter: Mapping[str, Any]) -> str:
    """Return what is wrong with a dead letter, without the rest of the page."""
    text = str(letter["message"]).partition(": ")[2] or letter["message"]
    return text.removeprefix(f"at {letter['pointer']}: ").replace(f" ({letter['code']})", "", 1)


@cache
def _template() -> Template:
    loader = PackageLoader("changewire.report", "")
    environment = Environment(
        autoescape=True,
        loader=loader,
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["reason"] = reason
    return environment.get_template("page.html.jinja")


@cache
def _style() -> Markup:
    text = files("changewire.report").joinpath("page.css").read_text(encoding="utf-8")
    return Markup(text)  # noqa: S704 - our own file


@cache
def _policy() -> str:
    """Return the content security policy: this one style sheet, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(_style().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
