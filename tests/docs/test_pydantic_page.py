"""The page about pydantic models: its command makes models that reject no valid message."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator, Mapping
from types import ModuleType

import pytest
from pydantic import TypeAdapter, ValidationError
from tests.docs.pages import ROOT, in_sections
from tests.docs.running import run_block, run_page

PAGE = "docs/guides/python.md"
SECTION = "Pydantic and FastAPI"
ACCEPTED = {
    "aerospike": ("bins-of-wrong-types", "blob-no-base64", "digest-no-base64", "digest-too-short"),
    "dataworks": ("ddl-meta-no-base64", "insert-without-after", "delete-without-before"),
    "lindorm": ("array", "insert-without-after", "unknown-operation", "without-source"),
}
"""Invalid messages of each format that the page says are accepted."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, ModuleType]]:
    """Yield the module that the page's commands make for each format."""
    (block,) = [block for block in in_sections(PAGE, SECTION) if block.language == "sh"]
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(folder)
        for name in ("aerospike", "lindorm"):
            run_block(block._replace(code=block.code.replace("dataworks", name)), {})
        assert run_page(PAGE, folder, sections=[SECTION])["message"].version == "1.0.0"
        yield {name: importlib.import_module(f"{name}_models") for name in ACCEPTED}
    for name in ACCEPTED:
        sys.modules.pop(f"{name}_models", None)


def messages(name: str, verdict: str) -> dict[str, bytes]:
    """Return the messages of a format in the corpus, by what their files are named after."""
    files = ROOT.joinpath("tests", "corpus", f"{name}_json", verdict).glob("message-*")
    found = {path.stem: path for path in files if path.suffix in {".bin", ".json"}}
    return {stem.removeprefix("message-"): path.read_bytes() for stem, path in found.items()}


@pytest.mark.parametrize("name", sorted(ACCEPTED))
def test_no_valid_message_is_rejected(name: str, made: Mapping[str, ModuleType]) -> None:
    """Models of each format accept every valid message of the corpus, and what the page names."""
    model, valid = TypeAdapter(made[name].Message), messages(name, "valid")
    assert len(valid) > 10
    invalid = messages(name, "invalid")
    for message in [*valid.values(), *(invalid[stem] for stem in ACCEPTED[name])]:
        model.validate_json(message)
    for message in valid.values():
        model.validate_json(message, strict=True)


@pytest.mark.parametrize("number", [b'"1"', b"1.0"])
def test_values_are_converted_unless_strict(number: bytes, made: Mapping[str, ModuleType]) -> None:
    """Text and floats become integers, and are rejected where the page says that they are."""
    module = made["aerospike"]
    model = TypeAdapter(module.Message)
    message = b'{"msg":"delete","key":["a",null,"",null],"gen":%b}' % number
    assert model.validate_json(message).root.gen == 1
    with pytest.raises(ValidationError):
        model.validate_json(message, strict=True)


def test_a_payload_of_lindorm_is_checked(made: Mapping[str, ModuleType]) -> None:
    """The model that the page advises to use accepts valid payloads, and no unknown operation."""
    module = made["lindorm"]
    model = TypeAdapter(module.Payload)
    for message in messages("lindorm", "valid").values():
        parsed = json.loads(message)
        model.validate_python(parsed.get("payload", parsed))
    with pytest.raises(ValidationError):
        model.validate_json(messages("lindorm", "invalid")["unknown-operation"])
