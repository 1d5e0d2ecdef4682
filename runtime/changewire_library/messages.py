"""Messages of one family: bytes to models and back, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from importlib import import_module
from typing import Any, Final, Literal

import msgspec

from changewire_library.flat_objects import entries_twice
from changewire_library.hooks import FloatHook, exact_number, read_unknown, same, write_unknown
from changewire_library.support import Issue, arms, has_times, read_as

_REFUSALS: Final = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    msgspec.MsgspecError,
)


class MessageError(ValueError):
    """A message is rejected.

    Attributes:
        issues: For each thing that is wrong: JSON Pointer, rule, the expected and the found value.
    """

    def __init__(self, issues: list[Issue]) -> None:
        """Keep the issues; the text names no values."""
        super().__init__(issues)
        self.issues = issues

    def __str__(self) -> str:
        """Return place, rule, expected and actual type of each issue."""
        return "; ".join(
            f"{at or 'the message'}: {rule}: expected {expected}, found {type(actual).__name__}"
            for at, rule, expected, actual in self.issues
        )


class Messages:
    """Reads and writes the messages of a family, with msgspec and the family's own modules.

    What it accepts, ``changewire.codec`` accepts too, and makes the same models of it. In JSON they
    accept the same. In MessagePack only ``changewire.codec`` reads messages whose numbers or
    lengths take more bytes than they need, and those with extension types of code -1.
    """

    def __init__(self, package: str) -> None:
        """Name the family's package; its modules are imported when they are needed."""
        self._package = package
        self._decoders: dict[str, Callable[[Any], Any]] = {}

    def decode(self, data: Any, variant: str = "") -> Any:
        """Return the model of a message.

        Args:
            data: The bytes of the message, or its JSON text.
            variant: Title of the schema of what is read, such as that of a record key; that of a
                message by default.

        Raises:
            MessageError: It is rejected, with every issue.
            KeyError: There is no schema of this title.
        """
        title = variant or self._family.ROLES["message"]
        if not self._is_json and title == self._family.ROLES.get("batch"):
            return [self.decode(bytes(one)) for one in self._parts(data)]
        try:
            return self._decoder(title)(data)
        except _REFUSALS:
            pass
        try:
            obj = self._parse(data)
        except _REFUSALS:
            raise MessageError([("", self._family.ENCODING, "one value", data)]) from None
        if self._is_flat(title):
            text = data.encode() if isinstance(data, str) else bytes(data)
            issues = entries_twice(text, obj)
            if issues:
                raise MessageError(issues)
        try:
            return self._build(obj, title, data)
        except _REFUSALS:
            obj = self._parse(data)
            issues = self.errors(obj, title)
        with suppress(*_REFUSALS):
            if not issues:  # a kept text has a name twice, of which the last value counts
                return self._build(obj, title)
        raise MessageError(issues or [("", "decode", "what its model accepts", data)])

    def encode(self, model: object) -> bytes:
        """Return the bytes of a message, which `decode` makes an equal model of.

        Raises:
            MessageError: A value is of the wrong type, or the encoding has no exact form of it.
        """
        if isinstance(model, list) and not self._is_json:
            parts = [msgspec.Raw(self.encode(item)) for item in model]
            return bytes(msgspec.msgpack.encode(parts))
        title = self._title(model)
        try:
            data = self._write(model, enc_hook=write_unknown if self._is_json else _positions)
            obj = self._parse(data)
            self._part("extras").put_back(obj, title if self._is_json else type(model).__name__)
            data = self._write({**obj, **self._texts(data)} if isinstance(obj, dict) else obj)
            read = self.decode(data, title)
        except MessageError:
            raise
        except _REFUSALS as error:
            raise MessageError([("", "encode", "values of the model's types", model)]) from error
        if read != model and not same(read, model):  # NaN equals nothing
            raise MessageError([("", "encode", "values that keep their type", model)])
        return data

    def errors(self, obj: object, variant: str = "", *, strict: bool = False) -> list[Issue]:
        """Return every issue of a parsed message; none if it is valid.

        Args:
            obj: The message as dictionaries, lists and scalars.
            variant: As in `decode`.
            strict: Whether to report properties that the schema does not name.
        """
        title = variant or self._family.ROLES["message"]
        found: list[Issue] = self._part("validators").errors(obj, title, strict=strict)
        return found

    def _part(self, name: str) -> Any:
        return import_module(f"{self._package}.{name}")

    @cached_property
    def _family(self) -> Any:
        return import_module(self._package)

    @cached_property
    def _is_json(self) -> bool:
        return bool(self._family.ENCODING == "json")

    @cached_property
    def _float_hook(self) -> FloatHook:
        return exact_number if self._family.EXACT else None

    def _decoder(self, title: str) -> Callable[[Any], Any]:
        """Return the typed decode of most messages."""
        if title not in self._decoders:
            kind = read_as(getattr(self._family, title))
            if self._is_json and not self._is_flat(title) and not has_times(kind):
                typed = msgspec.json.Decoder(kind, float_hook=self._float_hook)
                self._decoders[title] = typed.decode
            else:
                self._decoders[title] = _refuse
        return self._decoders[title]

    def _is_flat(self, title: str) -> bool:
        """Return whether entries of a map are in the message, or in the messages of a batch."""
        roles: Mapping[str, str] = self._family.ROLES
        is_message = title in {roles["message"], roles.get("batch")}
        return is_message and roles["message"] in getattr(self._family, "FLAT", ())

    def _parse(self, data: Any) -> Any:
        """Return the value of bytes, of which nothing may be lost."""
        if self._is_json:
            return msgspec.json.Decoder(float_hook=self._float_hook).decode(data)
        obj = msgspec.msgpack.decode(data)
        if msgspec.msgpack.encode(obj) != data or _holds_time(obj):
            raise ValueError
        return obj

    def _write(self, value: Any, *, enc_hook: Callable[[Any], Any] | None = None) -> bytes:
        if not self._is_json:
            return msgspec.msgpack.encode(value, enc_hook=enc_hook)
        decimals: Literal["number", "string"] = "number" if self._family.EXACT else "string"
        return msgspec.json.Encoder(enc_hook=enc_hook, decimal_format=decimals).encode(value)

    def _build(self, obj: Any, title: str, data: Any = None) -> Any:
        """Return the model of a parsed message, unknown properties included.

        Text that the model keeps is that of the data, or else written again.
        """
        kind = read_as(getattr(self._family, title))
        if not self._is_json:
            if title == self._family.ROLES["message"]:
                kind = self._part("dispatch").arm_of(obj)
                title = kind.__name__
            self._part("extras").take_out(obj, title)
            return msgspec.convert(obj, kind, dec_hook=read_unknown, builtin_types=(bytes,))
        if has_times(kind) and self.errors(obj, title):
            raise ValueError(title)
        self._part("extras").take_out(obj, title)
        if isinstance(obj, dict) and data is not None:
            obj.update(self._texts(data))
        return msgspec.convert(obj, kind, dec_hook=read_unknown)

    def _parts(self, data: Any) -> list[msgspec.Raw]:
        """Return the elements of a batch in MessagePack."""
        try:
            return msgspec.msgpack.decode(data, type=list[msgspec.Raw])
        except _REFUSALS:
            raise MessageError([("", "msgpack", "an array of messages", data)]) from None

    def _texts(self, data: Any) -> dict[str, msgspec.Raw]:
        """Return the properties of a message of which its model keeps the text."""
        if not self._text_names:
            return {}
        members = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        return {name: members[name] for name in self._text_names if name in members}

    @cached_property
    def _text_names(self) -> frozenset[str]:
        kinds = arms(getattr(self._family, self._family.ROLES["message"])) if self._is_json else ()
        fields = [field for kind in kinds for field in msgspec.structs.fields(kind)]
        return frozenset(f.encode_name for f in fields if msgspec.Raw in arms(f.type))

    def _title(self, model: Any) -> str:
        """Return the title of what a model, or a list of models, is."""
        roles: Mapping[str, str] = self._family.ROLES
        first = model[0] if isinstance(model, list) and model else model
        is_key = "key" in roles and type(first) in arms(getattr(self._family, roles["key"]))
        is_message = type(first) in arms(getattr(self._family, roles["message"]))
        if isinstance(model, list) and (is_message or is_key or not model):
            role = "key_batch" if is_key else "batch"
        else:
            role = "key" if is_key else "message" if is_message else ""
        if role not in roles:
            raise MessageError([("", "type", "a model of a message", model)])
        return roles[role]


def _refuse(data: object) -> Any:
    """Send a message to the parser, where a typed decode might lose or misread a part of it."""
    raise ValueError(type(data).__name__)


def _positions(value: object) -> object:
    """Encode positions that a schema does not name; nil for none, which is taken out again."""
    return None if value is msgspec.UNSET else write_unknown(value)


def _holds_time(value: object) -> bool:
    """Return whether msgspec has made a time of an extension type of code -1."""
    if isinstance(value, dict):
        return any(map(_holds_time, (*value.keys(), *value.values())))
    return (
        any(map(_holds_time, value))
        if isinstance(value, (list, tuple))
        else type(value) is datetime
    )
