"""Run the tests of pages in clean environments: python -m tests.docs.clean WHEEL FOLDER [PAGE...].

An environment has what a page says to install, changewire from the wheel, and pytest. Pages that
say the same share one.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from tests.docs.pages import ROOT, all_blocks

_DOCUMENTS: Final = "../runtime/codec/test_documents.py::test_pages_do_what_they_say"
_PRODUCERS: Final = "test_producers_page.py"

TESTS: Final[Mapping[str, tuple[str, ...]]] = {
    "README.md": ("test_readme.py",),
    "docs/concepts/change-events.md": (f"{_DOCUMENTS}[concepts/change-events.md]",),
    "docs/guides/dead-letters.md": ("test_task_pages.py::test_dead_letters",),
    "docs/guides/history.md": ("test_history_page.py",),
    "docs/guides/producers.md": (f"{_PRODUCERS}::test_the_page_runs",),
    "docs/guides/python.md": (
        f"{_DOCUMENTS}[guides/python.md]",
        "test_pydantic_page.py",
        "test_messages_page.py",
        "test_tutorial_rows.py",
    ),
    "docs/guides/rebuild.md": (
        "test_lake_pages.py::test_a_table_is_adopted",
        "test_operations_page.py::test_tables_are_verified_and_made_anew",
        "test_task_pages.py::test_upgrade",
    ),
    "docs/guides/schemas.md": (
        "test_compatibility_page.py",
        "test_contributing.py::test_the_guide_makes_a_column",
        "test_own_formats_page.py",
    ),
    "docs/guides/spark.md": (
        "test_lake_pages.py::test_a_job_is_migrated",
        "test_spark_page.py",
    ),
    "docs/guides/without-spark.md": (
        "test_arrow_page.py",
        "test_delta_page.py",
    ),
    "docs/index.md": ("test_task_pages.py::test_the_landing_page",),
    "docs/operate/deployment.md": ("test_operations_page.py::test_the_job_of_the_page_runs",),
    "docs/operate/monitoring.md": ("test_operations_page.py::test_the_job_of_the_page_runs",),
    "docs/operate/security.md": ("test_lake_pages.py::test_a_person_is_erased",),
    "docs/operate/streaming.md": (
        "test_kafka_source_page.py",
        "test_streaming_page.py",
    ),
    "docs/reference/errors.md": (f"{_DOCUMENTS}[reference/errors.md]",),
    "docs/sources/aerospike.md": (f"{_DOCUMENTS}[sources/aerospike.md]",),
    "docs/sources/dataworks.md": (f"{_DOCUMENTS}[sources/dataworks.md]",),
    "docs/sources/lindorm.md": (f"{_DOCUMENTS}[sources/lindorm.md]",),
    "docs/start/first-table.md": ("test_task_pages.py::test_the_first_table",),
    "docs/start/own-topic.md": ("test_task_pages.py::test_a_new_topic",),
}
"""The tests that run a page, from this folder."""

_TOPICS: Final = ("confluent-kafka", "psutil", "typer")

HELPERS: Final[Mapping[str, tuple[str, ...]]] = {
    "docs/concepts/change-events.md": ("hypothesis",),
    "docs/guides/python.md": ("hatchling", "hypothesis", "pip"),
    "docs/guides/rebuild.md": _TOPICS,
    "docs/guides/schemas.md": ("tomli",),
    "docs/operate/deployment.md": _TOPICS,
    "docs/operate/monitoring.md": _TOPICS,
    "docs/operate/streaming.md": _TOPICS,
    "docs/reference/errors.md": ("hypothesis",),
    "docs/sources/aerospike.md": ("hypothesis",),
    "docs/sources/dataworks.md": ("hypothesis",),
    "docs/sources/lindorm.md": ("hypothesis",),
}
"""Packages that tests of a page import, and its readers do not need."""

_OURS: Final = re.compile(r"(?:.*/changewire|\.)(?:\[(.+)\])?")
_NOTE: Final = re.compile(r"\[`changewire\[(\S+)\]`\]\(")


def requirements(page: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the extras and the other packages that a page says to install.

    It says so by commands, or by names of extras that link to the page on installing.
    """
    text = ROOT.joinpath(page).read_text(encoding="utf-8")
    extras = {extra for note in _NOTE.findall(text) for extra in note.split(",")}
    others: set[str] = set()
    for block in all_blocks(page):
        for command in re.findall(r"pip install ([^&\n]+)", block.code):
            for word in shlex.split(command, comments=True):
                if found := _OURS.fullmatch(word):
                    extras |= set((found[1] or "").split(","))
                elif word[0] not in "-./":
                    others.add(word)
    return frozenset(extras - {""}), frozenset(others)


def check(wheel: Path, folder: Path, pages: Iterable[str]) -> Iterator[str]:
    """Yield the pages whose tests fail in the environment of their own requirements."""
    alike: dict[tuple[frozenset[str], frozenset[str]], list[str]] = defaultdict(list)
    for page in pages:
        alike[requirements(page)].append(page)
    for number, ((extras, others), group) in enumerate(alike.items()):
        environment = folder / f"environment-{number}"
        ours = f"{wheel}[{','.join(sorted(extras))}]"
        helpers = {name for page in group for name in HELPERS.get(page, ())}
        install(environment, ours, *sorted({*others, *helpers, "pytest"}))
        for page in group:
            if not passes(environment, page):
                yield page


def install(environment: Path, *wanted: str) -> None:
    """Make an environment with what is wanted; versions that are not named are the pinned ones."""
    pins = f"--constraint={ROOT / 'constraints' / 'dev.txt'}"
    place = f"--python={environment}"
    for words in (("venv", "--clear", environment), ("pip", "install", place, pins, *wanted)):
        subprocess.run(["uv", "--quiet", *words], check=True)  # noqa: S607 - nox installs it


def passes(environment: Path, page: str) -> bool:
    """Return whether the tests of a page pass in an environment, as if it had been activated."""
    programs = environment / "bin"
    extras, others = map(sorted, requirements(page))
    sys.stdout.write(f"{page}: {extras} and {others}\n")
    sys.stdout.flush()
    tests = [f"tests/docs/{test}" for test in TESTS[page]]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    path = os.pathsep.join((str(programs), os.environ["PATH"]))
    return not subprocess.run(
        [programs / "python", "-m", "pytest", "-q", "-m", "", *tests],
        cwd=ROOT,
        env={**kept, "PATH": path, "VIRTUAL_ENV": str(environment)},
        check=False,
    ).returncode


if __name__ == "__main__":
    wheel, folder = (Path(word).resolve() for word in sys.argv[1:3])
    failed = [*check(wheel, folder, sys.argv[3:] or TESTS)]
    sys.exit(f"failed: {', '.join(failed)}" if failed else None)
