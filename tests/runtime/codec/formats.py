"""Every format as the tests of the codec see it: one test body serves them all."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from tests.runtime.codec.encodings import ENCODINGS, Encoding

import changewire as cw
from changewire_messages import ENCODINGS as WRITTEN_IN
from changewire_messages import FORMATS as PACKAGES
from changewire_messages.bundles import schema_of

modest = settings(
    deadline=None,
    max_examples=40,
    suppress_health_check=[
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
    ],
)
"""For tests that draw whole messages, which are large."""

thorough = settings(modest, max_examples=100)
"""For tests that look for a rare disagreement."""

CORPUS = Path(__file__).parents[2] / "corpus"
Json = Any


@dataclass(frozen=True)
class Format:
    """A format, and what only it can tell the tests.

    Attributes:
        name: public name of the format.
    """

    name: str

    @property
    def codec(self) -> cw.Codec:
        """The codec of the format."""
        return cw.codec(self.name)

    @property
    def encoding(self) -> Encoding:
        """How the messages of the format are written."""
        return ENCODINGS[import_module(PACKAGES[self.name]).ENCODING]

    @property
    def is_exact(self) -> bool:
        """Whether numbers that binary64 cannot hold are decimals."""
        exact: bool = import_module(PACKAGES[self.name]).EXACT
        return exact

    @property
    def roles(self) -> Mapping[str, str]:
        """Title of the schema for each part of a Kafka record."""
        roles: Mapping[str, str] = import_module(PACKAGES[self.name]).ROLES
        return roles

    @property
    def folder(self) -> str:
        """Name of the folder of the format, in the corpus as in the schemas."""
        return PACKAGES[self.name].rpartition(".")[2]

    def strategy(self, role: str, *, broken: bool = False) -> Any:
        """Return the strategy for parsed messages in a role, valid ones or broken ones."""
        title = _snake(self.roles[role])
        return _strategy(PACKAGES[self.name], f"broken_{title}" if broken else title)

    def schema(self, role: str) -> dict[str, Any]:
        """Return the bundled schema of a role."""
        return schema_of(PACKAGES[self.name], self.roles[role])

    def errors(self, obj: Json, role: str) -> list[Any]:
        """Return what the generated validator says of a parsed message."""
        validators = import_module(f"{PACKAGES[self.name]}.validators")
        issues: list[Any] = validators.errors(obj, self.roles[role])
        return issues

    def read(self, data: Any, role: str) -> Any:
        """Return what the codec makes of bytes in a role; raise the error of the first rejection.

        Raises:
            cw.DecodeError: A message or a key is refused.
            Refused: An element of a batch is refused.
        """
        if role == "batch":
            elements = self.codec.decode_all(data)
            for element in elements:
                if isinstance(element, cw.Rejection):
                    raise Refused(element)
            return elements
        return self.codec.decode(data) if role == "message" else self.codec.decode_key(data)

    def golden(self, kind: str) -> list[Path]:
        """Return the files of the corpus, ``valid`` or ``invalid``."""
        paths = (CORPUS / self.folder / kind).iterdir()
        return sorted(path for path in paths if path.suffix != ".txt")


@dataclass(frozen=True)
class JsonFormat(Format):
    """A format in JSON: its objects are open, and its messages are text."""

    def objects(self, message: Json) -> list[dict[str, Any]]:
        """Return the objects of a parsed message that may have properties without a name.

        The message itself is the first, unless each property at its root has a meaning.
        """
        inner = INNER.get(self.name)
        own = [] if self.codec.is_flat else [message]
        return [*own, *(inner(message) if inner else ())]

    @property
    def good(self) -> bytes:
        """A message that holds the list ``[1]`` where any value may stand."""
        if self.name in WITH_LIST:
            return WITH_LIST[self.name]
        found = (path.read_bytes() for path in self.golden("valid") if role_of(path) == "message")
        return next(data for data in found if b"[1]" in data)


class Refused(Exception):  # noqa: N818 - it reads as what happened
    """An element of a batch became a rejection, where a model was asked for."""


def _aerospike_objects(message: Json) -> list[dict[str, Any]]:
    bins: list[dict[str, Any]] = message.get("bins", [])
    return bins


def _flat_objects(message: Json) -> list[dict[str, Any]]:
    found = [value for value in message.values() if isinstance(value, dict)]
    return [one for one in found if {"msg", "namespace", "digest"} <= one.keys()][:1]


def _lindorm_objects(message: Json) -> list[dict[str, Any]]:
    payloads = [message["payload"]] if "payload" in message else []
    return [*payloads, message.get("payload", message)["source"]]


def _dataworks_objects(message: Json) -> list[dict[str, Any]]:
    payload = message["payload"]
    inner = [payload.get(name) for name in ("before", "after", "timestamp", "ddl")]
    known = payload["op"] in DATAWORKS_OPERATIONS
    return [payload, *(one for one in inner if known and one)]


DATAWORKS_OPERATIONS = frozenset(
    {
        *("INSERT", "UPDATE_BEFOR", "UPDATE_BEFORE", "UPDATE_AFTER", "DELETE", "MHEARTBEAT"),
        *("CREATE", "ALTER", "ERASE", "RENAME", "CINDEX", "DINDEX", "TRUNCATE", "QUERY"),
        *("TRANSACTION_BEGIN", "TRANSACTION_END", "GTID", "XACOMMIT", "XAROLLBACK"),
    }
)

INNER: Mapping[str, Callable[[Json], list[dict[str, Any]]]] = {
    "aerospike-flat-json": _flat_objects,
    "aerospike-json": _aerospike_objects,
    "dataworks-json": _dataworks_objects,
    "lindorm-json": _lindorm_objects,
}
"""For formats whose messages hold open objects, what returns them."""

WITH_LIST: Mapping[str, bytes] = {
    "aerospike-flat-json": (
        b'{"metadata":{"msg":"write","namespace":"ns","digest":"YWJjZGVmZ2hpamtsbW5vcHFyc3Q=",'
        b'"lut":5},"a":[1]}'
    ),
    "aerospike-json": (
        b'{"msg":"write","key":["ns","set","YWJjZGVmZ2hpamtsbW5vcHFyc3Q=",null],"gen":1,'
        b'"exp":0,"lut":5,"bins":[{"name":"a","type":"list","value":[1]}]}'
    ),
    "dataworks-json": (
        b'{"schema":{},"payload":{"op":"INSERT","after":{"dataColumn":{"a":[1]}},'
        b'"timestamp":{"eventTime":5}},"version":"0.0.1"}'
    ),
    "lindorm-json": (
        b'{"payload":{"op":"c","ts_ms":6,"after":{"a":[1]},'
        b'"source":{"namespace":"n","table":"t","ts_ms":5}}}'
    ),
}
"""Messages for `JsonFormat.good`, where no file of the corpus is meant to be one."""

JSON_FORMATS = {name: JsonFormat(name) for name, kind in WRITTEN_IN.items() if kind == "json"}
"""Every format in JSON by its name."""

FORMATS: dict[str, Format] = {name: JSON_FORMATS.get(name, Format(name)) for name in WRITTEN_IN}
"""Every format by its name."""

ROLES = [(name, role) for name, form in FORMATS.items() for role in form.roles]
"""Every format in every role."""


def golden(kind: str) -> list[Any]:
    """Return (format, path) of every file of the corpus."""
    return [(name, path) for name, form in FORMATS.items() for path in form.golden(kind)]


def name_of(value: object) -> str | None:
    """Return the name of a test's parameter."""
    return value.stem if isinstance(value, Path) else None


def wire_of(path: Path) -> bytes:
    """Return the bytes of a file of the corpus; ``.hex`` is text of them, with # comments."""
    if path.suffix != ".hex":
        return path.read_bytes()
    lines = path.read_text("utf-8").splitlines()
    return bytes.fromhex(" ".join(line.partition("#")[0] for line in lines))


def role_of(path: Path) -> str:
    """Return the role of a file of the corpus: what its name begins with."""
    return path.name.partition("-")[0]


def property_names(schema: Json) -> Iterator[str]:
    """Yield every name that a schema gives to a property."""
    if isinstance(schema, dict):
        yield from schema.get("properties", ())
        schema = list(schema.values())
    if isinstance(schema, list):
        for item in schema:
            yield from property_names(item)


@cache
def _strategy(package: str, name: str) -> Any:
    """Return a strategy of a package, which takes longer to make than to draw from."""
    return getattr(import_module(f"{package}.strategies"), name)()


def _snake(title: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in title).lstrip("_")
