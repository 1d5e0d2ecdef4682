"""The pages of ``docs/changes/``: a golden message of each kind, and the change that it becomes."""

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
from tests.runtime.codec.formats import FORMATS, role_of, wire_of
from tests.variants import variant_of, variants

import changewire as cw

COMMAND = "CHANGEWIRE_UPDATE_PAGES=1 pytest tests/docs/test_change_pages.py"
_ENDS = {".hex": "text", ".json": "json"}


def page(format: str) -> str:
    """Return the page of a format."""
    folder = FORMATS[format].folder
    head = f"""# Changes of {format}

<!-- Written by `{COMMAND}`. Do not edit. -->

See here which change each kind of [{format}](../formats/{folder}.md) message becomes.
Properties that are null are left out.
[Change events](../concepts/change-events.md) explains the rules.
"""
    return head + "".join(_section(name, path) for name, path in chosen(format).items())


def chosen(format: str) -> dict[str, Path]:
    """Return a golden message of each kind, that of the format's document where it has one."""
    form = FORMATS[format]
    paths = [path for path in form.golden("valid") if role_of(path) == "message"]
    paths = [path for path in paths if path.suffix in _ENDS]
    paths.sort(key=lambda path: ("document" not in path.stem, path.name))
    found: dict[str, Path] = {}
    for path in paths:
        found.setdefault(variant_of(form.codec.decode(wire_of(path))), path)
    return {name: found[name] for name in variants(format)}


def _section(name: str, path: Path) -> str:
    message = path.read_text("utf-8").strip()
    changes = "\n".join(_changes(wire_of(path)))
    language = _ENDS[path.suffix]
    return f"\n## {name}\n\n```{language}\n{message}\n```\n\n```json\n{changes}\n```\n"


def _changes(data: bytes) -> Iterator[str]:
    for change in cw.changes(cw.decode(data)):
        properties = json.loads(msgspec.json.encode(change)).items()
        known = {name: value for name, value in properties if value is not None}
        yield json.dumps(known, indent=1, ensure_ascii=False)
