"""Schemas as they come in messages: the same bytes again and again, compiled once."""

import hashlib
import threading
from collections import OrderedDict
from decimal import Decimal
from typing import Any, Final, NamedTuple

import msgspec

from changewire.changes.connect.errors import SchemaError
from changewire.changes.connect.reader import Reader, compile_schema
from changewire.codec.wire import PARSER_ERRORS

_FINGERPRINT_DIGITS: Final = 32


class Compiled(NamedTuple):
    """A schema, ready for use.

    Attributes:
        raw: The bytes that it came as.
        fingerprint: What `fingerprint` returns for them.
        schema: Its parsed JSON; numbers with a fraction are Decimals.
        reader: Reads values under it; None where it says nothing.
    """

    raw: bytes
    fingerprint: str
    schema: Any
    reader: Reader | None


def fingerprint(raw: bytes) -> str:
    """Return the fingerprint of a schema's bytes: the first 128 bits of their SHA-256, as hex.

    SHA-256, because every tool can compute it again: in Spark
    ``left(sha2(schema, 256), 32)``. Processors have instructions for it, so BLAKE2b is no quicker.
    It is of the bytes: the same schema written otherwise has another one.
    """
    return hashlib.sha256(raw).hexdigest()[:_FINGERPRINT_DIGITS]


class SchemaCache:
    """Compiled schemas by their bytes; the least recently used ones leave first.

    A hit costs about 0.3 microseconds for 1.5 KB where the schema is the one of the call before,
    and 0.8 where it is another (fresh bytes objects each time, best of five loops over 20,000, on
    one core of a virtual machine). Threads may share a cache.

    Attributes:
        size: How many schemas are kept.
        max_bytes: How many bytes of schema text are kept; the compiled form takes some thirty
            times as much.
        hits: Calls that found their schema.
        misses: Calls that did not, failures among them.
        evictions: Schemas that had to leave.
    """

    def __init__(
        self,
        size: int = 1024,
        *,
        max_bytes: int = 8 * 1024 * 1024,
        replace_null_with_default: bool = True,
    ) -> None:
        self.size = size
        self.max_bytes = max_bytes
        self.hits = 0
        self.misses = 0
        self.evictions = 0
        self._replace = replace_null_with_default
        self._kept: OrderedDict[bytes, Compiled] = OrderedDict()
        self._bytes = 0
        self._last: Compiled | None = None
        self._lock = threading.Lock()
        self._parse = msgspec.json.Decoder(float_hook=Decimal).decode

    def __len__(self) -> int:
        """Return how many schemas are kept."""
        return len(self._kept)

    def get(self, raw: bytes) -> Compiled:
        """Return the compiled schema of JSON text.

        Args:
            raw: The bytes of the schema as they stand in the message.

        Raises:
            SchemaError: The text is no JSON or no schema. That is not remembered: it is raised
                each time.
        """
        with self._lock:
            found = self._find(raw)
        if found is None:
            found = self._compile(raw)
            with self._lock:
                self._keep(found)
        return found

    def _find(self, raw: bytes) -> Compiled | None:
        """Return what is kept of a schema, and count. Most are the one of the call before."""
        found = self._last
        if found is None or raw != found.raw:
            found = self._kept.get(raw)
            if found is None:
                self.misses += 1
                return None
            self._kept.move_to_end(raw)
            self._last = found
        self.hits += 1
        return found

    def _compile(self, raw: bytes) -> Compiled:
        try:
            schema = self._parse(raw)
        except (*PARSER_ERRORS, ArithmeticError):  # Decimal raises it for 1e99999999999999999999
            raise SchemaError("", "JSON text") from None
        reader = compile_schema(schema, replace_null_with_default=self._replace)
        return Compiled(raw, fingerprint(raw), schema, reader)

    def _keep(self, compiled: Compiled) -> None:
        """Keep a schema, unless another thread has; let others go where there are too many."""
        if compiled.raw in self._kept:
            return
        self._kept[compiled.raw] = self._last = compiled
        self._bytes += len(compiled.raw)
        while len(self._kept) > self.size or self._bytes > self.max_bytes:
            raw, _ = self._kept.popitem(last=False)
            self._bytes -= len(raw)
            self.evictions += 1
