"""The record header that says what a value or a key is: format, variant, digest of the schema."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from changewire.kafka.interface import SerializationContext, SerializationError

HEADERS: Final[Mapping[bool, str]] = {False: "changewire.value", True: "changewire.key"}
"""Name of the header for a value, and for a key (True)."""

_DIGITS: Final = 32
_FORM = re.compile(
    r"(?P<format>[a-z0-9-]{1,64});variant=(?P<variant>\w{1,64});schema=(?P<schema>[0-9a-f]{32})",
    re.ASCII,
)


class SchemaHeader(NamedTuple):
    """Information of a producer about a value or a key.

    As text it is ``aerospike-json;variant=Write;schema=ec5957a958eb4974192c30c73b517ad4``.

    Attributes:
        format: Public name of the format.
        variant: Title of the schema of the kind that it is of; ``Batch``, ``Key`` or ``KeyBatch``
            for those.
        schema: First 32 hex digits of the SHA-256 of the canonical schema that it was checked
            against, that of the format's messages, batches, keys or key batches.
    """

    format: str
    variant: str
    schema: str

    def __str__(self) -> str:
        """Return the text of the header."""
        return f"{self.format};variant={self.variant};schema={self.schema}"


def short(digest: str) -> str:
    """Return the part of a digest that a header has."""
    return digest[:_DIGITS]


@lru_cache(maxsize=256)
def parse(value: bytes | str | None) -> SchemaHeader | None:
    """Return the content of a header; None if it is another header."""
    text = value.decode("ascii", "replace") if isinstance(value, bytes) else value or ""
    found = _FORM.fullmatch(text)
    return SchemaHeader(**found.groupdict()) if found else None


def read(ctx: SerializationContext, name: str) -> bytes | str | None:
    """Return the value of a header, the last one of its name; None without one."""
    headers: Any = ctx.headers or {}
    value = dict(headers).get(name)
    return bytes(value) if isinstance(value, (bytearray, memoryview)) else value


def write(ctx: SerializationContext | None, name: str, header: SchemaHeader) -> None:
    """Put a header instead of those of its name, into the very headers that are sent.

    Raises:
        SerializationError: There are no headers to put it into.
    """
    headers: Any = None if ctx is None else ctx.headers
    value = str(header).encode()
    if isinstance(headers, dict):
        headers[name] = value
    elif isinstance(headers, list):
        headers[:] = [*(item for item in headers if item[0] != name), (name, value)]
    else:
        raise SerializationError(
            "a header needs a list or a dictionary to be put into: give headers=[] when producing"
        )
