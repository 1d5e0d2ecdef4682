"""The page about somebody's own formats: what it shows is made, installed and used."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import tomli
from tests.docs.pages import in_sections
from tests.plugins.installing import forget, install
from typer.testing import CliRunner

import changewire as cw
from changewire.changes.decode_options import DecodeOptions
from changewire.cli.app import app

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "schemas.md"
TEXT = PAGE.read_text(encoding="utf-8")
SECTIONS = ("Define a format", "Convert messages to changes")
PACKAGE, ADAPTER = "shop_messages", "shop_tables_adapter"


def blocks(language: str) -> list[str]:
    """Return the blocks of a language."""
    found = in_sections("docs/guides/schemas.md", *SECTIONS)
    return [block.code for block in found if block.language == language]


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make the package of the page, and install what it and the page name."""
    names = re.findall(r"`schemas/shop/(\w+\.json)`:$", TEXT, re.MULTILINE)
    for name, text in zip(names, blocks("json"), strict=True):
        path = tmp_path / "schemas" / "shop" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    command, then = blocks("sh")[0].splitlines()
    assert CliRunner().invoke(app, command.split()[1:]).exit_code == 0
    assert then == "pip install ./shop-messages"
    for path in ("shop-messages", "site"):
        monkeypatch.syspath_prepend(str(tmp_path / path))
    made = tomli.loads(tmp_path.joinpath("shop-messages", "pyproject.toml").read_text("utf-8"))
    install(tmp_path / "site", "shop", made["project"]["entry-points"])
    forget()
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]
    forget()


def test_the_page_runs(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The format is used as it is shown; with the adapter its messages are changes."""
    use, adapter = blocks("python")
    names: dict[str, Any] = {}
    exec(use, names)  # noqa: S102 - our own text
    with pytest.raises(ValueError, match="has no adapter"):
        cw.changes(names["event"])
    ((event, _),) = DecodeOptions("shop-json").elements(names["data"])
    assert isinstance(event, cw.Change)
    assert (event.op, event.attributes["message"]["order"]) == ("other", 7)
    module = ModuleType(ADAPTER)
    exec(adapter, vars(module))  # noqa: S102
    monkeypatch.setitem(sys.modules, ADAPTER, module)
    (toml,) = blocks("toml")
    install(page / "site", "adapter", tomli.loads(toml)["project"]["entry-points"])
    forget()
    (change,) = cw.changes(names["event"])
    assert (change.op, change.after) == ("upsert", {"order": 7, "cents": 990})
    assert change.sequence == cw.Sequence(major=1704110400000, minor=0)
