"""The page: self-contained, without script, whatever the messages hold."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.report.conftest import HOSTILE

from changewire.changes.leniencies import LENIENCIES
from changewire.changes.values import READ_IN_UTC
from changewire.codec import CODES
from changewire.engines.applied import COUNTED
from changewire.engines.by_table import ChangesByTable, FirstRefusal, TableChanges
from changewire.engines.counts import Counts
from changewire.engines.outcome import Outcome
from changewire.report.charts import fitted
from changewire.report.page import duration, page, reason
from changewire.report.remedies import REMEDIES
from changewire.report.text import visible
from changewire.report.write import summary

OURS = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "section", "div"),
    *("h1", "h2", "p", "b", "i", "span", "bdi", "br", "code", "pre", "small", "figure", "svg"),
    *(
        "desc",
        "line",
        "rect",
        "text",
        "details",
        "summary",
        "table",
        "tr",
        "th",
        "td",
        "dl",
        "dt",
        "dd",
    ),
    *("a", "li", "ol"),
}
SHAPES = {
    "svg": ["viewBox", "role"],
    "title": [],
    "desc": [],
    "line": ["class", "x1", "x2", "y1", "y2"],
    "rect": ["class", "x", "y", "width", "height"],
    "text": ["class", "x", "y", "dy", "text-anchor"],
}
"""Elements of a chart, each with its attributes."""

LOADING = {"src", "srcset", "action", "data", "poster", "style"}


class Reader(HTMLParser):
    """Collects tags, attributes and text of a page."""

    def __init__(self, text: str) -> None:
        """Read the page."""
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.declarations: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep a tag."""
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """Keep a text."""
        self.texts.append(data)

    def handle_decl(self, decl: str) -> None:
        """Keep a declaration."""
        self.declarations.append(decl)

    def handle_comment(self, data: str) -> None:
        """Keep a comment with the declarations: a page has neither but one."""
        self.declarations.append(data)


@pytest.fixture
def text(hostile: Outcome) -> str:
    """The page of the hostile outcome."""
    return page(summary(hostile))


def test_a_page_shows_the_start_beside_the_read(hostile: Outcome) -> None:
    """The headline has the time to read; an engine that begins at once has no start to show."""
    text = page(summary(replace(hostile, seconds=69.0, start_seconds=62.0)))
    assert "read in 7.0 s: 2 a second. The start of the engine took 1 min 2 s." in text
    assert "<dd>1 min 9 s: 1 min 2 s to start, 7.0 s to read</dd>" in text
    at_once = page(summary(hostile))
    assert "to start" not in at_once
    assert "The start of the engine" not in at_once


def test_only_our_tags_are_there(text: str) -> None:
    """No name opens a tag, an attribute that loads or runs anything, or a comment."""
    reader = Reader(text)
    assert {tag for tag, _ in reader.tags} <= OURS
    names = {name for _, attributes in reader.tags for name in attributes}
    assert not names & LOADING
    assert not [name for name in names if name.startswith("on")]
    links = {attributes["href"] for tag, attributes in reader.tags if tag == "a"}
    assert links <= {f"#{code}" for code in CODES}
    assert links <= {f"#{attributes['id']}" for _, attributes in reader.tags if "id" in attributes}
    assert "href" not in {name for tag, found in reader.tags if tag != "a" for name in found}
    assert reader.declarations == ["DOCTYPE html"]


def test_no_script_and_no_address(text: str) -> None:
    """The file has no script, and no address stands in it outside of a name's own text."""
    assert "<script" not in text
    assert "javascript:" not in text
    assert "xmlns" not in text
    assert set(re.findall(r"https?://[^/&<]*", text)) == {"https://evil.example"}
    assert "url(" not in text
    assert "@import" not in text


def drawings(text: str) -> list[ET.Element]:
    """Return the charts of a page."""
    return [ET.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", text, re.DOTALL)]  # noqa: S314 - our own page


def test_hostile_names_are_text_of_charts(text: str) -> None:
    """Whatever the names, a chart is bars and texts, and nothing in it loads or runs."""
    charts = drawings(text)
    assert len(charts) == 4
    for chart in charts:
        assert {element.tag for element in chart.iter()} <= SHAPES.keys()
        for element in chart.iter():
            assert element.keys() == SHAPES[element.tag]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_labels_its_bar(hostile: Outcome, name: str) -> None:
    """A name stands beside its bar and in the words of the chart, escaped by the template."""
    hostile.counts.by_table.clear()
    hostile.counts.by_table.update({name: 7, "orders": 1})
    chart = drawings(page(summary(hostile)))[2]
    label = fitted(visible(name))
    assert [text.text for text in chart.iter("text")] == [label, "7", "orders", "1"]
    assert chart.findtext("desc") == f"{label}: 7; orders: 1"


def test_one_bar_is_no_chart(hostile: Outcome) -> None:
    """A single name stands as text with its count and meaning, and nothing unfolds below it."""
    counts = Counts(messages=7, elements=7, dead_letters=7)
    counts.by_operation["insert"] = 7
    counts.by_table["<b>"] = 7
    counts.by_error_code["wrong-type"] = 7
    counts.by_hour["2026-01-02 03:00"] = 7
    text = page(summary(replace(hostile, counts=counts)))
    assert drawings(text) == []
    assert "<details>" not in text
    assert "<p><bdi>insert</bdi>: 7</p>" in text
    assert "<p><bdi>&lt;b&gt;</bdi>: 7</p>" in text
    assert f'<p class="quiet">{CODES["wrong-type"]}</p>' in text
    assert "<p>2026-01-02 03:00 (UTC): 7</p>" in text


def test_charts_are_drawn_to_scale(hostile: Outcome) -> None:
    """A bar is as long as its count says, and its colour follows the page from light to dark."""
    hostile.counts.by_table.clear()
    hostile.counts.by_table.update({"orders": 400, "users": 100})
    text = page(summary(hostile))
    chart = drawings(text)[2]
    assert chart.findtext("title") == "Tables"
    assert chart.findtext("desc") == "orders: 400; users: 100"
    assert [float(bar.attrib["width"]) for bar in chart.iter("rect")] == [206, 51.5]
    assert {bar.attrib["class"] for bar in chart.iter("rect")} == {"bar"}
    assert "svg .bar { fill: var(--bar); }" in text
    assert "prefers-color-scheme: dark" in text


def test_hostile_names_are_shown_as_text(text: str) -> None:
    """Every name can be read on the page, as far as it prints."""
    shown = "".join(Reader(text).texts)
    for name in HOSTILE:
        if name.isprintable() and len(name) < 80:
            assert name in shown
    assert r"two\nlines\r\x00\x1b[31m" in shown
    assert r"\u202egnp.exe" in shown
    assert "x" * 301 not in shown


def test_the_policy_allows_the_style_sheet_alone(text: str) -> None:
    """A browser that follows the policy runs and loads nothing, and takes our one style sheet."""
    (policy,) = [
        attributes["content"]
        for tag, attributes in Reader(text).tags
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


def test_template_syntax_in_names_is_text(text: str) -> None:
    """A name that looks like a template is not evaluated."""
    assert "{{ 7 * 7 }}" in "".join(Reader(text).texts)


def test_the_page_is_small(text: str) -> None:
    """Names of ten kilobytes do not make a page large."""
    assert len(text) < 120_000


@pytest.mark.parametrize(
    ("numbers", "headline"),
    [
        ({}, "There was no message"),
        ({"messages": 2, "elements": 2, "changes": 2}, "Every message was good"),
        ({"messages": 1, "elements": 1, "dead_letters": 1}, "1 of 1 elements is a dead letter"),
        (
            {"messages": 1, "elements": 9999, "dead_letters": 2},
            "2 of 9,999 elements are dead letters",
        ),
    ],
)
def test_the_headline_says_how_it_went(
    hostile: Outcome, numbers: dict[str, Any], headline: str
) -> None:
    """Who reads one line knows whether something is wrong."""
    outcome = replace(hostile, counts=Counts(**numbers), first_dead_letters=[])
    assert f"<h1>{headline}</h1>" in page(summary(outcome))


@pytest.mark.parametrize(
    ("tables", "headline"),
    [
        ({"refused": 77}, "77 changes are in no table"),
        ({"key_missing": 1}, "1 change is in no table"),
        ({"inserted": 1, "truncates_not_applied": 1}, "2 of 9 elements are dead letters"),
    ],
)
def test_the_headline_says_the_worst(
    hostile: Outcome, tables: dict[str, int], headline: str
) -> None:
    """Changes that no table has come before dead letters."""
    counts = Counts(messages=9, elements=9, changes=7, dead_letters=2)
    outcome = replace(hostile, counts=counts, tables=tables)
    text = page(summary(outcome))
    assert f"<h1>{headline}</h1>" in text
    assert "2 of 9 elements are dead letters" in text


def test_the_page_says_why_changes_are_in_no_table(hostile: Outcome) -> None:
    """A table has its number of changes, the first reason and the columns of the key."""
    why = FirstRefusal("schema-mismatch", HOSTILE[0], ["id", HOSTILE[3]])
    by_table = ChangesByTable(
        {"shop.t": TableChanges(80, 70, 7, why, inserted=3), "shop.good": TableChanges(5)}
    )
    outcome = replace(hostile, tables={"refused": 77}, changes_by_table=by_table)
    lead, _, text = page(summary(outcome)).partition("<h2>Not applied</h2>")
    assert "<bdi>shop.t</bdi>: 77 of 80 changes, 7 without a key. First refused for <bdi>" in lead
    assert "<bdi>shop.t</bdi>: 77 of 80 changes, 7 without a key" in text
    assert "<bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi> (key: <bdi>id, " in text
    assert "shop.good" not in text


def test_the_page_says_what_became_of_the_changes_of_each_table(hostile: Outcome) -> None:
    """There are columns for outcomes of these tables alone; rescued values are named by column."""
    rescued = {HOSTILE[0]: 7, "price": 1200}
    by_table = ChangesByTable(
        {
            HOSTILE[0]: TableChanges(9, inserted=9),
            "shop.t": TableChanges(1500, inserted=3, not_newer=1497, rescued=rescued),
        }
    )
    text = page(summary(replace(hostile, tables={"inserted": 12}, changes_by_table=by_table)))
    shown = " ".join(re.sub(r"<[^>]*>", " ", text.partition("<h2>In tables</h2>")[2]).split())
    assert "table changes inserted not newer &lt;script&gt;" in shown
    assert "alert(1)&lt;/script&gt; 9 9 0 " in shown
    assert "did not fit their columns: price 1,200, &lt;script&gt;" in shown
    assert "--column shop.t.price=string takes any value 1,500 3 1,497 " in shown


def test_the_page_shows_conservation(hostile: Outcome) -> None:
    """Elements stand as the sum of changes, control events and dead letters."""
    counts = Counts(messages=5, elements=1234, changes=1200, controls=30, dead_letters=4)
    shown = re.sub(r"<[^>]*>", " ", page(summary(replace(hostile, counts=counts))))
    equation = "1,234 elements = 1,200 changes + 30 control events + 4 dead letters"
    assert equation in " ".join(shown.split())


@pytest.mark.parametrize(
    ("hours", "caption"),
    [
        (["2024-01-01 00:00", "(no time)"], "1 hour (UTC), 5 without a time"),
        (["2024-01-01 00:00", "2024-01-01 02:00"], "3 hours (UTC)"),
        (["2024-01-01 00:00", "2024-01-31 02:00"], "31 days (UTC); counts by hour"),
        (["2024-01-01 00:00", "2024-12-01 02:00"], "12 months (UTC); counts by hour"),
        (["(no time)"], "0 hours (UTC), 5 without a time"),
    ],
)
def test_the_chart_of_times_has_its_own_unit(
    hostile: Outcome, hours: list[str], caption: str
) -> None:
    """The caption counts the steps of the chart, whatever the table below it counts."""
    counts = Counts(messages=5, by_hour=Counter(dict.fromkeys(hours, 5)))
    assert f"<summary>{caption}</summary>" in page(summary(replace(hostile, counts=counts)))


def test_the_page_says_what_became_of_changes_in_tables(hostile: Outcome) -> None:
    """Each count has its meaning; a run that fed no table has no such section."""
    text = page(summary(hostile))
    done, _, left = text.partition("<h2>Not applied</h2>")
    assert COUNTED["inserted"] in done.partition("<h2>In tables</h2>")[2]
    assert COUNTED["truncates_not_applied"] in left
    assert COUNTED["truncates_not_applied"] not in done
    all_done = page(summary(replace(hostile, tables={"updated": 1})))
    assert "Not applied" not in all_done
    nothing = page(summary(replace(hostile, tables={"refused": 2})))
    assert "No row changed." in nothing
    assert COUNTED["refused"] in nothing
    assert "In tables" not in page(summary(replace(hostile, tables=None)))


def test_the_page_says_what_a_leniency_means(hostile: Outcome) -> None:
    """Each leniency has a line, and one of another package its name alone."""
    counts = Counts(leniencies=Counter({"float-user-key": 3, "of-another-package": 1}))
    text = page(summary(replace(hostile, counts=counts)))
    names = re.findall(r"<code><bdi>([a-z-]+)</bdi></code>(?:<small>(.*?)</small>)?", text)
    assert ("float-user-key", LENIENCIES["float-user-key"]) in names
    assert ("of-another-package", "") in names


def test_the_lead_names_the_option_for_dates(hostile: Outcome) -> None:
    """Dates that were read in UTC stand at the top, with the option that names their zone."""
    assert "read in UTC" not in page(summary(hostile))
    for count, words in (1, "1 date was"), (1234, "1,234 dates were"):
        counts = Counts(leniencies=Counter({READ_IN_UTC: count}))
        lead = page(summary(replace(hostile, counts=counts))).partition("</header>")[0]
        assert f"{words} read in UTC: <code>--time-zone</code> names the zone they have." in lead


def test_a_letter_leads_to_what_to_do_about_its_code(hostile: Outcome) -> None:
    """Each code that the documentation explains is explained once; letters link to it."""
    hostile.counts.by_error_code.clear()
    hostile.counts.by_error_code.update({"wrong-type": 2, "of-another-package": 1})
    letters = [{**hostile.first_dead_letters[0], "code": "wrong-type"}]
    text = page(summary(replace(hostile, first_dead_letters=letters)))
    assert text.count('<a href="#wrong-type"><code>wrong-type</code></a>') == 1
    assert text.count("<a ") == 1
    (entry,) = re.findall(r'<li id="([a-z-]+)">(.*?)</li>', text, re.DOTALL)
    assert entry[0] == "wrong-type"
    assert CODES["wrong-type"] in entry[1]
    assert REMEDIES["wrong-type"] in entry[1]


def test_pages_that_the_report_names_exist(hostile: Outcome) -> None:
    """The project has no address, so the report names the files of its pages."""
    hostile.counts.by_error_code["wrong-type"] = 1
    text = page(summary(hostile))
    named = re.findall(r"<code>(docs/[a-z/-]+[.]md)</code>", text)
    assert named == ["docs/reference/errors.md", "docs/reference/leniencies.md"]
    assert all(Path(__file__).parents[3].joinpath(name).exists() for name in named)


def test_the_page_says_how_much_the_log_had(hostile: Outcome) -> None:
    """Elements that were left out are told, if there are some."""
    words = "of the elements were in the log already"
    assert words not in page(summary(hostile))
    assert f"1,234 {words}" in page(summary(replace(hostile, already_in_log=1234)))


def test_long_tables_are_bounded(hostile: Outcome) -> None:
    """A thousand tables are a hundred rows, and a word on where the others are."""
    hostile.counts.by_table.update({f"table {i}": 1 for i in range(1000)})
    text = page(summary(hostile))
    assert "The others are in report.json." in text
    assert text.count("table 9") < 120


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.1234, "0.12 s"), (7.06, "7.1 s"), (200, "3 min 20 s")]
)
def test_durations_are_read_at_a_glance(seconds: float, text: str) -> None:
    """A duration has the digits that matter."""
    assert duration(seconds) == text


def test_a_reason_is_not_said_twice() -> None:
    """What stands beside the reason, code and pointer, is left out of it."""
    message = (
        "aerospike-json: at /gen: expected integer, found string (wrong-type) and 1 more issue"
    )
    letter = {"message": message, "pointer": "/gen", "code": "wrong-type"}
    assert reason(letter) == "expected integer, found string and 1 more issue"


def test_a_mixed_topic_is_named_as_one(hostile: Outcome) -> None:
    """A run that took the format of each message says so in words."""
    text = page(summary(replace(hostile, format="auto")))
    assert "messages in any format, read in" in text
    assert "<dd>that of each message</dd>" in text
