"""What conversion loses: refused unless allowed, and then told."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgpack
import pytest
from tests.runtime.convert.messages import (
    JSON,
    MSGPACK,
    packed,
    packed_delete,
    text,
    text_delete,
    to_json,
    to_msgpack,
)

import changewire as cw
from changewire.convert import aerospike
from changewire.convert.report import LOSSES, Report

BYTES = b"\x00\xff"
EXT = msgpack.ExtType(18, BYTES)
NAN = float("nan")


def in_list(value: Any) -> bytes:
    """Return a write with a list that holds a value."""
    return packed(["b", 20, 0, [value]])


TO_JSON = [
    ("bytes", in_list(BYTES), "/2/4/0/3/0", ["AP8="]),
    ("ext", in_list(EXT), "/2/4/0/3/0", ["AP8="]),
    ("ext", in_list(msgpack.ExtType(23, b"no JSON")), "/2/4/0/3/0", ["bm8gSlNPTg=="]),
    ("non-finite", in_list(NAN), "/2/4/0/3/0", ["NaN"]),
    ("map-key", packed(["b", 19, 0, {7: 1}]), "/2/4/0/3/7", {"7": 1}),
    ("map-key", in_list({BYTES: 1}), "/2/4/0/3/0/b'\\x00\\xff'", [{"AP8=": 1}]),
    ("map-key", in_list({True: 1}), "/2/4/0/3/0/True", [{"true": 1}]),
    ("map-key", in_list({None: 1}), "/2/4/0/3/0/None", [{"null": 1}]),
    ("map-key", in_list({(1, "a"): 1}), "/2/4/0/3/0/(1, 'a')", [{'[1,"a"]': 1}]),
    ("flags", packed(["b", 3, 4, "x"]), "/2/4/0/2", "x"),
    ("geojson", packed(["b", 23, 0, "[1]"]), "/2/4/0/3", "[1]"),
    *[("particle-type", packed(["b", t, 0, BYTES]), "/2/4/0/1", "AP8=") for t in range(7, 13)],
    ("particle-type", packed(["b", 18, 0, BYTES]), "/2/4/0/1", "AP8="),
]


@pytest.mark.parametrize(("rule", "data", "pointer", "value"), TO_JSON)
def test_losses_of_json(rule: str, data: bytes, pointer: str, value: Any) -> None:
    """Each loss refuses the message; where it is allowed it is told, and the value is text."""
    with pytest.raises(cw.EncodeError) as caught:
        to_json(data)
    assert [(i.code, i.rule, i.pointer) for i in caught.value.issues] == [("lossy", rule, pointer)]
    losses: list[cw.Issue] = []
    found = to_json(data, lossy=True, on_loss=losses.append)
    assert [repr(loss) for loss in losses] == [repr(issue) for issue in caught.value.issues]
    assert found["bins"][0]["value"] == value


@pytest.mark.parametrize(
    ("rule", "value", "shown"), [("user-key", BYTES, "AP8="), ("non-finite", NAN, "NaN")]
)
def test_user_keys(rule: str, value: Any, shown: str) -> None:
    """A user key that JSON cannot tell from text is a loss."""
    with pytest.raises(cw.EncodeError) as caught:
        to_json(packed(user_key=value))
    assert (caught.value.issues[0].rule, caught.value.pointer) == (rule, "/2/0/3")
    assert to_json(packed(user_key=value), lossy=True)["key"][3] == shown


@pytest.mark.parametrize("parts", [(3,), (3, None, None, None)])
def test_flags_of_deletes(parts: tuple[Any, ...]) -> None:
    """A flag of a delete that the document does not define has no property in JSON."""
    with pytest.raises(cw.EncodeError) as caught:
        to_json(packed_delete(*parts))
    assert (caught.value.issues[0].rule, caught.value.pointer) == ("flags", "/2/1")
    assert to_json(packed_delete(*parts), lossy=True)["durable"] is True


def test_losses_of_msgpack() -> None:
    """MessagePack has no place for unknown properties, nor for a tombstone that is not known."""
    with pytest.raises(cw.EncodeError) as caught:
        to_msgpack(text_delete(**{"a/b": 1}))
    found = [(issue.rule, issue.pointer) for issue in caught.value.issues]
    assert found == [("unknown-property", "/a~1b"), ("durable", "/durable")]
    assert to_msgpack(text_delete(x=1), lossy=True) == packed_delete(0, None, None, None)


def test_unknown_properties_of_bins() -> None:
    """The pointer of a loss leads to a property however deep it stands."""
    item = {"name": "b", "type": "str", "value": "x", "srcId": 1}
    with pytest.raises(cw.EncodeError) as caught:
        to_msgpack(text(item))
    assert caught.value.pointer == "/bins/0/srcId"


def test_all_losses_of_a_batch_are_listed() -> None:
    """One error names every loss of every element, by its place in the batch."""
    batch = b"\x92" + in_list(BYTES) + packed(["b", 7, 1, b""])
    with pytest.raises(cw.EncodeError) as caught:
        to_json(batch)
    places = [issue.pointer for issue in caught.value.issues]
    assert places == ["/0/2/4/0/3/0", "/1/2/4/0/1", "/1/2/4/0/2"]
    assert caught.value.format == JSON


def test_losses_need_no_listener() -> None:
    """Who allows losses need not ask for them."""
    assert to_json(in_list(BYTES), lossy=True)["bins"][0]["value"] == ["AP8="]


def test_listed_losses_are_bounded() -> None:
    """A hostile message has no longer error than 1,000 issues; a listener hears all."""
    data = packed(["b", 20, 0, [b""] * 5000])
    with pytest.raises(cw.EncodeError) as caught:
        to_json(data)
    losses: list[cw.Issue] = []
    to_json(data, lossy=True, on_loss=losses.append)
    assert (len(caught.value.issues), len(losses)) == (1000, 5000)


@pytest.mark.parametrize(
    ("code", "pointer", "data"),
    [
        ("duplicate-key", "/2/4/0/3/1", packed(["b", 19, 0, {"1": 0, 1: 0}])),
        ("not-encodable", "/2/4/0/1", packed(["b", 16, 0, [1.0]])),
        ("not-encodable", "/2/4/0/1", packed(["b", 0, 0, None])),
    ],
)
def test_what_json_never_takes(code: str, pointer: str, data: bytes) -> None:
    """Keys that are the same as text, and types without a word, are refused always."""
    losses: list[cw.Issue] = []
    with pytest.raises(cw.EncodeError) as caught:
        to_json(data, lossy=True, on_loss=losses.append)
    assert [(issue.code, issue.pointer) for issue in caught.value.issues] == [(code, pointer)]
    assert losses == []


@pytest.mark.parametrize(
    ("pointer", "item"),
    [
        ("/bins/0/type", {"type": "hll", "value": "AAEC"}),
        ("/bins/0/value/1/a", {"type": "list", "value": [1, {"a": 2**64}]}),
        ("/bins/0/value/a", {"type": "map", "value": {"a": -(2**63) - 1}}),
    ],
)
def test_what_msgpack_never_takes(pointer: str, item: dict[str, Any]) -> None:
    """Type words without a number, and integers beyond 64 bits, are refused always."""
    with pytest.raises(cw.EncodeError) as caught:
        to_msgpack(text({"name": "b", **item}), lossy=True)
    assert (caught.value.code, caught.value.pointer) == ("not-encodable", pointer)
    assert caught.value.format == MSGPACK


def test_the_page_names_every_loss() -> None:
    """The table of losses in the documentation is the one in the code."""
    page = (Path(__file__).parents[3] / "docs" / "guides" / "python.md").read_text(encoding="utf-8")
    page = page.partition("## Convert")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE) == sorted(LOSSES)


def test_values_stay_out_of_the_text() -> None:
    """The text of the error names the type of what would be lost, not the value."""
    with pytest.raises(cw.EncodeError) as caught:
        to_json(in_list(b"secret"))
    assert "found bytes (lossy)" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_message_that_only_one_format_has_is_refused() -> None:
    """A variant without a counterpart cannot be converted, and the refusal says where it is."""
    report = Report()
    assert aerospike.to_msgpack(object(), ((), 3), report) is None
    assert aerospike.to_json(object(), (), report) is None
    with pytest.raises(cw.EncodeError) as caught:
        report.check("aerospike-msgpack", lossy=True)
    assert [(i.pointer, i.code) for i in caught.value.issues] == [
        ("/3", "not-encodable"),
        ("", "not-encodable"),
    ]
    assert caught.value.issues[0].expected == "a message that both formats have"
