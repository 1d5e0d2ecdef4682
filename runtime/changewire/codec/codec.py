"""One format in both directions: bytes to models, models to bytes."""

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, partial
from typing import Any, Final, TypeAlias, cast

import msgspec

from changewire.codec.border import check_data, guarded, rejection
from changewire.codec.encoding import encode_exactly
from changewire.codec.family import GeneratedFamily, is_model
from changewire.codec.issues import CodecError, DecodeError, EncodeError, Issue
from changewire.codec.json_message import json_text, message_of_json
from changewire.codec.unknown import Place, UnknownProperties, place_of
from changewire.codec.wire import (
    PARSER_ERRORS,
    REFUSALS,
    Data,
    is_data,
    unexplained,
    wire_of,
)

_Parse: TypeAlias = Callable[[Data], Any]
"""Makes dictionaries and lists of data, or raises `DecodeError`."""

_BATCH: Final = Issue("", "batch", "batch", "one message")
_NO_KEY: Final = Issue("", "unknown-variant", "key", "no record key")


class Codec:
    """Reads and writes the messages of one format; keep it in a hot loop.

    Get one from `changewire.codec`; threads may share it.

    Attributes:
        format: Public name of the format.
        models: The models that one message can be.
        second_reads: How many messages took the slower way and were accepted. In MessagePack their
            numbers or lengths have more bytes than they need, or they have an extension type of
            code -1 or as the key of a map, or positions that the schema does not name. In JSON they
            have properties that the schema does not name, save those at the root and in objects up
            to two levels below it that were met before, or they are the first without the object
            around them. Threads may lose a few counts.
    """

    def __init__(self, family: GeneratedFamily) -> None:
        """Build the decoders of a family."""
        self.format: str = family.format
        self.models: tuple[Any, ...] = family.arms
        self._family = family
        self._is_json = family.encoding == "json"
        self.second_reads: int = 0
        self._wire = wire_of(family)
        self._decode_as = {role: self._wire.reader(role) for role in family.types}
        self._prove_as = {role: self._wire.provers(role) for role in family.types}
        self._write = self._wire.write
        self._parse = self._wire.parse
        # What the next message is expected to need; it decides what a message costs, nothing else.
        self._read: Any = self._decode_as["message"]

    def __repr__(self) -> str:
        """Return the call that gives this codec."""
        return f"codec({self.format!r})"

    def decode(self, data: Data) -> Any:
        """Return the model of one message.

        Args:
            data: The value of a Kafka record, as bytes or as text.

        Raises:
            DecodeError: The message is rejected; a batch has the code ``batch``.
        """
        try:
            return self._read(data)
        except BufferError:
            return self.decode(bytes(cast("memoryview", data)))  # it has gaps
        except Exception as error:  # noqa: BLE001 - the second reader says what it means
            place = place_of(error)
        return self._decode_again(data, place)

    def read_at_once(self, data: Data) -> Any:
        """Return the model of a message that needs no second look; UNSET for any other."""
        try:
            return self._decode_as["message"](data)
        except Exception:  # noqa: BLE001 - whatever the reason is, it needs a second look
            return msgspec.UNSET

    def decode_all(self, data: Data) -> list[Any]:
        """Return the elements of a message that may be a batch, in their order.

        Returns:
            For each element its model, or a `Rejection`; one element if the
            message is not a batch, none if the batch is empty. In a batch a rejection has no byte
            offset.
        """
        try:
            return [self._read(data)]
        except BufferError:
            return self.decode_all(bytes(cast("memoryview", data)))  # it has gaps
        except Exception as error:  # noqa: BLE001 - the second reader says what it means
            place = place_of(error)
        check_data(data)
        try:
            elements = guarded(DecodeError, self.format, self._elements, data)
            if elements is not None:
                return [self._element(raw, i) for i, raw in enumerate(elements)]
            return [self._decode_again(data, place)]
        except DecodeError as error:
            return [rejection(error)]

    def decode_key(self, data: Data) -> Any:
        """Return the model of a Kafka record key: one key, or a list of the keys of a batch.

        Raises:
            DecodeError: The key is rejected, or the format has no keys of its own.
        """
        check_data(data)
        return guarded(DecodeError, self.format, self._second_key, self._parse, data)

    def encode(self, model: object) -> bytes:
        """Return the bytes of a message, a key, or a list of either.

        The bytes are decoded again before they are returned: what is sent is what `decode` accepts,
        and means the same.

        Raises:
            EncodeError: A value is of the wrong type, or has no exact form in the encoding.
        """
        role = self._family.role_of(model)
        try:
            data = self._write(model)
            for read in self._prove_as[role]:
                if read(data) == model:
                    return data
        except Exception:  # noqa: BLE001, S110 - `encode_exactly` rejects it too, with its place
            pass
        parts = (model, role, self._family, self._wire, partial(self._model, self._parse))
        return guarded(EncodeError, self.format, encode_exactly, *parts)

    def to_json(self, model: object) -> bytes:
        """Return a message, a key, or a list of either, as JSON text to read.

        In a format that is JSON it is what `encode` gives. A message in MessagePack is written
        position by position, and what JSON lacks as objects of one or two properties (see
        ``docs/reference/cli.md``). `from_json` reads it back.

        Raises:
            EncodeError: A value has no form in JSON.
        """
        if self._is_json:
            return self.encode(model)
        return guarded(EncodeError, self.format, json_text, model, self.format)

    def from_json(self, text: Data, *, is_key: bool = False) -> Any:
        """Return the model of a message in the JSON text that `to_json` writes.

        Args:
            text: The JSON text, as bytes or as text.
            is_key: Whether it is a record key, or a list of such.

        Raises:
            DecodeError: The message is rejected, as in `decode` or `decode_key`.
        """
        if self._is_json:
            return self.decode_key(text) if is_key else self.decode(text)
        parse = partial(message_of_json, family=self._family, is_key=is_key)
        read = self._second_key if is_key else self._second_message
        check_data(text)
        return guarded(DecodeError, self.format, read, parse, text)

    def validate(self, data: object, *, strict: bool = False) -> list[Issue]:
        """Return every issue of a message; none if it is valid.

        Args:
            data: Bytes or text, a model, or a message parsed into dictionaries and lists.
            strict: Also report properties that the schema does not name.
        """
        try:
            return guarded(DecodeError, self.format, self._issues, data, strict)
        except CodecError as error:
            return error.issues

    def _issues(self, data: object, strict: bool) -> list[Issue]:  # noqa: FBT001 - by position
        obj = self._plain(data)
        if is_data(data):
            self._wire.check_names(data, obj)
        role = "batch" if self._family.is_batch(obj) else "message"
        issues = self._family.errors(obj, role, strict=strict)
        if obj is data or issues:
            return issues
        try:
            self._family.build(obj, role)
        except REFUSALS as error:
            return [unexplained(error, self._wire.rule)]
        return []

    def models_in(self, data: object) -> list[tuple[str, Any]]:
        """Return (JSON Pointer, model) of each element of what `validate` takes.

        The pointer is that of the element in its batch; empty if the message is not a batch.

        Raises:
            One of `REFUSALS`: `validate` finds an issue in it, or no bytes represent it.
        """
        raw = data if is_data(data) else (self.encode if is_model(data) else self._write)(data)
        elements = self._elements(raw)
        if elements is None:
            return [("", self.decode(raw))]
        return [(f"/{i}", self.decode(element)) for i, element in enumerate(elements)]

    @cached_property
    def leniencies(self) -> Callable[[object], list[str]]:
        """The function from a model to the names of the leniencies it needed, one for each use."""
        return self._family.leniencies

    @property
    def grammar(self) -> tuple[str, bool]:
        """Encoding, and whether numbers are exact: formats that share it parse bytes alike."""
        return self._family.encoding, self._family.exact

    def parsed(self, data: Data) -> Any:
        """Return a message as dictionaries and lists; UNSET if the bytes have no value."""
        try:
            return guarded(DecodeError, self.format, self._parse, data)
        except DecodeError:
            return msgspec.UNSET

    @property
    def is_flat(self) -> bool:
        """Whether messages have inlined map entries."""
        return self._family.flat is not None

    def is_of_it(self, obj: object) -> bool:
        """Return whether a parsed message, or the first of a batch, says it is of this format.

        Raises:
            DecodeError: An unexpected exception was raised.
        """
        if obj is msgspec.UNSET:
            return False
        return guarded(DecodeError, self.format, self._family.recognises, obj)

    def _plain(self, data: object) -> Any:
        """Return a message as dictionaries and lists, whatever it was given as."""
        if is_data(data):
            return self._parse(data)
        return self._parse(self.encode(data)) if is_model(data) else data

    def _elements(self, data: Data) -> list[Any] | None:
        """Return the elements of a batch as bytes; None if the message is not a batch."""
        if "batch" not in self._family.roles:
            return None
        try:
            return self._wire.split(data)
        except PARSER_ERRORS:
            return None

    def _element(self, raw: msgspec.Raw, index: int) -> Any:
        try:
            return self.decode(raw)
        except DecodeError as error:
            # An offset within the element would be taken for one within the message.
            return rejection(DecodeError(self.format, error.issues), index)

    def _decode_again(self, data: Data, place: Place | None) -> Any:
        """Return the model of what was rejected at first, or say what is wrong with it."""
        check_data(data)
        model = None
        if place is not None:
            model = guarded(DecodeError, self.format, self._learn, data, place)
        if model is None:
            model = guarded(DecodeError, self.format, self._second_message, self._parse, data)
        self.second_reads += 1
        return model

    def _second_message(self, parse: _Parse, data: Data) -> Any:
        """Return the model of one message, parsed, then built, or raise `DecodeError`."""
        obj = parse(data)
        if self._family.is_batch(obj):
            raise DecodeError(self.format, [_BATCH])
        self._wire.check_names(data, obj)
        return self._model(parse, obj, "message", data)

    def _second_key(self, parse: _Parse, data: Data) -> Any:
        """Return the model of a record key, or those of a batch, or raise `DecodeError`."""
        if "key" not in self._family.roles:
            raise DecodeError(self.format, [_NO_KEY])
        obj = parse(data)
        role = "key_batch" if self._family.is_key_batch(obj) else "key"
        return self._model(parse, obj, role, data)

    def _model(self, parse: _Parse, obj: Any, role: str, data: Data) -> Any:
        """Return the model of a parsed message, or say what is wrong with it."""
        try:
            return self._family.build(obj, role, self._wire.texts(data))
        except REFUSALS as error:
            refusal = unexplained(error, self._wire.rule)
        try:
            obj = parse(data)
            issues = self._family.errors(obj, role)
        except RecursionError:
            issues = [refusal]
        with suppress(*REFUSALS):
            if not issues:  # a kept text has a name twice, of which the last value counts
                return self._family.build(obj, role)
        raise DecodeError(self.format, issues or [refusal])

    def _learn(self, data: Data, place: Place) -> Any:
        """Return the model of a message with unknown properties; None if it takes the slower way.

        A producer that adds a property adds it to every message, so the next ones are expected to
        have it, or to come alone as this one does.
        """
        alone, unknown = self._wire.alone, self._wire.unknown
        if alone is not None and not place:
            with suppress(*PARSER_ERRORS):
                model = alone(data)
                self._read = partial(self._read_alone, alone)
                return model
        found: Place | None = place
        with suppress(*PARSER_ERRORS):
            while unknown is not None and found is not None:
                is_new = unknown.learn(data, found)
                try:
                    model = unknown.decode(data)
                except PARSER_ERRORS as error:
                    found = place_of(error) if is_new else None
                else:
                    self._read = partial(self._read_unknown, unknown)
                    return model
        return None

    def _read_alone(self, alone: Callable[[Data], Any], data: Data) -> Any:
        """Decode a message that is expected to come alone."""
        try:
            return alone(data)
        except msgspec.ValidationError:
            self._read = self._decode_as["message"]
        return self._read(data)

    def _read_unknown(self, unknown: UnknownProperties, data: Data) -> Any:
        """Decode a message that is expected to have unknown properties."""
        model = unknown.decode(data)
        if model.extra is msgspec.UNSET:
            self._read = self._decode_as["message"]
        return model
