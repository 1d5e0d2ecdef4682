"""The code of docs/guides/producers.md runs, from top to bottom, on a real broker."""

import re
from inspect import signature
from pathlib import Path

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
def test_the_page_runs(kafka: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each block runs after the one before it, with all clients, and prints what it says."""
    create(kafka, "customers", "people", "guests")
    names = run_page(TASK, tmp_path, {"server": kafka})
    expected = re.findall(r"^# (aerospike-json, .*)$", TEXT, re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == expected
    names.clear()  # the producer, before its broker ends


AT_ONCE = '"topic.metadata.propagation.max.ms": 0, "bootstrap.servers":'
"""Settings by which a missing topic is known to be missing at once."""


def test_a_missing_topic_ends_the_program(kafka: str) -> None:
    """A service that ends by the function of the page knows that a message was not delivered."""
    code = "\n".join(blocks(TASK)[:2]).replace('"bootstrap.servers":', AT_ONCE)
    with pytest.raises((SystemExit, KafkaException), match="Unknown topic"):
        exec(code.replace('"customers"', '"missing"'), {"server": kafka})  # noqa: S102 - our text


def test_options_are_those_of_the_table() -> None:
    """The table has every option of a serializer, with its default."""
    parameters = signature(cwk.ChangewireSerializer).parameters.values()
    assert dict(re.findall(r"^\| `([a-z_]+)` \| `(\w+)` \|", TEXT, re.MULTILINE)) == {
        each.name: str(each.default) for each in parameters if each.kind is each.KEYWORD_ONLY
    }
