"""The package of a format by itself: its functions do what the codec does, without the runtime."""

from __future__ import annotations

import math
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.msgpack import Ext
from tests.runtime.codec.formats import (
    FORMATS,
    Refused,
    golden,
    name_of,
    role_of,
    wire_of,
)

import changewire as cw
from changewire_messages import FORMATS as PACKAGES
from changewire_messages import aerospike_msgpack, dataworks_json
from changewire_messages.messages import MessageError


def read(name: str, path: Path, data: bytes) -> Any:
    """Return what the package of a format makes of a file of the corpus."""
    package = import_module(PACKAGES[name])
    return package.decode(data, package.ROLES[role_of(path)])


@pytest.mark.parametrize(("name", "path"), golden("valid"), ids=name_of)
def test_models_and_bytes_are_those_of_the_codec(name: str, path: Path) -> None:
    """The package makes the codec's models and bytes; it refuses only long forms in MessagePack."""
    form, data = FORMATS[name], wire_of(path)
    expected = form.read(data, role_of(path))
    try:
        model = read(name, path, data)
    except MessageError:
        assert name == "aerospike-msgpack"
        assert form.codec.encode(expected) != data or b"\xff" in data
        return
    assert model == expected or repr(model) == repr(expected)
    assert import_module(PACKAGES[name]).encode(model) == form.codec.encode(expected)


@pytest.mark.parametrize(("name", "path"), golden("invalid"), ids=name_of)
def test_what_the_codec_refuses_is_refused(name: str, path: Path) -> None:
    """The package accepts no message that the codec refuses, and names the same places."""
    form, data = FORMATS[name], wire_of(path)
    with pytest.raises((cw.DecodeError, Refused)):
        form.read(data, role_of(path))
    with pytest.raises(MessageError) as refused:
        read(name, path, data)
    assert refused.value.issues
    assert ": expected " in str(refused.value)


def test_a_model_with_a_wrong_value_is_not_encoded() -> None:
    """A value of another type than its schema has is refused with its place, and is not shown."""
    example = b"""{"schema": {}, "version": "1", "payload": {"op": "MHEARTBEAT", "before": null,
        "timestamp": {"eventTime": 5}}}"""
    message = dataworks_json.decode(example)
    broken = type(message)(schema_text=message.schema_text, payload=message.payload, version=7)
    with pytest.raises(MessageError, match="/version: type: expected string, found int"):
        dataworks_json.encode(broken)
    with pytest.raises(MessageError, match="expected a model of a message, found object"):
        dataworks_json.encode(object())


@pytest.mark.parametrize("values", [[math.nan, Ext(7, b"x")], [{math.nan: Ext(7, b"x")}]])
def test_what_equals_nothing_is_encoded_beside_extensions(values: list[object]) -> None:
    """NaN is written as it was read, whatever is next to it; a value of another type is not."""
    key = ["n", None, b"abcdefghijklmnopqrst", None]
    data = msgspec.msgpack.encode([1, 1, [key, 1, 0, 1767225600000, [["a", 20, 0, values]]]])
    model: Any = aerospike_msgpack.decode(data)
    assert aerospike_msgpack.encode(model) == data
    payload = msgspec.structs.replace(model.payload, bins=tuple(model.payload.bins))
    with pytest.raises(MessageError, match="values that keep their type"):
        aerospike_msgpack.encode(msgspec.structs.replace(model, payload=payload))


def test_errors_of_a_parsed_message() -> None:
    """The package reports every issue of a parsed message, unknown properties if asked."""
    parsed = {"schema": {}, "payload": {"op": "QUERY", "timestamp": {"eventTime": 5}}, "x": 1}
    assert [issue[0] for issue in dataworks_json.errors(parsed)] == ["/version"]
    assert [issue[0] for issue in dataworks_json.errors(parsed, strict=True)] == ["/version", "/x"]


def test_the_package_needs_no_runtime() -> None:
    """Reading and writing messages by the package loads nothing of changewire itself."""
    program = (
        "import sys\nfrom changewire_messages import dataworks_json as d\n"
        'm = d.decode(b\'{"schema":{},"version":"1","new":1,"payload":{"op":"GTID",'
        '"timestamp":{"eventTime":5}}}\')\n'
        "assert d.decode(d.encode(m)) == m and m.extra == {'/new': 1}\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "assert not loaded & {'changewire', 'msgpack', 'pyarrow'}\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
