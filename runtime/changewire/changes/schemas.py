"""Which schemas are in the messages of a topic: how often, from where to where, what changed."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from changewire.changes.connect.differences import Difference
from changewire.changes.connect.schema import ConnectSchemaError
from changewire.changes.embedded import dialect, parsed
from changewire.changes.values import EmbeddedSchema
from changewire.codec import Codec, Data, DecodeError, Issue, codec, codec_for, rejection
from changewire.framing import Position, Record
from changewire_messages.change import Rejection, Source
from changewire_messages.support import pointer_token

MOST_SCHEMAS: Final = 1000
"""How many schemas are listed unless the caller says otherwise."""

MOST_BYTES: Final = 16 * 1024 * 1024
"""How many bytes of schema text are listed: a hostile topic has another schema in each message."""

PLACE: Final = ("timestamp", "topic", "partition", "offset", "path", "number")
"""The members of a position by which messages are ordered, the most significant first."""

_PLACES: Final = 10

_LEVELS: Final = 20
"""Levels that are compared place by place; what lies deeper is compared as a whole."""


class SchemaUse(Struct):
    """A schema, and the messages that have it.

    Attributes:
        source: Where the rows of these messages are.
        fingerprint: Fingerprint of the schema, as `Change.schema_fingerprint` has it.
        count: How many messages have it.
        first: The first of them: by Kafka timestamp, topic, partition and offset, then by file and
            number; what is not known comes first.
        last: The last of them.
        text: The schema's JSON text.
        columns: Types of a row's columns by JSON Pointer, in the words of the schema; in Kafka
            Connect ``?`` follows where null is a value, and nested columns are listed too.
        differences: What it changed of the schema that came before it for the same table.
        places: JSON Pointers at which it differs from that schema, the first 10 of them, if no
            column does. None if there is no schema before it, or a column differs; empty if only
            the order of properties or the spacing of the text is another.
    """

    source: Source
    fingerprint: str
    count: int
    first: Position
    last: Position
    text: str
    columns: dict[str, str] = {}
    differences: list[Difference] = []
    places: list[str] | None = None


class Schemas(Struct, frozen=True):
    """The schemas of a topic.

    Attributes:
        schemas: The schemas, in the order of their first messages.
        messages: Elements that were looked at; a batch has several.
        without: Elements that have no schema, or one without columns, and records without value.
        rejected: Elements that cannot be read.
        left_out: Elements whose schema is not listed, as there are too many others.
    """

    schemas: list[SchemaUse]
    messages: int
    without: int
    rejected: int
    left_out: int


class Tally:
    """Counts the schemas of messages; its memory is bounded."""

    def __init__(self, format: str, limit: int = MOST_SCHEMAS) -> None:
        """Start with nothing."""
        self.found: dict[tuple[Source, bytes], SchemaUse] = {}
        self.messages: int = 0
        self.without: int = 0
        self.rejected: int = 0
        self._dialect, self._format = dialect(format), format
        self._limit, self._room = limit, MOST_BYTES

    def add(self, value: Data | None, position: Position) -> list[Rejection]:
        """Count a message, and return the elements of it that were rejected."""
        if value is None:
            self.messages += 1
            self.without += 1
            return []
        models = codec(self._format).decode_all(value)
        self.messages += len(models)
        rejected = [found for i, m in enumerate(models) if (found := self._add(m, i, position))]
        self.rejected += len(rejected)
        return rejected

    def schemas(self) -> Schemas:
        """Return what was found so far."""
        return listed(
            self.found.values(),
            format=self._format,
            messages=self.messages,
            without=self.without,
            rejected=self.rejected,
        )

    def _add(self, model: Any, number: int, position: Position) -> Rejection | None:
        if isinstance(model, Rejection):
            return model
        try:
            schema = self._dialect.of(model)
            use = self._use(schema, position) if schema else None
        except DecodeError as error:
            return rejection(error, number)
        self.without += schema is None
        if use:
            use.count += 1
            use.first = min(use.first, position, key=_order)
            use.last = max(use.last, position, key=_order)
        return None

    def _use(self, schema: EmbeddedSchema, position: Position) -> SchemaUse | None:
        """Return the entry of a schema; None if there is no room for a new one."""
        key = (schema.source, schema.text)
        size = len(schema.text)
        if key not in self.found and len(self.found) < self._limit and size <= self._room:
            columns = self._columns(schema.text)
            text = schema.text.decode()
            self._room -= size
            self.found[key] = SchemaUse(
                schema.source, schema.fingerprint, 0, position, position, text, columns
            )
        return self.found.get(key)

    def _columns(self, text: bytes) -> dict[str, str]:
        try:
            return self._dialect.columns(parsed(text))
        except ConnectSchemaError as error:
            issue = Issue(f"/schema{error.pointer}", "invalid-schema", "schema", error.expected)
        except ValueError:  # in unknown properties, which are not decoded
            issue = Issue("/schema", "invalid-json", "json", "JSON text")
        raise DecodeError(self._format, [issue])


def schemas(
    messages: Iterable[Record | Data | None], *, format: str, limit: int = MOST_SCHEMAS
) -> Schemas:
    """Return the schemas that are in messages, and what each changed of the one before it.

    Two texts are two schemas, even if they have the same columns; `SchemaUse.places` says where
    they differ then.

    Args:
        messages: Records, as `changewire.framing.read` gives them, or values of Kafka records;
            those are numbered from 0.
        format: Public name of the format.
        limit: How many schemas are listed at most, the first ones met; never more than 16 MB of
            them.

    Raises:
        ValueError: There is no such format, or its messages have no schema.
    """
    tally = Tally(format, limit)
    for number, message in enumerate(messages):
        if isinstance(message, Record):
            tally.add(message.value, message.position)
        else:
            tally.add(message, Position(number=number))
    return tally.schemas()


def listed(
    found: Iterable[SchemaUse], *, format: str, messages: int, without: int, rejected: int
) -> Schemas:
    """Return schemas in their order, with columns and differences; counts are as in `Schemas`."""
    before: dict[Source, Any] = {}
    known = dialect(format)
    ordered = sorted(found, key=lambda use: (_order(use.first), use.fingerprint))
    for use in ordered:
        schema = parsed(use.text)
        use.columns = use.columns or known.columns(schema)
        if use.source in before:
            use.differences = known.differences(before[use.source], schema)
            if not use.differences:
                use.places = list(islice(places(before[use.source], schema), _PLACES))
        before[use.source] = schema
    left_out = messages - without - rejected - sum(use.count for use in ordered)
    return Schemas(ordered, messages, without, rejected, left_out)


def _order(position: Position) -> tuple[tuple[bool, Any], ...]:
    """Return what orders positions: as Spark orders structs, in which NULL comes first."""
    values = [getattr(position, name) for name in PLACE]
    return tuple((value is not None, value) for value in values)


def places(old: Any, new: Any, at: str = "", levels: int = _LEVELS) -> Iterator[str]:
    """Yield the JSON Pointers at which two parsed schemas differ, in the order of the old one."""
    if levels and isinstance(old, dict) and isinstance(new, dict):
        for name in {**old, **new}:
            place = f"{at}/{pointer_token(name)}"
            if name in old and name in new:
                yield from places(old[name], new[name], place, levels - 1)
            else:
                yield place
    elif levels and isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from places(one, other, f"{at}/{i}", levels - 1)
    elif type(old) is not type(new) or old != new:
        yield at


class TopicTally:
    """Counts schemas as `Tally` does, of each message by the format that it says it has."""

    def __init__(self) -> None:
        self.tallies: dict[str, Tally | None] = {}
        self._messages = self._without = self._rejected = 0

    def add(self, value: Data | None, position: Position) -> list[Rejection]:
        """Count a message, and return the elements of it that were rejected."""
        if value is None:
            self._messages += 1
            self._without += 1
            return []
        try:
            reader = codec_for(value)
        except DecodeError as error:
            self._messages += 1
            self._rejected += 1
            return [rejection(error)]
        tally = self.tally_of(reader.format)
        return self._plain(reader, value) if tally is None else tally.add(value, position)

    def schemas(self) -> Schemas:
        """Return what was found so far, format by format in the order of their first messages."""
        found = [tally.schemas() for tally in self.tallies.values() if tally is not None]
        return Schemas(
            [use for schemas in found for use in schemas.schemas],
            messages=self._messages + sum(schemas.messages for schemas in found),
            without=self._without + sum(schemas.without for schemas in found),
            rejected=self._rejected + sum(schemas.rejected for schemas in found),
            left_out=sum(schemas.left_out for schemas in found),
        )

    def tally_of(self, format: str) -> Tally | None:
        """Return what counts the schemas of a format; None if its messages have none."""
        if format not in self.tallies:
            try:
                self.tallies[format] = Tally(format)
            except ValueError:
                self.tallies[format] = None
        return self.tallies[format]

    def _plain(self, reader: Codec, value: Data) -> list[Rejection]:
        """Count a message that has no schema."""
        models = reader.decode_all(value)
        rejected = [model for model in models if isinstance(model, Rejection)]
        self._messages += len(models)
        self._rejected += len(rejected)
        self._without += len(models) - len(rejected)
        return rejected
