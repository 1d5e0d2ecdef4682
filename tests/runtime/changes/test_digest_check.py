"""Digests of records, compared with set and user key where that is asked for."""

import json
import sys
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.msgpack import encode

import changewire as cw
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.merge.land import land
from changewire.engines.options import FileRun

USER_KEYS = (
    st.integers(-(2**63), 2**63 - 1) | st.text() | st.floats(allow_nan=False, allow_infinity=False)
)
OTHER = bytes(20)


def from_json(digest: bytes, set_name: str | None, user_key: Any, op: str = "write") -> Any:
    """Return the model of a message in JSON."""
    key = ["ns", set_name, b64encode(digest).decode(), user_key]
    message: dict[str, Any] = {"msg": op, "key": key}
    if op == "write":
        message |= {"gen": 1, "exp": 0, "lut": 1617167159548, "bins": []}
    return cw.decode(json.dumps(message), format="aerospike-json")


def from_msgpack(digest: bytes, set_name: str | None, user_key: Any, op: str = "write") -> Any:
    """Return the model of a message in MessagePack; a delete in its legacy form."""
    key = ["ns", set_name, digest, user_key]
    message = [1, 1, [key, 1, 0, 5, []]] if op == "write" else [1, 2, [key, 1]]
    return cw.decode(encode(message), format="aerospike-msgpack")


FORMS = pytest.mark.parametrize("form", [from_json, from_msgpack])


def leniencies(message: Any) -> list[str]:
    """Return the leniencies of the change of a message whose digest is compared."""
    (change,) = cw.changes(message, check_digests="warn")
    found: list[str] = change.attributes.get("leniencies", [])
    return found


@FORMS
@given(set_name=st.none() | st.text(min_size=1), user_key=USER_KEYS)
def test_the_digest_of_set_and_user_key_is_accepted(
    form: Any, set_name: str | None, user_key: Any
) -> None:
    """A record whose digest is that of its set and user key is as without the option."""
    message = form(cw.digest(set_name, user_key), set_name, user_key)
    assert cw.changes(message, check_digests="reject") == cw.changes(message)
    assert leniencies(message) == []


@FORMS
@pytest.mark.parametrize(("op", "set_name"), [("write", None), ("write", "s"), ("delete", "s")])
def test_another_digest_is_counted(form: Any, op: str, set_name: str | None) -> None:
    """A record with another digest needs a leniency where it is to be counted."""
    assert leniencies(form(OTHER, set_name, "key", op)) == ["digest-mismatch"]


@FORMS
def test_nobody_looks_unless_asked(form: Any) -> None:
    """Without the option no digest is computed."""
    (change,) = cw.changes(form(OTHER, "s", "key"))
    assert "leniencies" not in change.attributes


@pytest.mark.parametrize(("form", "key"), [(from_json, "/key"), (from_msgpack, "/2/0")])
def test_another_digest_is_refused_with_both_places(form: Any, key: str) -> None:
    """The refusal is at the digest, and names the places of set and user key."""
    with pytest.raises(cw.DecodeError) as refused:
        cw.changes(form(OTHER, "s", "key"), check_digests="reject")
    assert (refused.value.code, refused.value.pointer) == ("digest-mismatch", f"{key}/2")
    assert refused.value.expected.endswith(f"at {key}/1 and {key}/3")
    assert refused.value.actual == OTHER


@FORMS
@pytest.mark.parametrize(
    ("op", "set_name", "user_key"), [("write", "s", None), ("delete", None, "key")]
)
def test_what_cannot_be_told_is_not_looked_at(
    form: Any, op: str, set_name: str | None, user_key: str | None
) -> None:
    """Without user key, or in a delete without set, nothing says what the digest should be."""
    message = form(OTHER, set_name, user_key, op)
    assert cw.changes(message, check_digests="reject") == cw.changes(message)


@given(st.binary())
def test_text_in_json_may_stand_for_bytes(data: bytes) -> None:
    """A user key of bytes is Base64 text in JSON; in MessagePack text is text."""
    digest, text = cw.digest("s", data), b64encode(data).decode()
    assert leniencies(from_json(digest, "s", text)) == []
    assert leniencies(from_msgpack(digest, "s", data)) == []
    assert leniencies(from_msgpack(digest, "s", text)) == ["digest-mismatch"]


def test_a_topic_is_counted_or_refused(tmp_path: Path) -> None:
    """In a run mismatches are leniencies of the report, or dead letters with their code."""
    messages = [from_json(digest, "s", 1) for digest in (cw.digest("s", 1), OTHER)]
    (tmp_path / "in").write_bytes(b"\n".join(map(cw.encode, messages)))
    found = {}
    for digests in ("off", "warn", "reject"):
        decode_options = DecodeOptions("aerospike-json", check_digests=digests)
        out = str(tmp_path / digests)
        counts = land([str(tmp_path / "in")], out, FileRun(decode_options)).counts
        found[digests] = (counts.changes, counts.leniencies, counts.by_error_code)
    assert found == {
        "off": (2, {}, {}),
        "warn": (2, {"digest-mismatch": 1}, {}),
        "reject": (1, {}, {"digest-mismatch": 1}),
    }


@pytest.mark.parametrize("format", ["dataworks-json", "lindorm-json"])
def test_only_aerospike_has_digests(format: str) -> None:
    """For rows of other systems the option is refused before the first message."""
    with pytest.raises(
        ValueError,
        match=r"check_digests does not apply to .*: it is for aerospike-flat-json, aerospike-json,",
    ):
        DecodeOptions(format, check_digests="warn")
    unknown: Any = "maybe"
    with pytest.raises(ValueError, match="there are: off, warn, reject"):
        DecodeOptions("aerospike-json", check_digests=unknown)


def test_a_missing_library_is_named_before_the_first_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without the extra, the error says what to install; without the option it is not needed."""
    monkeypatch.setitem(sys.modules, "Crypto.Hash", None)
    DecodeOptions("aerospike-json")
    with pytest.raises(ImportError, match=r'pip install "\./changewire\[digest\]"'):
        DecodeOptions("aerospike-json", check_digests="reject")
