"""Objects whose tag stands behind other fields: the kernel foresees it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from itertools import permutations
from typing import Any

import pytest
from tests.native.differential import batch_of, compare, needs_kernel
from tests.runtime.codec.formats import JSON_FORMATS

from changewire.changes.decode_options import DecodeOptions

pytestmark = needs_kernel

OPTIONS = {
    "dataworks-json": DecodeOptions("dataworks-json"),
    "lindorm-json": DecodeOptions("lindorm-json", key_columns=["id"]),
}
DECOYS = [
    "INSERT",
    "UPDATE_AFTER",
    "DELETE",
    "HEARTBEAT",
    "c",
    "u",
    "d",
    "r",
    "other",
    "",
    1,
    None,
]


@pytest.mark.parametrize("format", OPTIONS)
def test_tag_at_any_place(format: str) -> None:
    """Fields of the payload are read in any order."""
    message = json.loads(JSON_FORMATS[format].good)
    payload = message["payload"]
    orders = permutations(payload) if len(payload) < 6 else _moved([*payload])
    values = [
        _text({**message, "payload": {name: payload[name] for name in order}}) for order in orders
    ]
    assert len(values) > len(payload)
    assert compare(batch_of(values), OPTIONS[format]).declined == 0


def test_a_known_text_with_escapes() -> None:
    """Text that a leniency compares may be written with escapes: Python reads such a message."""
    message = json.loads(JSON_FORMATS["lindorm-json"].good)
    message["payload"]["source"]["version"] = "v1.0"
    value = _text(message)
    assert value.count(b'"v1.0"') == 1
    values = [value, value.replace(b"v1.0", rb"v1\u002e0"), value.replace(b"v1.0", b"v9")]
    assert compare(batch_of(values), OPTIONS["lindorm-json"]).declined == 1


@pytest.mark.parametrize("format", OPTIONS)
def test_what_looks_like_the_tag(format: str) -> None:
    """A column of a row, or an unknown property, may have the name of the tag, and any value."""
    message = json.loads(JSON_FORMATS[format].good)
    payload = message["payload"]
    last = {name: value for name, value in payload.items() if name != "op"} | {"op": payload["op"]}
    values = []
    for decoy in DECOYS:
        for name in ("before", "after"):
            if payload.get(name):
                held = deepcopy(payload[name])
                held.get("dataColumn", held)["op"] = decoy
                values.append(_text({**message, "payload": {**last, name: held}}))
        values.append(_text({"op": decoy, **message, "payload": last}))
        values.append(_text({**message, "payload": last, "op": decoy}))
        values.append(_text({**message, "payload": {**last, "op": decoy}}))
        values.append(_text({**message, "payload": {"op": decoy, "ts": last}}))
    found = compare(batch_of(values), OPTIONS[format])
    assert found.share > 0.5


@pytest.mark.parametrize("format", OPTIONS)
def test_two_tags(format: str) -> None:
    """A tag that stands twice, or after what is no object, leads to the rows of Python."""
    good = JSON_FORMATS[format].good
    op = json.dumps(json.loads(good)["payload"]["op"]).encode()
    spellings = [b'"op":' + op, b'"op" : ' + op, b'"\\u006fp":' + op, b'"op":"other"', b'"op":1']
    values = [
        good.replace(b'"payload":{', b'"payload":{' + spelling + b",", 1) for spelling in spellings
    ]
    values += [good.replace(b'"op":' + op, spelling) for spelling in spellings]
    compare(batch_of(values), OPTIONS[format])


def _moved(names: list[str]) -> Iterator[tuple[str, ...]]:
    """Yield the names with each of them at each place."""
    for name in names:
        others = [other for other in names if other != name]
        for place in range(len(names)):
            yield (*others[:place], name, *others[place:])


def _text(message: Any) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode()
