"""The benchmarks run, and compare what does the same work. Nothing here is timed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks import __main__ as program
from benchmarks import formats, kafka, messages, peers, stages
from benchmarks.figures import figures, load
from benchmarks.tables import Result, timed, verdict
from benchmarks.timing import Timing, compare
from confluent_kafka.serialization import SerializationError

import changewire as cw

SAMPLES = {"small": messages.wire(messages.small()), "large": messages.wire(messages.large())}


def test_a_ratio_is_that_of_the_best_rounds() -> None:
    """The spread beside it comes from rounds that ran one after the other."""
    mine, theirs = Timing((2.0, 6.0)), Timing((1.0, 2.0))
    assert mine.ratio(theirs) == (2.0, 2.0, 3.0)


def test_subjects_take_turns() -> None:
    """Every round runs each subject, so what disturbs one disturbs all."""
    calls: list[str] = []
    subjects = {name: (lambda name=name: calls.append(name)) for name in "ab"}
    found = compare(subjects, rounds=3, seconds=0)
    assert calls[-6:] == ["a", "b"] * 3
    assert [len(timing.rounds) for timing in found.values()] == [3, 3]


def test_a_target_is_stated_beside_what_was_found() -> None:
    """A missed target is said to be missed."""
    assert verdict("x", 1.0, 1.5).endswith("Found 1.00: reached.")
    assert verdict("x", 1.51, 1.5).endswith("Found 1.51: missed.")


def test_a_table_is_markdown() -> None:
    """A table has a row for each subject, and a bar in a name does not break it."""
    table = timed("Title", {"a|b": Timing((1e-6,))}, "a|b").markdown()
    assert "### Title" in table
    assert "| a\\|b | 1.00 | 1.00 | 1.00-1.00 |" in table


@pytest.mark.parametrize("data", SAMPLES.values(), ids=SAMPLES)
def test_all_readers_accept_the_messages(data: bytes) -> None:
    """What is compared reads the very same valid messages."""
    assert not cw.validate(data, format=messages.FORMAT)
    for read in peers.readers().values():
        assert read(data)


@pytest.mark.parametrize("data", SAMPLES.values(), ids=SAMPLES)
def test_all_validators_refuse_a_broken_message(data: bytes) -> None:
    """What is compared in refusing does refuse."""
    broken = data.replace(b'"gen":4', b'"gen":"4"')
    assert cw.validate(broken, format=messages.FORMAT)
    for refuse in peers.refusals(broken).values():
        assert refuse()


def test_stages_work_on_valid_messages() -> None:
    """No stage measures refusals."""
    codec = cw.codec(messages.FORMAT)
    assert all(cw.changes(codec.decode(value)) for value in stages.messages())


@pytest.mark.parametrize("name", ["aerospike-json", "dataworks-json", "lindorm-json"])
def test_serializers_of_clients_do_the_same_work(name: str) -> None:
    """All send the same values, each in its own framing; those that validate refuse others."""
    for data in formats.messages(name).values():
        message, model = json.loads(data), cw.decode(data)
        for each, write in kafka.writers(name, data).items():
            sent = write()
            assert isinstance(sent, bytes)
            assert json.loads(sent[sent.index(b"{") :]) == message, each
        for each, read in kafka.readers(name, data).items():
            assert read() == (message if each.startswith("confluent") else model), each
    broken: Any = {}
    with pytest.raises(SerializationError):
        kafka.serializer(name, validate=True)(broken, kafka.context())


def test_a_rate_is_that_of_the_peer() -> None:
    """The table shows the least rate of all messages, and whether it is enough."""
    timings = {kafka.THEIRS: Timing((42e-6,)), kafka.GIVEN: Timing((2e-6,))}
    slower = {**timings, kafka.GIVEN: Timing((3e-6,))}
    assert kafka.table("T", {"a": timings}, kafka.GIVEN).target.endswith("found 21: reached.")
    found = kafka.table("T", {"a": timings, "b": slower}, kafka.GIVEN)
    assert found.target.endswith("found 14: missed.")
    assert found.rows[0] == ("a", "42.0", "2.0", "21 (21-21)")


@pytest.mark.parametrize("name", ["stages", "imports"])
def test_a_quick_run_writes_tables_and_figures(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files hold what was printed, and the figures behind it."""
    results: list[Result] = list(program.benchmarks(quick=True)[name]())
    monkeypatch.setattr(program, "OUTPUT", tmp_path)
    program.write(results, figures(results, load()))
    found = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert [each["title"] for each in found["results"]] == [r.title for r in results]
    tables = (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert all(result.markdown() in tables for result in results)
