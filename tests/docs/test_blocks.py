"""Every block of code on every page is run by a test, or the page says why not."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import typer
from tests.docs.pages import DATA, ROOT, Block, all_blocks, blocks

from changewire.cli.app import app

PAGES: Final = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "examples/*.md", "schemas/*.md")
    for path in ROOT.glob(pattern)
    if not {"_build", "made"} & set(path.parts)
)
BLOCKS: Final = [block for page in PAGES for block in all_blocks(page)]

TASKS: Final = "tests/docs/test_task_pages.py"
OWN: Final = "tests/docs/test_own_formats_page.py"
PYDANTIC: Final = "tests/docs/test_pydantic_page.py"
LAKE: Final = "tests/docs/test_lake_pages.py"
OPERATIONS: Final = "tests/docs/test_operations_page.py"
DOCUMENTS: Final = "tests/runtime/codec/test_documents.py"
RUN_BY: Final[Mapping[tuple[str, str], str]] = {
    ("README.md", "python"): "tests/docs/test_readme.py",
    ("README.md", "sh"): "tests/docs/test_readme.py",
    ("docs/applying.md", "python"): "tests/docs/test_applying_page.py",
    ("docs/arrow.md", "python"): "tests/docs/test_arrow_page.py",
    ("docs/change-events.md", "python"): DOCUMENTS,
    ("docs/cli.md", "python"): "tests/docs/test_cli_page.py",
    ("docs/compatibility.md", "console"): "tests/docs/test_compatibility_page.py",
    ("docs/convert.md", "python"): DOCUMENTS,
    ("docs/delta.md", "console"): "tests/docs/test_delta_page.py",
    ("docs/delta.md", "python"): "tests/docs/test_delta_page.py",
    ("docs/errors.md", "python"): DOCUMENTS,
    ("docs/index.md", "python"): "tests/docs/test_words.py",
    **{
        (f"docs/how-to/{page}.md", language): TASKS
        for page, languages in {
            "dead-letters": ("console", "python"),
            "new-topic": ("console",),
            "upgrade": ("console", "python"),
        }.items()
        for language in languages
    },
    **{("docs/tutorial/first-table.md", kind): TASKS for kind in ("console", "python", "sh")},
    ("docs/how-to/history.md", "python"): "tests/docs/test_history_page.py",
    **{("docs/how-to/pydantic.md", kind): PYDANTIC for kind in ("python", "sh")},
    ("docs/how-to/regenerate.md", "python"): "tests/docs/test_contributing.py",
    ("docs/how-to/validate-in-a-producer.md", "python"): "tests/docs/test_producers_page.py",
    ("docs/kafka-source.md", "python"): "tests/docs/test_kafka_source_page.py",
    ("docs/kafka-source.md", "sh"): "tests/docs/test_kafka_source_page.py",
    ("docs/landing.md", "python"): "tests/docs/test_landing_page.py",
    ("docs/messages.md", "python"): "tests/docs/test_messages_page.py",
    ("docs/operations.md", "sh"): OPERATIONS,
    ("docs/how-to/backfill.md", "python"): OPERATIONS,
    **{(f"docs/how-to/{page}.md", "python"): LAKE for page in ("adopt", "erase", "from-json")},
    ("docs/operate/deployment.md", "python"): OPERATIONS,
    ("docs/operate/monitoring.md", "python"): OPERATIONS,
    **{("docs/own-formats.md", kind): OWN for kind in ("python", "sh", "toml")},
    ("docs/producers.md", "python"): "tests/docs/test_producers_page.py",
    ("docs/spark.md", "python"): "tests/docs/test_spark_page.py",
    **{
        ("docs/streaming.md", kind): "tests/docs/test_streaming_page.py"
        for kind in ("console", "python", "sh")
    },
    ("docs/tables.md", "python"): "tests/docs/test_tables_page.py",
    **{
        ("docs/tutorial-rows.md", kind): "tests/docs/test_tutorial_rows.py"
        for kind in ("python", "sh")
    },
}
"""The test that runs the blocks of a page in a language."""


def test_every_block_is_run_or_says_why_not() -> None:
    """A block is data, or a test runs it, or its page gives the reason."""
    left = [
        f"{block.page}:{block.line} {block.language or '(no language)'}"
        for block in BLOCKS
        if block.language not in DATA
        and block.reason is None
        and (block.page, block.language) not in RUN_BY
    ]
    assert not left, "run these, or write <!-- not run: REASON --> above them"


@pytest.mark.parametrize(("page", "language"), RUN_BY, ids=map(" ".join, RUN_BY))
def test_the_test_of_a_page_reads_its_blocks(page: str, language: str) -> None:
    """There are blocks to run, and the test that is named takes them from this page."""
    assert blocks(page, language)
    code = ROOT.joinpath(RUN_BY[page, language]).read_text(encoding="utf-8")
    assert re.search(rf'"{Path(page).name}"|"{page}"', code)
    runs_all = re.search(r"run_(page|block)\(", code)
    assert runs_all or language == "python" or f'"{language}"' in code


def test_blocks_and_reasons_are_found() -> None:
    """What is indented counts too, a directive of Sphinx does not, and reasons are read."""
    found = {block.language: block for block in all_blocks("tests/docs/blocks.txt")}
    assert found.keys() == {"python", "sh", "console"}
    assert [(b.line, b.reason) for b in found.values()] == [
        (4, None),
        (9, "it needs a cluster"),
        (14, "outputs are shortened"),
    ]


def commands(block: Block) -> Iterator[list[str]]:
    """Yield the words of each call of our program, without what it is piped to."""
    for line in block.code.replace("\\\n", "").splitlines():
        for part in re.split(r"[|]|&&", line.partition("  #")[0]):
            words = part.strip().removeprefix("$ ")
            if words.startswith("changewire "):
                yield shlex.split(words)[1:]


def inline(page: str) -> Iterator[list[str]]:
    """Yield the words of each call of our program within a text."""
    text = ROOT.joinpath(page).read_text(encoding="utf-8")
    for words in re.findall(r"(?<!`)`changewire ([a-z][^`\n]*)`", text):
        yield shlex.split(words.partition(" -- ")[0])


CALLS: Final = [
    *(
        (f"{block.page}:{block.line}", words)
        for block in BLOCKS
        if block.language in {"sh", "console"}
        for words in commands(block)
    ),
    *((page, words) for page in PAGES if page != "CHANGELOG.md" for words in inline(page)),
]


@pytest.mark.parametrize(
    ("place", "words"), CALLS, ids=[" ".join([place, *words[:2]]) for place, words in CALLS]
)
def test_commands_and_options_on_pages_exist(place: str, words: list[str]) -> None:
    """Each call of the program is of a command that it has, with options that it knows."""
    command: Any = typer.main.get_command(app)
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        assert words[0] in command.commands, place
        command, words = command.get_command(None, words[0]), words[1:]
    known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
    assert {word for word in words if re.match(r"--?[a-z]", word)} <= known, place


TIMED: Final = {"replay", "run", "stream"}
"""Commands whose tables and logs have the dates of messages."""


def test_commands_on_dataworks_messages_name_the_zone_of_their_dates() -> None:
    """Who copies a command gets the dates that the source has, and not those of UTC."""
    found = [
        (f"{block.page}:{block.line}", words)
        for block in BLOCKS
        if block.language in {"sh", "console"}
        for words in commands(block)
        if words[0] in TIMED and "dataworks-json" in words
    ]
    assert found
    assert [place for place, words in found if "--time-zone" not in words] == []
