"""CONTRIBUTING.md, a new format, followed on a copy of the repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.docs.repository_copy import ALL, CORPUS, Copy, copied, steps

DOOR = {
    "family.json": {
        "title": "Doors",
        "description": "What the doors of a building send.",
        "format": "door-json",
        "encoding": "json",
        "roles": {"message": "passage"},
    },
    "passage.json": {
        "title": "Passage",
        "description": "A person went through a door.",
        "type": "object",
        "properties": {
            "door": {"description": "Number of the door.", "type": "integer"},
            "badges": {"description": "Who went through.", "type": "array", "items": {}},
        },
        "required": ["door", "badges"],
        "examples": [{"door": 7, "badges": [1]}],
    },
}
"""The schemas of a made-up format."""

DOOR_ADAPTER = '''"""Messages of doors to changes: a passage is a row."""

from typing import Any

from changewire.changes.adapters import Adapter
from changewire.changes.change_row import ChangeRow
from changewire.changes.decode_options import DecodeOptions
from changewire_messages.change import Source


def door_changes(message: Any, _record_key: bytes | None, options: DecodeOptions) -> ChangeRow:
    """Return the change that a passage is."""
    return ChangeRow(
        op="insert",
        source=Source(system="building", database=None, schema=None, table="doors"),
        key={"door": message.door},
        after={"door": message.door, "badges": message.badges},
        attributes={"row_image": options.row_image},
    )


ADAPTER = Adapter("building", door_changes, {"row_image"})
'''

READ_DOOR = """
import changewire as cw
data = b'{"door": 7, "badges": [1]}'
assert cw.detect(data) == "door-json" and "door-json" in cw.formats()
(change,) = cw.changes(cw.decode(data, format="door-json"), row_image="patch")
assert (change.op, change.key, change.source.system) == ("insert", {"door": 7}, "building")
assert type(cw.decode(data)) is cw.door_json.Passage
try:
    cw.DecodeOptions("door-json", key_columns=["door"])
except ValueError as error:
    assert "key_columns does not apply to door-json" in str(error)
else:
    raise AssertionError("an option that the adapter does not name is accepted")
"""


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    """Make a copy of the repository, committed as it is."""
    return copied(tmp_path / "copy")


def test_a_new_format_is_schemas_one_module_and_one_row(copy: Copy) -> None:
    """No other file of the repository is edited until its messages are changes, and are tested."""
    assert "`BUILT_IN`" in steps("A new format")[2]
    for name, schema in DOOR.items():
        path = copy.folder / "schemas" / "door_json" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(schema, indent=2) + "\n", "utf-8")
    copy.python("-m", "changewire_codegen")
    changes = copy.folder / "runtime" / "changewire" / "changes"
    changes.joinpath("door.py").write_text(DOOR_ADAPTER, "utf-8")
    row = '    "door-json": "changewire.changes.door:ADAPTER",\n    "lindorm-json"'
    table = changes.joinpath("vendors.py")
    table.write_text(table.read_text("utf-8").replace('    "lindorm-json"', row), "utf-8")
    copy.python("-c", READ_DOOR)
    corpus = "tests/corpus/door_json"
    for kind, badges in (("valid", [1]), ("invalid", 1)):
        path = copy.folder / corpus / kind / "message-passage.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"door": 7, "badges": badges}), "utf-8")
    every_format = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "door", CORPUS, *ALL)
    copy.python(*every_format, CHANGEWIRE_UPDATE_CORPUS="1")
    assert copy.changed() == {
        "schemas/door_json/family.json",
        "schemas/door_json/passage.json",
        "runtime/changewire/changes/vendors.py",
        "runtime/changewire/changes/door.py",
        f"{corpus}/valid/message-passage.json",
        f"{corpus}/valid/message-passage.model.txt",
        f"{corpus}/invalid/message-passage.json",
        f"{corpus}/invalid/message-passage.error.txt",
    }
