"""Messages that no format claims: why not, and which format they come nearest to."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from msgspec import UNSET

from changewire.codec.family import GeneratedFamily, first_of
from changewire.codec.framed import CODES as FRAMED
from changewire.codec.issues import DecodeError, Issue
from changewire.codec.unknown import wire_names
from changewire.codec.wire import Data, bytes_of, wire_of
from changewire.msgpack_heads import ARRAYS

UNKNOWN: Final = "unknown"
"""Name, instead of a format, in the errors of such messages."""

_BLANK: Final = b" \t\r\n\xef\xbb\xbf"
"""What may precede a JSON text, and a byte order mark, which is rejected as one."""

_ISSUES: Final = 3
"""Issues of the nearest format that a text names."""

_WORDS: Final = {"missing-property": "missing"}


class Nearest(NamedTuple):
    """The format that a message comes nearest to."""

    format: str
    issues: list[Issue]

    def __str__(self) -> str:
        """Return the format, how many issues there are, and the first of them."""
        number = len(self.issues)
        shown = [
            f"{issue.place or 'message'} {_WORDS.get(issue.code, issue.code)}"
            for issue in self.issues[:_ISSUES]
        ]
        more = [f"{number - _ISSUES} more"] if number > _ISSUES else []
        count = f"{number} issue{'' if number == 1 else 's'}"
        return f"nearest: {self.format}, {count}: {', '.join(shown + more)}"


class Unclaimed(NamedTuple):
    """A message that no format claims."""

    error: DecodeError
    message: Any
    nearest: Nearest | None


def unclaimed(data: Data, names: Sequence[str], families: Sequence[GeneratedFamily]) -> Unclaimed:
    """Return why no format claims a message; the families have the encoding that it may have."""
    try:
        message = wire_of(families[0]).parse(data)
    except DecodeError as error:
        if not _begins_as_message(bytes_of(data)) and error.code not in FRAMED:
            return Unclaimed(_no_kind(names, None, 0), UNSET, None)
        known = DecodeError(UNKNOWN, error.issues, error.byte_offset)
        return Unclaimed(known, UNSET, None)
    nearest = _nearest(message, families)
    return Unclaimed(_no_kind(names, nearest), message, nearest)


def _no_kind(
    names: Sequence[str], nearest: Nearest | None, byte_offset: int | None = None
) -> DecodeError:
    expected = f"a message of {', '.join(names)}"
    if nearest is not None:
        expected = f"{expected}; {nearest}"
    return DecodeError(UNKNOWN, [Issue("", "unknown-variant", "format", expected)], byte_offset)


def _begins_as_message(data: bytes) -> bool:
    """Return whether there are no bytes, or they begin as an object or array does."""
    text = data.lstrip(_BLANK)
    return not text or text.startswith((b"{", b"[")) or data[0] in ARRAYS


def _nearest(message: object, families: Sequence[GeneratedFamily]) -> Nearest | None:
    """Return the format with the fewest issues of those that look like the message at its root."""
    found = [
        Nearest(family.format, issues)
        for family in families
        if (issues := _issues(message, family)) is not None
    ]
    return min(found, key=lambda one: len(one.issues), default=None)


def _issues(message: object, family: GeneratedFamily) -> list[Issue] | None:
    """Return the issues of a message; None if less than half of its root is of the format."""
    is_batch = family.is_batch(message)
    first: Any = first_of(message) if is_batch else message
    if isinstance(first, dict):
        names = frozenset[str]().union(*map(wire_names, family.arms))
        has_half = first and 2 * len(names & first.keys()) >= len(first)
        if not (has_half if family.flat is None else family.flat[0] in first):
            return None
    elif not isinstance(first, list):
        return None
    issues = family.errors(message, "batch" if is_batch else "message")
    if not isinstance(first, dict):
        # An issue without a pointer is of the whole array.
        wrong = {issue.pointer.split("/")[1] for issue in issues if issue.pointer}
        if not wrong or not all(i.pointer for i in issues) or 2 * len(wrong) > len(first):
            return None
    return issues or None
