"""The example messages are those that their script makes, and hold what they promise."""

import gzip
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from examples.make_messages import FOLDER, files
from examples.making.damages import DAMAGES, GOOD

import changewire as cw
from changewire.changes.reading import Reading
from changewire.engines.outcome import Outcome
from changewire.engines.python import run
from changewire.framing import expand
from changewire_messages import aerospike_json
from changewire_messages.aerospike_json import models as wire

FILES = files()


@pytest.fixture(scope="module", name="outcome")
def run_examples(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Decode all files, by the engine without Spark."""
    output = str(tmp_path_factory.mktemp("output"))
    return run(expand([str(FOLDER)]), output, reading=Reading("aerospike-json"))


def test_the_committed_files_are_all_files() -> None:
    """No file is missing, none is left over."""
    assert {path.name for path in FOLDER.iterdir()} == set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_the_script_makes_the_committed_files(name: str) -> None:
    """The files are reproducible; compressed ones in what they hold, for libraries differ."""
    assert content(name, FILES[name]) == content(name, (FOLDER / name).read_bytes())


def content(name: str, data: bytes) -> object:
    """Return what a file says, whatever compressed it."""
    if name.endswith(".parquet"):
        return pq.read_table(io.BytesIO(data)).to_pylist()
    return gzip.decompress(data) if name.endswith(".gz") else data


def test_two_runs_make_the_same_files() -> None:
    """Nothing depends on what was made before in the same process."""
    assert files() == FILES


def test_the_files_are_small() -> None:
    """All of them together stay below three megabytes."""
    assert sum(map(len, FILES.values())) < 3 * 2**20


def test_there_are_enough_messages(outcome: Outcome) -> None:
    """Two thousand messages at least, of which some are batches and some hold nothing."""
    counts = outcome.counts
    assert counts.messages >= 2000
    assert counts.elements > counts.messages
    assert counts.by_operation.keys() == {"upsert", "delete", "empty"}


def test_every_damaged_message_is_refused_for_its_reason(outcome: Outcome) -> None:
    """Twenty-five dead letters of at least ten codes, and no other."""
    codes = Counter(code for code, _ in DAMAGES)
    assert codes.total() == outcome.counts.dead_letters == 25
    assert outcome.counts.by_error_code == codes
    assert len(codes) >= 10


def test_the_message_that_is_damaged_is_good() -> None:
    """A damage is what makes a message bad, nothing else."""
    assert not cw.validate(GOOD, format="aerospike-json")


def test_every_leniency_is_used(outcome: Outcome) -> None:
    """Each way in which real messages differ from the document occurs."""
    source = Path(aerospike_json.__file__).with_name("leniencies.py").read_text(encoding="utf-8")
    names = {line.split('"')[1] for line in source.splitlines() if "used.append(" in line}
    assert outcome.counts.leniencies.keys() == names


def test_every_variant_and_bin_type_occurs() -> None:
    """Each model of a message and of a bin is the model of an example."""
    bins = {type(item).__name__ for model in messages() for item in getattr(model, "bins", ())}
    named = {name for name in wire.__all__ if name.endswith("Bin") and name != "Bin"}
    assert bins == named
    assert {type(model).__name__ for model in messages()} == {"Write", "Delete"}


def test_every_shape_of_version_occurs() -> None:
    """Generation, expiry and update time are null, zero and set; deletes may leave them out."""
    shapes = {
        (type(model).__name__, name, shape(getattr(model, name)))
        for model in messages()
        for name in ("gen", "exp", "lut")
    }
    assert shapes >= {
        ("Write", n, s) for n in ("gen", "exp", "lut") for s in ("NoneType", "zero", "int")
    }
    assert shapes >= {("Delete", n, s) for n in ("gen", "lut") for s in ("UnsetType", "int")}


def shape(value: object) -> str:
    """Tell zero from other integers, and null from nothing."""
    return "zero" if value == 0 else type(value).__name__


def messages() -> Iterator[aerospike_json.Message]:
    """Yield the messages of the files in which each line, or element, is one."""
    lines = b"\n".join(FILES[name] for name in ("document.jsonl", "users.jsonl")).splitlines()
    devices = [line.rstrip(b",") for line in FILES["devices.json"].splitlines()[1:-1]]
    readings = pq.read_table(io.BytesIO(FILES["readings.parquet"])).column("value").to_pylist()
    for data in [*lines, *devices, *readings]:
        found = cw.decode_all(data or b"[]", format="aerospike-json")
        yield from (model for model in found if not isinstance(model, cw.Rejection))
