"""The tutorial of typed rows, followed from top to bottom: each command of it runs."""

from __future__ import annotations

import importlib
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.docs.pages import in_sections
from typer.testing import CliRunner

from changewire.cli.app import app

ROOT = Path(__file__).parents[2]
PACKAGE = "shop_tables"
SCHEMA = Path("schemas", "shop", "customer.json")

OFFLINE = ("--no-deps", "--no-index", "--no-build-isolation", "--quiet", "--target", "site")
"""Options of pip for a machine without a network; pip of the page needs none."""


def blocks() -> list[tuple[str, str]]:
    """Return language and text of each block of code."""
    found = in_sections("docs/guides/python.md", "Typed rows of one table")
    return [(block.language, block.code) for block in found]


def run(line: str) -> None:
    """Run one line of a shell block."""
    program, *words = shlex.split(line)
    if program == "changewire":
        ended = CliRunner().invoke(app, words)
        assert ended.exit_code == 0, ended.output
    elif program == "mkdir":
        Path(words[-1]).mkdir(parents=True)
    else:
        assert (program, words[0]) == ("pip", "install")
        subprocess.run([sys.executable, "-m", "pip", *words, *OFFLINE], check=True)
        importlib.invalidate_caches()


def finish(excerpt: str) -> None:
    """Do what the page asks of a person: look at the draft, and write the descriptions."""
    draft: dict[str, Any] = json.loads(SCHEMA.read_bytes())
    for name, column in json.loads(f"{{{excerpt}}}").items():
        assert draft["properties"][name] == column
    text = re.sub(r"To be written: [^\"]+", "A description.", SCHEMA.read_text(encoding="utf-8"))
    SCHEMA.write_text(text, encoding="utf-8")


def write_json(text: str, _names: dict[str, Any]) -> None:
    """Take an excerpt of the draft for what it is; an object is the file that the page asks for."""
    if text.startswith("{"):
        SCHEMA.with_name("family.json").write_text(text, encoding="utf-8")
    else:
        finish(text)


def run_lines(text: str, _names: dict[str, Any]) -> None:
    """Run each line of a shell block."""
    for line in text.splitlines():
        run(line)


def run_python(text: str, names: dict[str, Any]) -> None:
    """Run a block of Python behind those before it.

    Workers of the session of the tests have another current folder.
    """
    exec(text.replace("changewire/examples", f"{ROOT}/examples"), names)  # noqa: S102 - our own text


DO = {"json": write_json, "python": run_python, "sh": run_lines}
"""What becomes of a block, by its language."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that holds the examples, and what will be installed is found."""
    tmp_path.joinpath("changewire").symlink_to(ROOT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


@pytest.mark.usefixtures("spark")
def test_who_follows_the_page_has_typed_rows(folder: Path) -> None:
    """Draft, package and rows come out as the page says, in Python and in Spark."""
    names: dict[str, Any] = {}
    for language, text in blocks():
        DO[language](text, names)
    check_rows(names["customers"], names["decoded"])
    page = folder.joinpath("shop-tables", "docs", "shop.md").read_text(encoding="utf-8")
    assert "| `credit` | `credit` | string or null | yes | A description. |" in page


def check_rows(customers: list[Any], decoded: Any) -> None:
    """Compare the rows of both ways: the same values of the same types."""
    all_rows = decoded.rows.select("kind", "after").collect()
    assert {row["kind"] for row in all_rows} == {"change", "control"}
    rows = [row["after"] for row in all_rows if row["after"] is not None]
    assert len(rows) == len(customers) > 30
    for row, customer in zip(rows, customers, strict=True):
        found = (customer.id, customer.credit, customer.photo)
        assert (row["id"], row["credit"], row["photo"]) == found
    assert {type(customer.photo) for customer in customers} == {bytes, type(None)}
    assert {field.name: field.dataType.simpleString() for field in decoded.rows_as} == {
        "id": "bigint",
        "first_name": "string",
        "last_name": "string",
        "credit": "string",
        "since": "timestamp",
        "photo": "binary",
    }


def test_the_session_of_the_page_is_the_one_that_runs(spark: SparkSession) -> None:
    """The page starts a session; here there is one, which it gets."""
    import changewire.spark as cws

    assert cws.session() is spark
