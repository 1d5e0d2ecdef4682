"""The code of docs/guides/producers.md runs, from top to bottom, on a real broker."""

import re
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException
from tests.docs.pages import blocks
from tests.docs.running import run_page
from tests.support.topics import create

import changewire.kafka as cwk

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "producers.md"
TASK = "docs/guides/producers.md"
TEXT = PAGE.read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore:(read|open)_text is deprecated:DeprecationWarning")
def test_the_page_runs(kafka: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each block runs after the one before it, with all clients, and prints what it says."""
    create(kafka, "customers", "people", "guests")
    names: dict[str, Any] = {"server": kafka}
    found = blocks("docs/guides/producers.md")
    assert len(found) == 6
    for block in found:
        exec(block, names)  # noqa: S102 - our own text
    first, second = capsys.readouterr().out.splitlines()
    assert [first] == re.findall(r"^# (aerospike-json, .*)$", TEXT, re.MULTILINE)
    assert second == (
        "aerospike-json, value: at /gen: expected integer or null, found string (wrong-type)"
    )


def test_the_page_of_the_task_runs(
    kafka: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The serializer accepts a valid message and reports an invalid one; the producer sends it."""
    create(kafka, "validated")
    names = run_page(TASK, tmp_path, {"servers": kafka})
    expected = re.findall(r"^# (aerospike-json, .*)$", blocks(TASK)[0], re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == expected
    names["send"]("validated", names["user"])
    names["finish"]()
    names.clear()  # the producer, before its broker ends


AT_ONCE = '"topic.metadata.propagation.max.ms": 0, "bootstrap.servers":'
"""Settings by which a missing topic is known to be missing at once."""


def test_a_missing_topic_ends_the_program(kafka: str) -> None:
    """An undelivered message is an error: at the end, or at once if the client knows by then."""
    names: dict[str, Any] = {"server": kafka}
    for block in blocks("docs/guides/producers.md")[:2]:
        code = block.replace('"bootstrap.servers":', AT_ONCE).replace('"customers"', '"missing"')
        with pytest.raises((SystemExit, KafkaException), match="Unknown topic"):
            exec(code, names)  # noqa: S102 - our own text
        names["undelivered"].clear()


def test_the_task_ends_with_an_error_for_a_missing_topic(kafka: str) -> None:
    """A service that ends by the function of the page knows that a message was not delivered."""
    code = "\n".join(blocks(TASK)[:2]).replace('"bootstrap.servers":', AT_ONCE)
    names: dict[str, Any] = {"servers": kafka}
    exec(code, names)  # noqa: S102 - our own text
    names["send"]("missing", names["user"])
    with pytest.raises(SystemExit, match=r"not delivered: .*Unknown topic"):
        names["finish"]()


def test_options_are_those_of_the_table() -> None:
    """The table has every option of a serializer, with its default."""
    parameters = signature(cwk.ChangewireSerializer).parameters.values()
    assert dict(re.findall(r"^\| `([a-z_]+)` \| `(\w+)` \|", TEXT, re.MULTILINE)) == {
        each.name: str(each.default) for each in parameters if each.kind is each.KEYWORD_ONLY
    }


def test_links_lead_somewhere() -> None:
    """Every link is a file beside the page, and a place in it."""
    for link in re.findall(r"\]\(([^)]+)\)", TEXT):
        file, _, place = link.partition("#")
        text = (PAGE.parent / file).read_text(encoding="utf-8") if file else TEXT
        headings = [
            h.lower().replace(" ", "-") for h in re.findall(r"^#+ (.+)$", text, re.MULTILINE)
        ]
        assert not place or place in headings
