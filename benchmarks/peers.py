"""What others do with the same messages: parse, validate, build models, write."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any, Literal

import jsonschema
import jsonschema_rs
import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from benchmarks.messages import schema

Read = Callable[[bytes], object]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class _Named(_Strict):
    name: str


class _Str(_Named):
    type: Literal["str"]
    value: str


class _Bool(_Named):
    type: Literal["bool"]
    value: bool


class _Int(_Named):
    type: Literal["int"]
    value: Annotated[int, Field(ge=-(2**63), lt=2**63)]


class _Float(_Named):
    type: Literal["float"]
    value: float | Literal["NaN", "Infinity", "-Infinity"]


class _Blob(_Named):
    type: Literal["blob"]
    value: str


class _List(_Named):
    type: Literal["list"]
    value: list[Any]
    ordered: bool | None = None


class _Map(_Named):
    type: Literal["map"]
    value: dict[str, Any]
    order: Literal["key", "key-value"] | None = None


class _Geojson(_Named):
    type: Literal["geojson"]
    value: dict[str, Any]


_Bin = Annotated[
    _Str | _Bool | _Int | _Float | _Blob | _List | _Map | _Geojson, Field(discriminator="type")
]
_Key = tuple[
    str, str | None, Annotated[str, Field(min_length=28, max_length=28)], int | float | str | None
]
_Count = Annotated[int, Field(ge=0)]


class _Write(_Strict):
    msg: Literal["write"]
    key: _Key
    gen: _Count | None
    exp: int | None
    lut: _Count | None
    bins: list[_Bin]


class _Delete(_Strict):
    msg: Literal["delete"]
    key: _Key
    durable: bool | None = None
    gen: _Count | None = None
    exp: int | None = None
    lut: _Count | None = None


PYDANTIC = TypeAdapter[Any](Annotated[_Write | _Delete, Field(discriminator="msg")])


def readers() -> dict[str, Read]:
    """Return what reads bytes, by name; all but the bare parsers also validate."""
    message = schema("Message")
    slow = jsonschema.Draft202012Validator(message)
    fast = jsonschema_rs.Draft202012Validator(message)

    def json_jsonschema(data: bytes) -> object:
        slow.validate(value := json.loads(data))
        return value

    def orjson_jsonschema_rs(data: bytes) -> object:
        fast.validate(value := orjson.loads(data))
        return value

    return {
        "orjson (parse only)": orjson.loads,
        "json (parse only)": json.loads,
        "orjson + jsonschema-rs": orjson_jsonschema_rs,
        "pydantic, strict": PYDANTIC.validate_json,
        "json + jsonschema": json_jsonschema,
    }


def writers(message: dict[str, Any]) -> dict[str, Callable[[], bytes]]:
    """Return what writes the message, by name; all but the bare writers also validate."""
    schema_of = schema("Message")
    slow = jsonschema.Draft202012Validator(schema_of)
    fast = jsonschema_rs.Draft202012Validator(schema_of)
    model = PYDANTIC.validate_python(message, strict=False)

    def jsonschema_json() -> bytes:
        slow.validate(message)
        return json.dumps(message).encode()

    def jsonschema_rs_orjson() -> bytes:
        fast.validate(message)
        return orjson.dumps(message)

    return {
        "orjson (write only)": lambda: orjson.dumps(message),
        "json (write only)": lambda: json.dumps(message).encode(),
        "jsonschema-rs + orjson": jsonschema_rs_orjson,
        "pydantic (write only)": lambda: PYDANTIC.dump_json(model),
        "jsonschema + json": jsonschema_json,
    }


def refusals(data: bytes) -> dict[str, Callable[[], object]]:
    """Return what lists every error of a broken message, by name."""
    message = schema("Message")
    slow = jsonschema.Draft202012Validator(message)
    fast = jsonschema_rs.Draft202012Validator(message)

    def pydantic_errors() -> object:
        try:
            return PYDANTIC.validate_json(data)
        except ValueError as error:
            return str(error)

    return {
        "orjson + jsonschema-rs": lambda: list(fast.iter_errors(orjson.loads(data))),
        "pydantic, strict": pydantic_errors,
        "json + jsonschema": lambda: list(slow.iter_errors(json.loads(data))),
    }
