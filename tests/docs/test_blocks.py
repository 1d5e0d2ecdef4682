"""Every block of code on every page is run by a test, or the page says why not."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import typer
from tests.docs.pages import DATA, ROOT, TRANSLATED, Block, all_blocks, blocks

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
DOCS: Final = "tests/docs"
RUN_BY: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    **{("README.md", kind): (f"{DOCS}/test_readme.py",) for kind in ("python", "sh")},
    ("docs/concepts/change-events.md", "python"): (DOCUMENTS,),
    **{("docs/guides/dead-letters.md", kind): (TASKS,) for kind in ("console", "python")},
    ("docs/guides/history.md", "python"): (f"{DOCS}/test_history_page.py",),
    ("docs/guides/producers.md", "python"): (f"{DOCS}/test_producers_page.py",),
    ("docs/guides/python.md", "python"): (
        DOCUMENTS,
        PYDANTIC,
        f"{DOCS}/test_messages_page.py",
        f"{DOCS}/test_tutorial_rows.py",
    ),
    ("docs/guides/python.md", "sh"): (PYDANTIC, f"{DOCS}/test_tutorial_rows.py"),
    ("docs/guides/rebuild.md", "console"): (TASKS,),
    ("docs/guides/rebuild.md", "python"): (LAKE, OPERATIONS, TASKS),
    ("docs/guides/schemas.md", "console"): (f"{DOCS}/test_compatibility_page.py",),
    ("docs/guides/schemas.md", "python"): (OWN, f"{DOCS}/test_contributing.py"),
    **{("docs/guides/schemas.md", kind): (OWN,) for kind in ("sh", "toml")},
    ("docs/guides/spark.md", "python"): (
        f"{DOCS}/test_spark_page.py",
        LAKE,
    ),
    ("docs/guides/without-spark.md", "console"): (f"{DOCS}/test_delta_page.py",),
    ("docs/guides/without-spark.md", "python"): (
        f"{DOCS}/test_arrow_page.py",
        f"{DOCS}/test_delta_page.py",
    ),
    **{("docs/index.md", kind): (TASKS,) for kind in ("console", "python")},
    **{
        (f"docs/operate/{page}.md", "python"): (OPERATIONS,)
        for page in ("deployment", "monitoring")
    },
    ("docs/operate/security.md", "python"): (LAKE,),
    ("docs/operate/streaming.md", "console"): (f"{DOCS}/test_streaming_page.py",),
    ("docs/operate/streaming.md", "python"): (
        f"{DOCS}/test_kafka_source_page.py",
        f"{DOCS}/test_streaming_page.py",
    ),
    ("docs/operate/streaming.md", "sh"): (
        f"{DOCS}/test_kafka_source_page.py",
        f"{DOCS}/test_streaming_page.py",
    ),
    ("docs/reference/errors.md", "python"): (DOCUMENTS,),
    **{
        (f"docs/sources/{page}.md", "python"): (DOCUMENTS,)
        for page in ("aerospike", "dataworks", "lindorm")
    },
    **{("docs/start/first-table.md", kind): (TASKS,) for kind in ("console", "python", "sh")},
    **{("docs/start/own-topic.md", kind): (TASKS,) for kind in ("console", "toml")},
}
"""The tests that run the blocks of a page in a language."""


def test_every_block_is_run_or_says_why_not() -> None:
    """A block is data, or a test runs it, or its page or that in English gives the reason."""
    left = [
        f"{block.page}:{block.line} {block.language or '(no language)'}"
        for block in BLOCKS
        if block.language not in DATA
        and block.reason is None
        and block.page not in TRANSLATED  # tests/docs/test_chinese.py
        and (block.page, block.language) not in RUN_BY
    ]
    assert not left, "run these, or write <!-- not run: REASON --> above them"


@pytest.mark.parametrize(("page", "language"), RUN_BY, ids=map(" ".join, RUN_BY))
def test_the_tests_of_a_page_read_its_blocks(page: str, language: str) -> None:
    """There are blocks to run, and each test that is named takes them from this page."""
    assert blocks(page, language)
    for path in RUN_BY[page, language]:
        code = ROOT.joinpath(path).read_text(encoding="utf-8")
        assert re.search(rf'"{Path(page).name}"|"{page}"|"{page.removeprefix("docs/")}"', code)
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
