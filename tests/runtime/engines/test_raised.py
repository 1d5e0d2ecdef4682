"""What Spark raises is known without Py4J, which a client of Spark Connect need not have."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from changewire.engines.spark import jvm

ENGINE = Path(jvm.__file__).parent


def test_py4j_need_not_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """With Py4J its errors are caught too; without it there are none."""
    assert (PySparkException, Py4JError) == jvm.RAISED
    monkeypatch.setitem(sys.modules, "py4j", None)
    assert runpy.run_path(jvm.__file__)["RAISED"] == (PySparkException,)


def test_no_module_of_the_engine_imports_py4j() -> None:
    """Py4J is imported in one function, where it is there."""
    importing = re.compile(r"^(?:from|import) py4j", re.MULTILINE)
    modules = sorted(ENGINE.rglob("*.py"))
    assert jvm.__file__ in map(str, modules)
    found = [path.name for path in modules if importing.search(path.read_text(encoding="utf-8"))]
    assert found == []
