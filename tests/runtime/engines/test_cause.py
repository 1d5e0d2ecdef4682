"""The innermost cause is found in the texts that Spark makes of errors: the files are such."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from changewire.engines.spark.cause import LENGTH, Cause, JavaCauseError, hidden_cause, innermost

TEXTS = Path(__file__).parent / "stream" / "failures"

SENTENCES = {
    "driver": "ValueError: a value is 5, and the second line",
    "driver-of-ours": "OutputError: table t: at /op: no such column",
    "worker": "KeyError: [hidden]",
    "worker-of-ours": "OutputError: row: at /a/b: expected integer, found string secret-value",
    "delta-schema": "AnalysisException: [_LEGACY_ERROR_TEMP_DELTA_0007] A schema mismatch detected "
    "when writing to the Delta table (Table ID: 8bc844c6-56ee-4cf1-8fca-e72f61899c92). To enable",
    "delta-protocol": "IllegalArgumentException: requirement failed: Mismatched minReaderVersion "
    "and readerFeatures.",
    "java": '[CAST_INVALID_INPUT] The value [hidden] of the type "STRING" cannot be cast to '
    '"INT" because it is malformed.',
}


def test_each_recorded_text_has_its_sentence() -> None:
    """No file is left out."""
    assert {path.stem for path in TEXTS.iterdir()} == SENTENCES.keys()


@pytest.mark.parametrize(("name", "start"), SENTENCES.items(), ids=list(SENTENCES))
def test_a_sentence_begins_with_the_innermost_cause(name: str, start: str) -> None:
    """Class and message come first, without the frames, plans and states around them."""
    sentence = innermost((TEXTS / f"{name}.txt").read_text(encoding="utf-8")).sentence()
    assert sentence.startswith(start)
    assert len(sentence) <= LENGTH
    for noise in ("Traceback", "SQLSTATE", "=== Streaming Query", "  File "):
        assert noise not in sentence


TRACEBACK = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    f()\n'
HANDLING = "\nDuring handling of the above exception, another exception occurred:\n\n"
DIRECT = "\nThe above exception was the direct cause of the following exception:\n\n"


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (f"{TRACEBACK}KeyError: 'a'\n{DIRECT}{TRACEBACK}x.y.Fault: b\n", "x.y.Fault", "b"),
        (f"{TRACEBACK}KeyError: 'a'\n{HANDLING}{TRACEBACK}ValueError: b\n", "KeyError", "'a'"),
        (f"{TRACEBACK}StopIteration\n", "StopIteration", ""),
        (
            (
                f"{TRACEBACK}py4j.protocol.Py4JJavaError: An error occurred while calling o1.f.\n"
                ": a.b.Outer: first\n\tat a.b.f(f.java:1)\nCaused by: a.b.Inner: second\n"
                "\tat a.b.g(g.java:2)\n\t... 3 more\n"
            ),
            "a.b.Inner",
            "second",
        ),
        ("An error occurred while calling o1.f.\n: a.b.C\n\tat a.b.f(f.java:1)\n", "a.b.C", ""),
        (
            (
                "[STREAM_FAILED] Query terminated with exception: Partition t-0's offset was "
                "changed SQLSTATE: XXKST\n=== Streaming Query ===\nLogical Plan:\n"
            ),
            "",
            "Partition t-0's offset was changed",
        ),
    ],
)
def test_the_cause_of_chained_errors(text: str, kind: str, message: str) -> None:
    """What was raised from another error counts; what came while one was handled does not."""
    assert innermost(text) == Cause(kind, message)


@pytest.mark.parametrize(
    ("kind", "message", "shown"),
    [
        (
            "ValueError",
            "could not parse 'Dora', it's b'x' or \"y\"",
            "could not parse [hidden], it's [hidden] or [hidden]",
        ),
        (
            "pyarrow.lib.ArrowInvalid",
            "Integer value 300 not in range: -128",
            "Integer value [hidden] not in range: [hidden]",
        ),
        ("KeyError", "'it\\'s'", "[hidden]"),
        ("pyspark.errors.AnalysisException", "no column 'a1' at 22", "no column 'a1' at 22"),
        (
            "FileNotFoundError",
            "[Errno 2] No such file: '/lake/12'",
            "[Errno 2] No such file: '/lake/12'",
        ),
        ("changewire.engines.errors.OutputError", "at /a/10: '12'", "at /a/10: '12'"),
        ("", "[KAFKA_DATA_LOSS] from 602 to 10", "[KAFKA_DATA_LOSS] from 602 to 10"),
        (
            "org.apache.spark.sql.delta.schema.InvariantViolationException",
            "[DELTA_CHECK] violated by row with values: - name : Dora",
            "[DELTA_CHECK] violated by row with values: [hidden]",
        ),
    ],
)
def test_values_are_hidden_unless_asked_for(kind: str, message: str, shown: str) -> None:
    """Quoted texts and numbers are hidden where an error may be about the content of rows."""
    cause = Cause(kind, message)
    assert cause.sentence().endswith(shown)
    assert cause.sentence(show_values=True).endswith(message)


@pytest.mark.parametrize(
    "error",
    [
        "ModuleNotFoundError: No module named 'changewire'",
        "ModuleNotFoundError: No module named 'msgspec'",
        "pyspark.errors.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker has ...",
    ],
)
def test_another_python_of_workers_is_named(error: str) -> None:
    """The message says what to set; the error of another missing module is unchanged."""
    sentence = innermost(f"{TRACEBACK}{error}\n").sentence()
    assert sentence.startswith("ImportError: workers run another Python than this one (")
    assert sentence.endswith(f"; set PYSPARK_PYTHON to {sys.executable} before the session starts")
    other = innermost(f"{TRACEBACK}ModuleNotFoundError: No module named 'mine'\n").sentence()
    assert "PYSPARK_PYTHON" not in other


def test_a_long_message_is_cut() -> None:
    """A sentence has a bound, whatever the length of its message."""
    sentence = Cause("ValueError", "x " * LENGTH).sentence()
    assert len(sentence) == LENGTH
    assert sentence.endswith("…")


class Captured(Exception):  # noqa: N818 - as PySpark names it
    """An error of PySpark, which keeps Java's stack trace beside its text."""

    _stackTrace = "a.B: outer\n\tat a.b(c.java:1)\nCaused by: d.E: inner\n\tat d.e(f.java:2)\n"  # noqa: N815


@pytest.mark.parametrize(
    ("error", "cause"),
    [(Captured("outer"), "d.E: inner"), (Captured("outer: inner"), ""), (ValueError("a"), "")],
)
def test_a_cause_is_hidden_where_the_text_lacks_it(error: Exception, cause: str) -> None:
    """Java's innermost cause is named unless the text of the error has it."""
    assert hidden_cause(error) == cause


def test_a_cause_that_was_carried_is_the_cause() -> None:
    """The error that carries Java's cause through Python is not named itself."""
    name = f"{JavaCauseError.__module__}.{JavaCauseError.__name__}"
    text = f"{TRACEBACK}{name}: d.E: value 'inner'\n SQLSTATE: 39000\n"
    assert innermost(text) == Cause("d.E", "value 'inner'")
    assert innermost(text).sentence() == "E: value [hidden]"
