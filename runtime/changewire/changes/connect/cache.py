"""Schemas as they come in messages: the same bytes again and again, compiled once."""

import threading
from collections import OrderedDict
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec

from changewire.changes.connect.errors import ConnectSchemaError
from changewire.changes.connect.reader import Reader, compile_schema
from changewire.changes.values import fingerprint
from changewire.codec.wire import PARSER_ERRORS


class Compiled(NamedTuple):
    """A schema, ready for use.

    Attributes:
        raw: The bytes that it came as.
        fingerprint: What `fingerprint` returns for them.
        schema: Its parsed JSON; numbers with a fraction are Decimals.
        reader: Reads values under it; None if it says nothing.
    """

    raw: bytes
    fingerprint: str
    schema: Any
    reader: Reader | None


class SchemaCache:
    """Compiled schemas by their bytes; the least recently used ones leave first.

    Most messages have the schema of the one before, which is seen without a copy or a hash of the
    text. Threads may share a cache.

    Attributes:
        size: How many schemas are kept.
        max_bytes: How many bytes of schema text are kept; the compiled form takes some thirty
            times as much.
        hits: Calls that found their schema; threads may lose a few counts.
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
        self._before: tuple[msgspec.Raw | None, Compiled | None] = (None, None)
        self._lock = threading.Lock()
        self._parse = msgspec.json.Decoder(float_hook=Decimal).decode

    def __len__(self) -> int:
        """Return how many schemas are kept."""
        return len(self._kept)

    def get(self, raw: bytes | msgspec.Raw) -> Compiled:
        """Return the compiled schema of JSON text.

        Args:
            raw: The schema as it stands in the message.

        Raises:
            ConnectSchemaError: The text is no JSON or no schema. That is not remembered: it is
                raised each time.
        """
        last, found = self._before
        if found is not None and raw == last:
            self.hits += 1
            return found
        text = bytes(raw)
        with self._lock:
            found = self._find(text)
        if found is None:
            found = self._compile(text)
            with self._lock:
                self._keep(found)
        self._before = msgspec.Raw(text), found
        return found

    def _find(self, raw: bytes) -> Compiled | None:
        """Return what is kept of a schema, and count."""
        found = self._kept.get(raw)
        if found is None:
            self.misses += 1
            return None
        self.hits += 1
        self._kept.move_to_end(raw)
        return found

    def _compile(self, raw: bytes) -> Compiled:
        try:
            schema = self._parse(raw)
        except (*PARSER_ERRORS, ArithmeticError):  # Decimal raises it for 1e99999999999999999999
            raise ConnectSchemaError("", "JSON text") from None
        reader = compile_schema(schema, replace_null_with_default=self._replace)
        return Compiled(raw, fingerprint(raw), schema, reader)

    def _keep(self, compiled: Compiled) -> None:
        """Keep a schema, unless another thread has; let others go where there are too many."""
        if compiled.raw in self._kept:
            return
        self._kept[compiled.raw] = compiled
        self._bytes += len(compiled.raw)
        while len(self._kept) > self.size or self._bytes > self.max_bytes:
            raw, _ = self._kept.popitem(last=False)
            self._bytes -= len(raw)
            self.evictions += 1
