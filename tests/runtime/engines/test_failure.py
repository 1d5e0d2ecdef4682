"""What is said of an error that only Spark explains, and the file with the whole of it."""

from __future__ import annotations

from pathlib import Path
from stat import S_IMODE

import pytest
from pyspark.errors import StreamingQueryException

from changewire.engines.errors import JobError
from changewire.engines.spark.cause import FILE, FILE_LENGTH, failure
from changewire.engines.spark.run import as_asked
from changewire.jobs.topics import spark_errors

SECRET = "canary-password"  # noqa: S105 - of nothing
OPTIONS = {"kafka.ssl.truststore.password": SECRET}
TEXT = "terminated with exception: no value for 'Dora'"


def error(text: str) -> StreamingQueryException:
    """Return an error as `await_termination` raises it: Spark's own is its cause."""
    raised = StreamingQueryException("the short form")
    raised.__cause__ = StreamingQueryException(text)
    return raised


def test_a_failure_is_a_sentence_and_a_file(tmp_path: Path) -> None:
    """The sentence has the cause without values; the file has all of it, for its owner alone."""
    file = tmp_path / "out" / FILE
    said = failure("the query failed", error(TEXT), str(tmp_path / "out"), {})
    assert said == (f"the query failed: no value for [hidden]. The whole traceback is in {file}")
    assert "no value for 'Dora'" in file.read_text(encoding="utf-8")
    assert S_IMODE(file.stat().st_mode) == 0o600


def test_values_are_shown_where_asked_for(tmp_path: Path) -> None:
    """With `show_values` the sentence has them."""
    said = failure("it failed", error(TEXT), str(tmp_path), {}, show_values=True)
    assert said.startswith("it failed: no value for 'Dora'. ")


def test_secrets_are_hidden_in_both(tmp_path: Path) -> None:
    """No option that may be secret stands in the sentence or in the file."""
    shown = error(f"terminated with exception: wrong {SECRET}")
    said = failure("it failed", shown, str(tmp_path), OPTIONS, show_values=True)
    assert said.startswith("it failed: wrong [hidden]. ")
    assert SECRET not in (tmp_path / FILE).read_text(encoding="utf-8")


def test_the_file_has_a_bound_and_replaces_the_last_one(tmp_path: Path) -> None:
    """A plan in the text may be of any length; of two failures the later one is kept."""
    failure("it failed", error("x" * FILE_LENGTH), str(tmp_path), {})
    assert (tmp_path / FILE).stat().st_size == FILE_LENGTH
    failure("it failed", error("later"), str(tmp_path), {})
    assert "later" in (tmp_path / FILE).read_text(encoding="utf-8")


def test_a_file_that_cannot_be_written_does_not_hide_the_cause(tmp_path: Path) -> None:
    """The sentence says why there is no file."""
    (tmp_path / "out").write_text("a file")
    said = failure("it failed", error(TEXT), str(tmp_path / "out"), {})
    assert said.startswith("it failed: no value for [hidden]. The whole traceback could not be ")


def test_only_options_that_do_not_fit_are_a_sentence() -> None:
    """A ValueError of a query that runs is a fault of ours, and ends with its traceback."""
    with pytest.raises(ValueError, match="ours"), spark_errors("the query failed", "out", {}):
        raise ValueError("ours")
    asked = spark_errors("the query failed", "out", {})
    with pytest.raises(JobError, match="an option"), asked, as_asked():
        raise ValueError("an option")
