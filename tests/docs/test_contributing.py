"""CONTRIBUTING.md, a changed message and a new format, followed on a copy of the repository."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.docs.pages import all_blocks, blocks
from typer.testing import CliRunner

from changewire.cli.app import app

ROOT = Path(__file__).parents[2]
COPIED = ("codegen", "docs", "examples", "generated", "runtime", "schemas", "tests")
FAMILY = "lindorm_json"
CORPUS, PAGES = "tests/runtime/codec/test_corpus.py", "tests/docs/test_change_pages.py"
ALL = ("tests/runtime/codec/test_round_trip.py", "tests/runtime/codec/test_verdicts.py")
"""Tests that hold for every format."""

ADDED = {
    "description": "Time at which the message was written.",
    "type": ["integer", "string"],
    "x-leniency": {"quoted-microseconds": {"type": "string"}},
}


@dataclass(frozen=True)
class Copy:
    """A copy of the repository, in which a message changes."""

    folder: Path

    def python(self, *words: str, **environment: str) -> str:
        """Run Python in the copy, with its own packages."""
        path = os.pathsep.join(str(self.folder / root) for root in ROOTS)
        ended = subprocess.run(
            [sys.executable, *words],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": path, **environment},
            capture_output=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout.decode() + ended.stderr.decode()
        return ended.stdout.decode()

    def git(self, *words: str) -> None:
        """Run git in the copy."""
        who = {f"GIT_{name}_{what}": "somebody" for name in WHO for what in ("NAME", "EMAIL")}
        environment = {**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull}
        subprocess.run(["git", *words], cwd=self.folder, env=environment, check=True)  # noqa: S607

    def change(self, file: str, edit: Callable[[Any], None]) -> None:
        """Edit a JSON file of the copy."""
        path = self.folder / file
        document = json.loads(path.read_bytes())
        edit(document)
        path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", "utf-8")

    def changed(self) -> set[str]:
        """Return the files that are not as they were committed, but for those that are made."""
        done = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=all"],  # noqa: S607
            cwd=self.folder,
            check=True,
            capture_output=True,
        )
        paths = {line[3:] for line in done.stdout.decode().splitlines()}
        return {path for path in paths if not path.startswith(MADE)}


ROOTS = ("codegen", "generated", "runtime")
MADE = ("generated/", "docs/formats/")
"""Files that the generator writes."""

WHO = ("AUTHOR", "COMMITTER")


def steps(title: str) -> list[str]:
    """Return the numbered steps of a section, each as one line."""
    text = ROOT.joinpath("CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split(f"## {title}\n")[1].split("\n## ")[0]
    return [" ".join(step.split()) for step in re.split(r"^\d\. ", section, flags=re.MULTILINE)[1:]]


def commands(step: str) -> list[str]:
    """Return the commands that a step names."""
    return re.findall(r"`((?:[A-Z_]+=1 )?(?:nox|changewire )[^`]*)`", step)


def edit_the_variant(copy: Copy) -> None:
    """Add a property with a description, and an example that shows it."""

    def edit(schema: Any) -> None:
        schema["properties"]["ts_us"] = ADDED
        schema["examples"].append({**schema["examples"][0], "ts_us": 1465491411815000})

    copy.change(f"schemas/{FAMILY}/insert.json", edit)


def say_the_difference(copy: Copy) -> None:
    """Say in the family file what real messages do."""

    def edit(family: Any) -> None:
        family["differences"].append("Some releases quote `ts_us`; it is accepted, and counted.")

    copy.change(f"schemas/{FAMILY}/family.json", edit)


def generate(copy: Copy) -> None:
    """Generate, and read a message of the new kind without a change by hand."""
    copy.python("-m", "changewire_codegen")
    page = copy.folder.joinpath("docs", "formats", f"{FAMILY}.md").read_text(encoding="utf-8")
    assert "`ts_us`" in page
    assert "quoted-microseconds" in page
    copy.python("-c", READ, json.dumps(message(ts_us="1465491411815000")))
    kernel = copy.folder / "generated" / "changewire_messages" / FAMILY / "kernel.jsonl"
    assert '"name":"ts_us"' in kernel.read_text("utf-8")
    assert copy.changed() == {f"schemas/{FAMILY}/{file}.json" for file in ("insert", "family")}


READ = """
import json
import sys
import changewire as cw
import changewire.arrow as cwa
from hypothesis import find
from changewire.explain import explain
from changewire_messages.lindorm_json import arrow, leniencies, spark, strategies, validators
message = cw.decode(sys.argv[1].encode(), format="lindorm-json")
assert message.payload.ts_us == "1465491411815000" and "ts_us" not in str(message.extra)
assert cw.decode(cw.encode(message), format="lindorm-json") == message
assert cw.leniencies(message) == ["quoted-microseconds"]
spoilt = sys.argv[1].replace('"ts_us": "1', '"ts_us": {}, "a": "1')
assert cw.validate(spoilt, format="lindorm-json")
assert not validators.errors(json.loads(sys.argv[1]), strict=True)
assert "ts_us" in find(strategies.insert(), lambda drawn: "ts_us" in drawn)
assert "Time at which the message was written." in str(explain(sys.argv[1]))
assert "ts_us" in spark.INSERT.fieldNames()
assert "ts_us" in str(arrow.insert_array([message.payload]).type)
assert "ts_us" in str(cwa.message_type("lindorm-json"))
"""


def leave_the_adapter(copy: Copy) -> None:
    """The property means nothing for a table: no line of the runtime is written."""
    assert not {path for path in copy.changed() if path.startswith("runtime/")}


def add_to_the_corpus(copy: Copy) -> None:
    """Add a message that is valid and one that is refused; the texts beside them are written."""
    corpus = copy.folder / "tests" / "corpus" / FAMILY
    good = corpus / "valid" / "message-insert-with-microseconds.json"
    bad = corpus / "invalid" / "message-microseconds-of-wrong-type.json"
    good.write_text(json.dumps(message(ts_us=1465491411815000)), "utf-8")
    bad.write_text(json.dumps(message(ts_us=[])), "utf-8")
    update = {"CHANGEWIRE_UPDATE_CORPUS": "1", "CHANGEWIRE_UPDATE_PAGES": "1"}
    copy.python("-m", "pytest", "-q", "-p", "no:cacheprovider", CORPUS, PAGES, **update)
    assert "ts_us=1465491411815000" in good.with_suffix(".model.txt").read_text("utf-8")
    assert "/payload/ts_us" in bad.with_suffix(".error.txt").read_text("utf-8")


def ask_who_is_hurt(copy: Copy) -> None:
    """Ask what the change does: nobody is hurt."""
    ended = CliRunner().invoke(app, ["schema", "diff", "HEAD", "schemas"])
    place = f"{FAMILY}/insert.json#/properties/ts_us"
    assert f"{place}: a new property: ts_us;" in ended.stdout
    assert (ended.exit_code, "readers: compatible; writers: compatible" in ended.stderr) == (
        0,
        True,
    )
    assert (ROOT / "noxfile.py").read_text("utf-8").count("def breaking(") == 1
    del copy  # it is the current folder


def check_all(copy: Copy) -> None:
    """What was generated is as the schemas say; the other tests know nothing of the change."""
    copy.python("-m", "changewire_codegen", "--check")


STEPS: Mapping[Callable[[Copy], None], list[str]] = {
    edit_the_variant: [],
    say_the_difference: [],
    generate: ["nox -s codegen"],
    leave_the_adapter: [],
    add_to_the_corpus: [
        f"CHANGEWIRE_UPDATE_CORPUS=1 nox -s tests -- {CORPUS}",
        f"CHANGEWIRE_UPDATE_PAGES=1 nox -s tests -- {PAGES}",
    ],
    ask_who_is_hurt: ["changewire schema diff HEAD schemas", "nox -s breaking"],
    check_all: ["nox"],
}
"""What each step of the page is here, with the commands that it names."""


def message(**more: object) -> dict[str, Any]:
    """Return the message of the document's insert, with more properties of its payload."""
    text = (
        ROOT / "tests" / "corpus" / FAMILY / "valid" / "message-insert-document.json"
    ).read_bytes()
    found: dict[str, Any] = json.loads(text)
    found["payload"].update(more)
    return found


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    """Make a copy of the repository, committed as it is."""
    found = Copy(tmp_path / "copy")
    ignored = shutil.ignore_patterns("__pycache__", "_build", "made", "*.egg-info")
    for name in COPIED:
        shutil.copytree(ROOT / name, found.folder / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", found.folder)
    found.folder.joinpath(".gitignore").write_text("__pycache__/\n", "utf-8")
    found.git("init", "--quiet")
    found.git("add", ".")
    found.git("commit", "--quiet", "--message", "Before")
    return found


def test_a_message_changes_by_the_steps_of_the_page(
    copy: Copy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who does what the page says has models, checks, pages and texts of the new message."""
    monkeypatch.chdir(copy.folder)
    for step, (do, named) in zip(steps("A message has changed"), STEPS.items(), strict=True):
        assert commands(step) == named
        do(copy)


READ_COMMENT = """
import json
import changewire as cw
message = json.loads(open('tests/corpus/dataworks_json/valid/message-ddl-alter.json').read())
message["payload"]["op"] = "COMMENT"
data = json.dumps(message).encode()
(change,) = cw.changes(cw.decode(data, format="dataworks-json"))
assert change.op == "ddl" and change.attributes["op"] == "COMMENT"
assert cw.leniencies(cw.decode(data, format="dataworks-json")) == []
"""


def test_a_new_operation_is_a_word_in_the_schemas(copy: Copy) -> None:
    """Who adds an operation to a tag with its `x-op` has changes of it; no code is written."""

    def edit(schema: Any) -> None:
        tag = schema["properties"]["op"]
        tag.get("not", tag)["enum"].append("COMMENT")

    for variant in ("ddl", "other"):
        copy.change(f"schemas/dataworks_json/{variant}.json", edit)
    copy.python("-m", "changewire_codegen")
    copy.python("-c", READ_COMMENT)
    table = copy.folder / "generated" / "changewire_messages" / "dataworks_json" / "kernel.jsonl"
    assert '"COMMENT":"ddl"' in table.read_text("utf-8")
    assert copy.changed() == {f"schemas/dataworks_json/{v}.json" for v in ("ddl", "other")}


READ_INTEGER = """
import json
import changewire as cw
from changewire.changes.decode_options import DecodeOptions
from changewire.changes.embedded import row_type
message = json.loads(open('tests/corpus/dataworks_json/valid/message-insert-document.json').read())
for column in message["schema"]["dataColumn"]:
    column["type"] = column["type"].replace("LONG", "INTEGER")
(change,) = cw.changes(cw.decode(json.dumps(message), format="dataworks-json"))
assert "unknown-column-type" not in change.attributes.get("leniencies", [])
fields = row_type(message["schema"], "dataworks-json", DecodeOptions("dataworks-json"))["fields"]
assert "long" in [field["type"] for field in fields if field["metadata"]["comment"] == "INTEGER"]
"""


def test_a_new_column_type_is_a_row_in_the_schemas(copy: Copy) -> None:
    """Who adds a column type with its meaning has columns of it; no code is written."""
    known = {"value": "INTEGER", "means": "integer", "column": "long", "description": "An integer."}

    def edit(schema: Any) -> None:
        schema["$defs"]["ColumnType"]["properties"]["type"]["x-values"].append(known)

    copy.change("schemas/dataworks_json/message.json", edit)
    copy.python("-m", "changewire_codegen")
    copy.python("-c", READ_INTEGER)
    table = copy.folder / "generated" / "changewire_messages" / "dataworks_json" / "kernel.jsonl"
    assert '{"value":"INTEGER","means":"integer","column":"long"}' in table.read_text("utf-8")
    assert copy.changed() == {"schemas/dataworks_json/message.json"}


GUIDE = "docs/how-to/regenerate.md"


def test_the_new_property_of_the_guide_is_a_column_with_its_value(copy: Copy) -> None:
    """Who adds the guide's property reads its value in a typed column, as the guide prints it."""
    ((name, added),) = json.loads(blocks(GUIDE, "json")[0]).items()

    def edit(schema: Any) -> None:
        schema["properties"][name] = added
        schema["examples"].append({**schema["examples"][0], name: 1465491411815000})

    copy.change(f"schemas/{FAMILY}/insert.json", edit)
    copy.python("-m", "changewire_codegen")
    lines = [json.dumps(one) for one in (message(ts_us=1465491411815000), message())]
    copy.folder.joinpath("topic.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    printed = [block.code for block in all_blocks(GUIDE) if block.language == "text"]
    for code, text in zip(blocks(GUIDE), printed, strict=True):
        assert copy.python("-c", code) == text


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
