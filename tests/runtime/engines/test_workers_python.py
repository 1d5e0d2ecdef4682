"""Sessions whose workers run another Python than this one are refused with one sentence."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from changewire.engines.errors import StreamError
from changewire.engines.spark.python import check_python


def session(python: str, master: str = "local[2]", **settings: str) -> Any:
    """Return what is asked of a session: its master, its settings and the Python of its workers."""
    context = SimpleNamespace(
        master=master, pythonExec=python, _python_includes=[], getConf=lambda: settings
    )
    return SimpleNamespace(sparkContext=context)


def script(folder: Path, *lines: str) -> str:
    """Return a program that stands for another Python."""
    file = folder / "python3"
    file.write_text("\n".join(["#!/bin/sh", *lines, ""]), encoding="utf-8")
    file.chmod(0o755)
    return str(file)


def test_a_python_without_changewire_is_refused(tmp_path: Path) -> None:
    """The sentence names it and says what to set, and no module."""
    other = script(tmp_path, f'exec {sys.executable} -I -S "$@"')
    with pytest.raises(StreamError) as caught:
        check_python(session(other))
    assert str(caught.value) == (
        f"the workers of this session run {other}, which lacks changewire or a library that it "
        f"needs; set PYSPARK_PYTHON to {sys.executable} before the session starts"
    )


def test_another_version_is_refused(tmp_path: Path) -> None:
    """Both versions are named."""
    other = script(tmp_path, "echo 2.7")
    own = ".".join(map(str, sys.version_info[:2]))
    with pytest.raises(StreamError, match=f"which is Python 2.7 and not {own}; set PYSPARK_PYTHON"):
        check_python(session(other))


def test_a_missing_python_is_refused(tmp_path: Path) -> None:
    """Its name is in the sentence."""
    with pytest.raises(StreamError, match=r"none, which does not exist; set PYSPARK_PYTHON"):
        check_python(session(str(tmp_path / "none")))


def test_pythons_that_may_have_changewire_are_taken(tmp_path: Path) -> None:
    """This one, one that imports it, those of a cluster, and those that get archives."""
    check_python(session(sys.executable))
    check_python(session(script(tmp_path, f'exec {sys.executable} "$@"')))
    other = tmp_path / "other"
    other.mkdir()
    lacking = script(other, "exit 1")
    check_python(session(lacking, master="spark://host:7077"))
    check_python(session(lacking, **{"spark.archives": "environment.tar.gz"}))
    with pytest.raises(StreamError):
        check_python(session(lacking))
