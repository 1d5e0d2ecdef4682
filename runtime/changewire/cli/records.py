"""Records of the inputs, one at a time, where each of them is, and why it is rejected."""

import sys
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any, Final

import msgspec
import typer

from changewire.cli.stderr import counted, notice
from changewire.cli.topics import Topics, read_topics
from changewire.codec import Codec, CodecError, DecodeError, Issue, rejection
from changewire.codec.border import MOST_REASONS
from changewire.codec.framed import without_prefix
from changewire.codec.wire import PARSER_ERRORS
from changewire.framing import Position, Record, expand, read
from changewire.report.text import visible
from changewire_messages.change import Rejection

STDIN = "-"

_NULL: Final = b"null"


class ElementPlace(msgspec.Struct, frozen=True, omit_defaults=True):
    """Place of an element; properties that the input lacks are left out.

    Attributes:
        path: File that the record is of, ``-`` for standard input.
        number: Number of the record in its file, from 0.
        element: Index of the element in its message, from 0.
        topic: Kafka topic.
        partition: Kafka partition.
        offset: Kafka offset.
    """

    path: str | None = None
    number: int | None = None
    element: int | None = None
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        """Return the place in words."""
        words = []
        if self.path is not None:
            words = ["standard input" if self.path == STDIN else self.path, f"record {self.number}"]
        if self.offset is not None:
            words.append(f"{self.topic}/{self.partition}/{self.offset}")
        if self.element:
            words.append(f"element {self.element}")
        return ", ".join(words)


def found_issue(issue: Issue) -> dict[str, str]:
    """Return an issue as JSON, without its value."""
    return {
        "pointer": visible(issue.pointer),
        "code": issue.code,
        "rule": issue.rule,
        "expected": issue.expected,
        "actual_type": issue.actual_type,
    }


def given(inputs: Sequence[str] | None) -> list[str]:
    """Return the inputs; standard input if none is named and something is piped in.

    Raises:
        typer.BadParameter: None is named, and standard input is a terminal.
    """
    if inputs:
        return list(inputs)
    if sys.stdin.isatty():
        raise typer.BadParameter("name a file or a folder, or pipe messages in")
    return [STDIN]


def records(
    inputs: Sequence[str] | None,
    shape: str,
    topics: Topics | None = None,
    *,
    limit: int | None = None,
    strip_registry_prefix: bool = False,
) -> Iterator[Record]:
    """Yield the records of all inputs, or of topics; no more than one is kept.

    With `strip_registry_prefix` values and keys are what follows the prefix of a schema registry.

    Raises:
        typer.BadParameter: There is no input.
        FramingError: while iterating, an input cannot be read.
    """
    if topics is None:
        files = expand(given(inputs))
        found: Iterator[Record] = chain.from_iterable(read(path, shape=shape) for path in files)
    else:
        found = read_topics(topics)
    yield from islice(map(_stripped, found) if strip_registry_prefix else found, limit)


def _stripped(record: Record) -> Record:
    key, value = (
        None if data is None else without_prefix(data) for data in (record.key, record.value)
    )
    return msgspec.structs.replace(record, key=key, value=value)


def place_of(position: Position, element: int | None = None) -> ElementPlace:
    """Return the place of an element; a name that is not UTF-8 has its bytes escaped."""
    path = position.path
    if path is not None:
        path = path.encode("utf-8", "backslashreplace").decode("utf-8")
    topic, partition, offset = position.topic, position.partition, position.offset
    return ElementPlace(path, position.number, element, topic, partition, offset)


def report_rejected(
    position: Position,
    rejected: Rejection | DecodeError,
    element: int = 0,
    *,
    as_json: bool = False,
) -> None:
    """Write one line on why an element was rejected: place, code, pointer, reason, no value."""
    if isinstance(rejected, DecodeError):
        rejected = rejection(rejected, element)
    reason = rejected.reasons[0]
    found = "" if reason.actual == "nothing" else f", found {reason.actual}"
    at = f" at {rejected.pointer}" if rejected.pointer else ""
    byte = "" if rejected.byte_offset is None else f" at byte {rejected.byte_offset}"
    others = len(rejected.reasons) - 1
    least = "at least " if len(rejected.reasons) == MOST_REASONS else ""
    more = f" (and {least}{counted(others, 'more issue')})" if others else ""
    place = place_of(position, rejected.element)
    text = f"{place}: {rejected.code}{at}: expected {reason.expected}{found}{byte}{more}"
    notice("rejected", text, place_of(position), rejected, as_json=as_json, style="red")


def report_issues(position: Position, error: CodecError, *, as_json: bool = False) -> None:
    """Write a line for each issue of a rejected message, no value; with ``--json`` one for all."""
    place = place_of(position)
    byte = "" if error.byte_offset is None else f" at byte {error.byte_offset}"
    texts = [f"{place}: {issue}{byte}" for issue in error.issues]
    notice("rejected", texts, place, rejection(error, 0), as_json=as_json, style="red")


class _Line(msgspec.Struct, frozen=True):
    """A line as `decode` writes it."""

    model: str | None
    message: msgspec.Raw


def model_on(line: bytes, reader: Codec) -> Any:
    """Return the model of the message on a line; None if the line says so.

    Raises:
        DecodeError: The message is rejected.
    """
    try:
        found = msgspec.json.decode(line, type=_Line)
    except PARSER_ERRORS:  # it is a message alone, or no JSON, which the codec reports best
        return reader.from_json(line)
    if bytes(found.message) == _NULL:
        return None
    try:
        return reader.from_json(found.message)
    except DecodeError as error:  # an offset in the message would be taken for one in the line
        raise DecodeError(error.format, error.issues) from None
