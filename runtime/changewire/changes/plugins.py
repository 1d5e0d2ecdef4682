"""Changes of formats of other packages: what their adapters return is checked against the schema.

A format without adapter has control events, which hold its messages.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from changewire.changes.change_row import ChangeRow, row_of, unknown_event
from changewire.codec import DecodeError, Issue, codec, encoding_of, json_form
from changewire.codec.issues import type_word
from changewire.codec.wire import REFUSALS
from changewire_messages.change import Change
from changewire_messages.change.validators import errors

FAILED: Final = "adapter-failed"
"""Code of an issue."""


def event_of(format: str, system: str) -> Callable[..., ChangeRow]:
    """Return a function that makes a control event of a message of a format without adapter."""

    def event_row(message: Any, *_ignored: object) -> ChangeRow:
        try:
            event = unknown_event(message, system)
            if encoding_of(format) == "msgpack":
                reader = codec(format)
                event.attributes["message"] = json_form(reader.parsed(reader.encode(message)))
        except REFUSALS as error:
            expected = "a message that a control event can hold"
            raise DecodeError(format, [_failed(expected)]) from error
        return event

    return event_row


def checked(format: str, function: Callable[..., Any]) -> Callable[..., ChangeRow]:
    """Return a function of another package's adapter, whose result is checked.

    The message is refused if the result is no change, or the function raises anything but
    `DecodeError`. The issue has only the name of the exception: its text may hold values.
    """

    def checked_row(*arguments: Any) -> ChangeRow:
        try:
            change = function(*arguments)
        except DecodeError:
            raise
        except Exception as error:
            raised = f"a change from the adapter, which raised {type(error).__name__}"
            raise DecodeError(format, [_failed(raised)]) from error
        issue = _fault(change)
        if issue is not None:
            raise DecodeError(format, [issue])
        return row_of(change)

    return checked_row


def _fault(change: object) -> Issue | None:
    """Return why tables cannot hold the result of an adapter; None if it is a valid change."""
    if type(change) is not Change:
        return _failed("a change from the adapter", type_word(change))
    try:
        found = errors(msgspec.json.decode(msgspec.json.encode(change)), "Change")
    except REFUSALS:
        return _failed("a change that JSON can hold")
    return _failed(f"a change, with {found[0][2]} at {found[0][0]}") if found else None


def _failed(expected: str, actual_type: str = "") -> Issue:
    return Issue("", FAILED, "adapter", expected, actual_type=actual_type)
