"""The example messages are those that their script makes, and hold what they promise."""

import gzip
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest
from examples.make_messages import FOLDERS, ROOT
from examples.making import (
    aerospike_damages,
    aerospike_flat_json,
    aerospike_msgpack,
    dataworks_json,
    lindorm_json,
    mixed,
)
from examples.making.history import history
from examples.making.packing import packed
from msgspec import UNSET
from tests.variants import variant_of, variants

import changewire as cw
from changewire.changes.decode_options import AUTO, DecodeOptions
from changewire.engines.merge.land import land
from changewire.engines.options import FileRun
from changewire.engines.outcome import Outcome
from changewire.framing import expand, read
from changewire_messages import FORMATS as PACKAGES
from changewire_messages.aerospike_json import models as wire

FORMATS = {name.replace("-", "_"): name for name in PACKAGES}
FILES = {folder: files() for folder, files in FOLDERS.items()}
NAMES = [(folder, name) for folder, files in FILES.items() for name in files]
DAMAGES: Mapping[str, list[str]] = {
    "aerospike_flat_json": [code for code, _ in aerospike_flat_json.DAMAGES],
    "aerospike_json": [code for code, _ in aerospike_damages.DAMAGES],
    "aerospike_msgpack": [code for code, _ in aerospike_msgpack.DAMAGES],
    "dataworks_json": [code for code, _ in dataworks_json.DAMAGES],
    "lindorm_json": [code for code, _ in lindorm_json.DAMAGES],
    "mixed": ["unknown-variant"] * 3 + ["empty"],
}
"""Codes of the damaged messages of each folder."""

MESSAGES = {
    "aerospike_flat_json": 544,
    "aerospike_json": 2579,
    "aerospike_msgpack": 661,
    "dataworks_json": 467,
    "lindorm_json": 314,
    "mixed": 205,
}

folders = pytest.mark.parametrize("folder", FOLDERS)
formats = pytest.mark.parametrize("folder", FORMATS)


@pytest.fixture(scope="module", name="outcomes")
def run_examples(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Outcome]:
    """Decode the files of each folder, by the engine without Spark."""
    output = tmp_path_factory.mktemp("output")
    return {
        folder: land(
            expand([str(ROOT / folder)]),
            str(output / folder),
            FileRun(DecodeOptions(FORMATS.get(folder, AUTO))),
        )
        for folder in FOLDERS
    }


def test_every_format_has_its_folder() -> None:
    """There are examples of each format, and of a topic that mixes them."""
    assert FOLDERS.keys() == {*FORMATS, "mixed"}


@folders
def test_the_committed_files_are_all_files(folder: str) -> None:
    """No file is missing, none is left over."""
    assert {path.name for path in (ROOT / folder).iterdir()} == set(FILES[folder])


@pytest.mark.parametrize(("folder", "name"), NAMES)
def test_the_script_makes_the_committed_files(folder: str, name: str) -> None:
    """The files are reproducible; compressed ones in what they hold, for libraries differ."""
    committed = (ROOT / folder / name).read_bytes()
    assert content(name, FILES[folder][name]) == content(name, committed)


def content(name: str, data: bytes) -> object:
    """Return what a file says, whatever compressed it."""
    if name.endswith(".parquet"):
        return pq.read_table(io.BytesIO(data)).to_pylist()
    return gzip.decompress(data) if name.endswith(".gz") else data


@folders
def test_two_runs_make_the_same_files(folder: str) -> None:
    """Nothing depends on what was made before in the same process."""
    assert FOLDERS[folder]() == FILES[folder]


@folders
def test_the_files_are_small(folder: str) -> None:
    """The messages of Aerospike in JSON stay below one megabyte, others below 200 kilobytes."""
    limit = 2**20 if folder == "aerospike_json" else 200_000
    assert sum(map(len, FILES[folder].values())) < limit


@folders
def test_there_are_enough_messages(folder: str, outcomes: Mapping[str, Outcome]) -> None:
    """No message got lost on its way into a file."""
    assert outcomes[folder].counts.messages == MESSAGES[folder]


@folders
def test_every_damaged_message_is_refused_for_its_reason(
    folder: str, outcomes: Mapping[str, Outcome]
) -> None:
    """There is a dead letter for each damaged message, by its code, and no other."""
    assert outcomes[folder].counts.by_error_code == Counter(DAMAGES[folder])


def test_the_damages_are_many() -> None:
    """A run on all examples shows at least fifteen different reasons."""
    assert len({code for codes in DAMAGES.values() for code in codes}) >= 15


@pytest.mark.parametrize(
    ("good", "format"),
    [
        (aerospike_damages.GOOD, "aerospike-json"),
        (aerospike_flat_json.GOOD, "aerospike-flat-json"),
        (dataworks_json.GOOD, "dataworks-json"),
        (lindorm_json.GOOD, "lindorm-json"),
    ],
)
def test_the_message_that_is_damaged_is_good(good: object, format: str) -> None:
    """A damage is what makes a message bad, nothing else."""
    assert not cw.validate(good, format=format)


@formats
def test_every_leniency_is_used(folder: str, outcomes: Mapping[str, Outcome]) -> None:
    """Each way in which real messages differ from the document occurs."""
    package = Path(str(import_module(PACKAGES[FORMATS[folder]]).__file__))
    source = package.with_name("leniencies.py").read_text(encoding="utf-8")
    names = set(re.findall(r'used\.append\("([a-z0-9-]+)"\)', source))
    assert names <= outcomes[folder].counts.leniencies.keys()


@formats
def test_every_variant_occurs(folder: str) -> None:
    """Each kind of message is that of an example, but for operations of which little is known."""
    seen = {variant_of(model) for model in models(folder)}
    assert variants(FORMATS[folder]).keys() - seen == RARE.get(folder, set())


RARE = {
    "dataworks_json": {
        *("DdlCreate", "DdlErase", "DdlRename", "DdlCindex", "DdlDindex"),
        *("TransactionGtid", "TransactionXacommit", "TransactionXarollback"),
    },
}
"""Operations of which no document says what their messages hold; the corpus has one of each."""


def models(folder: str) -> Iterator[Any]:
    """Yield the good messages of a folder."""
    for path in expand([str(ROOT / folder)]):
        for record in read(path):
            found = cw.decode_all(record.value or b"", format=FORMATS[folder])
            yield from (model for model in found if not isinstance(model, cw.Rejection))


def test_every_type_of_bin_occurs() -> None:
    """Each model of a bin is the model of an example."""
    bins = {type(b).__name__ for m in models("aerospike_json") for b in getattr(m, "bins", ())}
    assert bins == {name for name in wire.__all__ if name.endswith("Bin") and name != "Bin"}


def test_every_shape_of_version_occurs() -> None:
    """Generation, expiry and update time are null, zero and set; deletes may leave them out."""
    shapes = {
        (type(model).__name__, name, shape(getattr(model, name)))
        for model in models("aerospike_json")
        for name in ("gen", "exp", "lut")
    }
    assert shapes >= {
        ("Write", n, s) for n in ("gen", "exp", "lut") for s in ("NoneType", "zero", "int")
    }
    assert shapes >= {("Delete", n, s) for n in ("gen", "lut") for s in ("UnsetType", "int")}


def shape(value: object) -> str:
    """Tell zero from other integers, and null from nothing."""
    return "zero" if value == 0 else type(value).__name__


def test_messages_are_packed_as_they_are_converted() -> None:
    """The script and the library make the same MessagePack of a message in JSON."""
    for message in history(Random(1), "users", 50):  # noqa: S311 - made-up people
        text = json.dumps(message)
        assert packed(message) == cw.convert(
            text, source="aerospike-json", target="aerospike-msgpack", lossy=True
        )


def test_schemas_of_lindorm_are_whole_empty_null_and_absent() -> None:
    """Messages have the four things that a subscription may put beside a payload."""
    texts = [model.schema_text for model in models("lindorm_json")]
    kinds = {"absent" if text is UNSET else bytes(text)[:9].decode() for text in texts}
    assert kinds == {"absent", "null", "{}", '{"type":"'}


def test_a_mixed_topic_has_every_format(outcomes: Mapping[str, Outcome]) -> None:
    """The systems of the mixed topic are all there are, each in every encoding."""
    found = Counter(
        cw.detect(record.value or b"") for record in read(str(ROOT / "mixed" / "topic.parquet"))
    )
    assert found.keys() == {None, *PACKAGES}
    assert min(found.values()) == len(mixed.STRANGERS) + 1
    assert outcomes["mixed"].format == AUTO
