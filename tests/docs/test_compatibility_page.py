"""The page about compatibility shows what the command writes, and names what there is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.docs.pages import blocks
from typer.testing import CliRunner

from changewire.cli.app import app

ROOT = Path(__file__).parents[2]
PAGE = ROOT.joinpath("docs", "guides", "schemas.md").read_text(encoding="utf-8")


def shown() -> list[str]:
    """Return the lines of the first example, below its command."""
    (code,) = blocks("docs/guides/schemas.md", "console")
    block = code.splitlines()
    assert block[0] == "$ changewire schema diff installed schemas"
    return block[1:]


def test_the_example_is_what_the_command_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change that the page tells of gives these lines; long ones are cut there."""
    shutil.copytree(ROOT / "schemas", tmp_path / "schemas")
    path = tmp_path / "schemas" / "lindorm_json" / "insert.json"
    schema: Any = json.loads(path.read_bytes())
    properties = schema["properties"]
    properties["before"] = {"description": properties["before"]["description"], "type": "null"}
    properties["region"] = {"description": "Where the row was written.", "type": "string"}
    schema["required"].append("region")
    for example in schema["examples"]:
        example["region"] = "eu"
    path.write_text(json.dumps(schema), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    ended = CliRunner().invoke(app, ["schema", "diff", "installed", "schemas"])
    written = [*ended.stdout.splitlines(), ended.stderr.strip()]
    assert [line[: len(cut)] for line, cut in zip(written, map(uncut, shown()), strict=True)] == [
        uncut(line) for line in shown()
    ]


def uncut(line: str) -> str:
    """Return a line of the page without the mark of what was cut."""
    return line.removesuffix(" ...")
