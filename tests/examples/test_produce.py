"""The producer of example messages keeps back what readers would refuse, unless told not to."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from examples.demo_stream.audit import read
from examples.produce import checked, records_of
from tests.samples import examples

ROOT = Path(__file__).parents[2]


def produce(kafka: str, topic: str, *words: str, given: str = "") -> tuple[int, list[str]]:
    """Run the producer; return its exit code and what it said."""
    program = [sys.executable, "-m", "examples.produce", kafka, topic, *words]
    done = subprocess.run(
        program,
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        cwd=ROOT,
        encoding="utf-8",
        timeout=120,
    )
    return done.returncode, done.stdout.splitlines()


def test_messages_that_are_refused_stay_back(kafka: str) -> None:
    """The topic is made and gets the good message; the bad one is told with its reason."""
    good = json.dumps(examples("write")[0])
    bad = json.dumps({**examples("write")[0], "gen": "1"})
    code, said = produce(kafka, "checked", "-", given=f"{good}\n{bad}\n")
    reason = "at /gen: expected integer or null, found string (wrong-type)"
    assert said == [
        f"-, record 1: aerospike-json, value: {reason}",
        "1 messages sent to checked, 1 rejected, 0 unsent",
    ]
    assert code == 1
    assert [record.value for record in read(kafka, "checked")] == [good.encode()]


def test_the_format_is_detected(tmp_path: Path) -> None:
    """Messages of several formats pass, those of none are refused; a named format is kept to."""
    lindorm = ROOT / "examples" / "lindorm_json" / "document.jsonl"
    files = [ROOT / "examples" / "aerospike_json" / "document.jsonl", lindorm]
    (tmp_path / "none.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    # An empty batch says no format.
    every = [record for record in records_of(map(str, files)) if record.value != b"[]"]
    known = list(checked(every, "aerospike-json", print)) + list(records_of([str(lindorm)]))
    unknown = list(records_of([str(tmp_path / "none.jsonl")]))
    refused: list[str] = []
    assert list(checked([*every, *unknown], "auto", refused.append)) == known
    assert len(refused) == len(every) + 1 - len(known)
    assert "record 0: unknown: expected a message of aerospike-flat-json, " in refused[-1]
    passed = list(checked(known, "lindorm-json", print))
    assert passed == list(records_of([str(lindorm)]))


def test_unchecked_sends_all(kafka: str, tmp_path: Path) -> None:
    """A producer that knows no schema sends a topic what it is given, of several files."""
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for file in files:
        file.write_text('{"msg": "nothing"}\n', encoding="utf-8")
    code, said = produce(kafka, "unchecked", "--unchecked", *map(str, files))
    assert (code, said) == (0, ["2 messages sent to unchecked, 0 rejected, 0 unsent"])
    assert len(list(read(kafka, "unchecked"))) == 2


def test_a_file_that_is_not_there_is_one_sentence(kafka: str) -> None:
    """No traceback: what is missing, and that nothing more is sent."""
    code, said = produce(kafka, "nothing", "absent.jsonl")
    assert code == 1
    assert said == [
        "nothing more is sent: absent.jsonl: there is no such file or folder; check the path"
    ]
