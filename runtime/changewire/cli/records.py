"""Records of the inputs, one at a time, and where each of them stood."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import msgspec
import typer
from msgspec import UNSET, UnsetType

from changewire.cli.notices import notice
from changewire.cli.talk import counted
from changewire.codec import CodecError, DecodeError, Issue, rejection
from changewire.codec.rejections import MOST_REASONS
from changewire.framing import Position, Record, expand, read
from changewire.report.text import visible
from changewire_messages.change import Rejection

STDIN = "-"


class Place(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where an element stood; what the input does not tell is left out.

    Attributes:
        path: File that the record is of, ``-`` for standard input.
        number: Number of the record in its file, from 0.
        element: Index of the element in its message, from 0.
        topic: Kafka topic.
        partition: Kafka partition.
        offset: Kafka offset.
    """

    path: str
    number: int
    element: int | None = None
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        """Return the place in words."""
        words = ["standard input" if self.path == STDIN else self.path, f"record {self.number}"]
        if self.offset is not None:
            words.append(f"{self.topic}/{self.partition}/{self.offset}")
        if self.element:
            words.append(f"element {self.element}")
        return ", ".join(words)


class FoundIssue(msgspec.Struct, frozen=True, omit_defaults=True):
    """An issue as JSON; `actual` is the start of the value as text, where it may be shown."""

    pointer: str
    code: str
    rule: str
    expected: str
    actual_type: str
    actual: str | UnsetType = UNSET


def found_issue(issue: Issue, actual: str | UnsetType = UNSET) -> FoundIssue:
    """Return an issue as JSON, without its value unless the text of that is given."""
    pointer = visible(issue.pointer)
    return FoundIssue(pointer, issue.code, issue.rule, issue.expected, issue.actual_type, actual)


def given(inputs: Sequence[str] | None) -> list[str]:
    """Return the inputs; standard input where none is named and something is piped in.

    Raises:
        BadParameter: None is named, and standard input is a terminal.
    """
    if inputs:
        return list(inputs)
    if sys.stdin.isatty():
        text = "name a file or a folder, or pipe messages in"
        raise typer.BadParameter(text)
    return [STDIN]


def records(inputs: Sequence[str] | None, shape: str) -> Iterator[Record]:
    """Yield the records of all inputs; no more than one is held.

    Raises:
        BadParameter: There is no input.
        FramingError: while iterating, an input cannot be read.
    """
    files = expand(given(inputs))
    for path in files:
        yield from read(path, shape=shape)


def place_of(position: Position, element: int | None = None) -> Place:
    """Return where an element stood; a name that is not UTF-8 has its bytes escaped."""
    path = (position.path or "").encode("utf-8", "backslashreplace").decode("utf-8")
    topic, partition, offset = position.topic, position.partition, position.offset
    return Place(path, position.number or 0, element, topic, partition, offset)


def say_refused(
    position: Position,
    refused: Rejection | DecodeError,
    element: int = 0,
    *,
    as_json: bool = False,
) -> None:
    """Write one line on why an element was refused: place, code, pointer, reason, no value."""
    if isinstance(refused, DecodeError):
        refused = rejection(refused, element)
    reason = refused.reasons[0]
    found = "" if reason.actual == "nothing" else f", found {reason.actual}"
    at = f" at {refused.pointer}" if refused.pointer else ""
    byte = "" if refused.byte_offset is None else f" at byte {refused.byte_offset}"
    others = len(refused.reasons) - 1
    least = "at least " if len(refused.reasons) == MOST_REASONS else ""
    more = f" (and {least}{counted(others, 'more issue')})" if others else ""
    place = place_of(position, refused.element)
    text = f"{place}: {refused.code}{at}: expected {reason.expected}{found}{byte}{more}"
    notice("refused", text, place_of(position), refused, as_json=as_json, style="red")


def say_issues(position: Position, error: CodecError, *, as_json: bool = False) -> None:
    """Write a line for each issue of a refused message, without values; with JSON one for all."""
    place = place_of(position)
    byte = "" if error.byte_offset is None else f" at byte {error.byte_offset}"
    texts = [f"{place}: {issue}{byte}" for issue in error.issues]
    notice("refused", texts, place, rejection(error, 0), as_json=as_json, style="red")
