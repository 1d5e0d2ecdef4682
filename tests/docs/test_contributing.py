"""CONTRIBUTING.md, a changed message, followed on a copy of the repository."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.docs.pages import in_sections
from tests.docs.repository_copy import CORPUS, PAGES, ROOT, Copy, copied, steps
from typer.testing import CliRunner

from changewire.cli.app import app

FAMILY = "lindorm_json"
ADDED = {
    "description": "Time at which the message was written.",
    "type": ["integer", "string"],
    "x-leniency": {"quoted-microseconds": {"type": "string"}},
}


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
from hypothesis import Phase, find, settings
from changewire.explain import explain
from changewire_messages.lindorm_json import arrow, leniencies, spark, strategies, validators
message = cw.decode(sys.argv[1].encode(), format="lindorm-json")
assert message.payload.ts_us == "1465491411815000" and "ts_us" not in str(message.extra)
assert cw.decode(cw.encode(message), format="lindorm-json") == message
assert cw.leniencies(message) == ["quoted-microseconds"]
spoilt = sys.argv[1].replace('"ts_us": "1', '"ts_us": {}, "a": "1')
assert cw.validate(spoilt, format="lindorm-json")
assert not validators.errors(json.loads(sys.argv[1]), strict=True)
any_will_do = settings(phases=[Phase.generate])
assert "ts_us" in find(strategies.insert(), lambda drawn: "ts_us" in drawn, settings=any_will_do)
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
    return copied(tmp_path / "copy")


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


@pytest.fixture(scope="module")
def guide() -> dict[str, str]:
    """Return the code of the guide by its language."""
    found = in_sections("docs/guides/schemas.md", "Change a built-in format")
    return {block.language: block.code for block in found}


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory, guide: dict[str, str]) -> Copy:
    """Make a copy with an operation, a column type and the guide's property, and generate."""
    copy = copied(tmp_path_factory.mktemp("edited") / "copy")
    known = {"value": "INTEGER", "means": "integer", "column": "long", "description": "An integer."}
    ((name, added),) = json.loads(guide["json"]).items()

    def with_operation(schema: Any) -> None:
        tag = schema["properties"]["op"]
        tag.get("not", tag)["enum"].append("COMMENT")

    def with_type(schema: Any) -> None:
        schema["$defs"]["ColumnType"]["properties"]["type"]["x-values"].append(known)

    def with_property(schema: Any) -> None:
        schema["properties"][name] = added
        schema["examples"].append({**schema["examples"][0], name: 1465491411815000})

    for variant in ("ddl", "other"):
        copy.change(f"schemas/dataworks_json/{variant}.json", with_operation)
    copy.change("schemas/dataworks_json/message.json", with_type)
    copy.change(f"schemas/{FAMILY}/insert.json", with_property)
    copy.python("-m", "changewire_codegen")
    changed = {f"dataworks_json/{variant}" for variant in ("ddl", "other", "message")}
    assert copy.changed() == {f"schemas/{one}.json" for one in (*changed, f"{FAMILY}/insert")}
    return copy


def test_a_new_operation_and_a_new_column_type_are_in_the_schemas(edited: Copy) -> None:
    """Who adds an operation to a tag with its `x-op`, or a column type with its meaning, has both.

    Messages have changes of the operation and columns of the type; no code is written.
    """
    edited.python("-c", READ_COMMENT + READ_INTEGER)
    table = edited.folder / "generated" / "changewire_messages" / "dataworks_json" / "kernel.jsonl"
    text = table.read_text("utf-8")
    assert '"COMMENT":"ddl"' in text
    assert '{"value":"INTEGER","means":"integer","column":"long"}' in text


def test_the_guide_makes_a_column(edited: Copy, guide: dict[str, str]) -> None:
    """Who adds the guide's property reads its value in a typed column, as the guide prints it."""
    lines = [json.dumps(one) for one in (message(ts_us=1465491411815000), message())]
    edited.folder.joinpath("topic.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    assert edited.python("-c", guide["python"]) == guide["text"]
