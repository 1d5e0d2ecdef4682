"""Messages that the typed decode rejects, or that are not its bytes: parsed, then built."""

from collections.abc import Callable
from typing import Any, Final

from changewire.codec.family import GeneratedFamily
from changewire.codec.issues import DecodeError, Issue
from changewire.codec.wire import REFUSALS, Data, Wire, unexplained

_BATCH: Final = Issue("", "batch", "batch", "one message")
_NO_KEY: Final = Issue("", "unknown-variant", "key", "no record key")


class SecondReader:
    """Reads what one parser of a format makes of messages, and says what is wrong with them."""

    def __init__(self, family: GeneratedFamily, wire: Wire, parse: Callable[[Data], Any]) -> None:
        """Keep the parts; `parse` makes dictionaries and lists of data, or raises `DecodeError`."""
        self._family = family
        self._wire = wire
        self._parse = parse

    def message(self, data: Data) -> Any:
        """Return the model of one message, or raise `DecodeError`."""
        obj = self._parse(data)
        if self._family.is_batch(obj):
            raise DecodeError(self._family.format, [_BATCH])
        self._wire.check_names(data, obj)
        return self.model(obj, "message", data)

    def key(self, data: Data) -> Any:
        """Return the model of a record key, or those of a batch, or raise `DecodeError`."""
        if "key" not in self._family.roles:
            raise DecodeError(self._family.format, [_NO_KEY])
        obj = self._parse(data)
        return self.model(obj, "key_batch" if self._family.is_key_batch(obj) else "key", data)

    def model(self, obj: Any, role: str, data: Data) -> Any:
        """Return the model of a parsed message, or say what is wrong with it."""
        try:
            return self._family.build(obj, role, self._wire.texts(data))
        except REFUSALS as error:
            refusal = unexplained(error, self._wire.rule)
        try:
            issues = self._family.errors(self._parse(data), role)
        except RecursionError:
            issues = []
        raise DecodeError(self._family.format, issues or [refusal])
