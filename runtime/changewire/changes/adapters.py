"""From a model to its changes: one adapter for each format of ours, and those of other packages.

A format of another package has the adapter that the entry point group `GROUP` names for it. It is
a function of somebody else, so what it returns is held against the schema of a change.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import Any, Final, cast

import msgspec

from changewire.changes.change_row import ChangeRow, row_of, unknown_event
from changewire.changes.values import system_of
from changewire.codec import DecodeError, FormatError, Issue, codec, encoding_of, json_form
from changewire.codec.installed import format_of
from changewire.codec.issues import type_word
from changewire.codec.wire import REFUSALS
from changewire_messages.change import Change
from changewire_messages.change.validators import errors

GROUP: Final = "changewire.adapters"
"""Entry point group of adapters; the name is that of the format."""

FAILED: Final = "adapter-failed"
"""Code of an issue."""

Names = Sequence[str] | None

Adapter = Callable[[Any, bytes | None, Names, str, Names], ChangeRow]
"""From a message, the record key, key columns, the image and column families to its change."""

TheirAdapter = Callable[[Any, bytes | None, Names, str], Change]
"""What another package brings: from a message, the record key, key columns and the image."""


@cache
def format_of_model(kind: Any) -> str:
    """Return the format that a model of a message belongs to.

    Raises:
        TypeError: It is no model of a message.
    """
    package, _, module = kind.__module__.rpartition(".")
    name = format_of(package) if module == "models" else None
    if name is None or kind not in codec(name).models:
        raise TypeError(f"{kind.__name__} is no model of a message")
    return name


def has_adapter(format: str) -> bool:
    """Tell whether something knows what the messages of a format mean for tables.

    Raises:
        FormatError: Two packages bring an adapter.
    """
    return format in _OURS or _entry_point(format) is not None


@cache
def adapter(format: str) -> Adapter:
    """Return the adapter of a format, imported when it is needed.

    Where there is none, a message becomes a control event that holds it.

    Raises:
        FormatError: The adapter of another package cannot be loaded.
    """
    if format in _OURS:
        return _OURS[format]()
    point = _entry_point(format)
    if point is None:
        return _landed(format)
    try:
        theirs = point.load()
    except Exception as error:  # whatever the code of somebody else raises
        reason = f"{type(error).__name__}: {error}"
        raise FormatError(f"the adapter of {format!r} cannot be loaded ({reason})") from error
    if not callable(theirs):
        raise FormatError(f"the adapter of {format!r} is no function: {point.value}")
    return _checked(format, cast("TheirAdapter", theirs))


def _entry_point(format: str) -> Any:
    found = {point.value: point for point in entry_points(group=GROUP, name=format)}
    if len(found) > 1:
        raise FormatError(f"adapters of {format!r} are brought by {' and '.join(sorted(found))}")
    return next(iter(found.values()), None)


def _landed(format: str) -> Adapter:
    """Return what makes control events of messages that nothing else is made of."""

    def landed(message: Any, *_told: object) -> ChangeRow:
        try:
            event = unknown_event(message, system_of(format))
            if encoding_of(format) == "msgpack":
                reader = codec(format)
                event.attributes["message"] = json_form(reader.parsed(reader.encode(message)))
        except REFUSALS as error:
            expected = "a message that a control event can hold"
            raise DecodeError(format, [_failed(expected)]) from error
        return event

    return landed


def _checked(format: str, theirs: TheirAdapter) -> Adapter:
    """Return an adapter of another package, whose change is held against the schema of changes.

    What it makes that is no change, and what it raises but `DecodeError`, refuses the message. Of
    an error only the name is told: its text may hold values.
    """

    def checked(
        message: Any, record_key: bytes | None, keys: Names, image: str, _families: Names
    ) -> ChangeRow:
        try:
            change = theirs(message, record_key, keys, image)
        except DecodeError:
            raise
        except Exception as error:
            raised = f"a change from the adapter, which raised {type(error).__name__}"
            raise DecodeError(format, [_failed(raised)]) from error
        issue = _fault(change)
        if issue is not None:
            raise DecodeError(format, [issue])
        return row_of(change)

    return checked


def _fault(change: object) -> Issue | None:
    """Return what keeps something from being a change that tables can hold."""
    if type(change) is not Change:
        return _failed("a change from the adapter", type_word(change))
    try:
        found = errors(msgspec.json.decode(msgspec.json.encode(change)), "Change")
    except REFUSALS:
        return _failed("a change that JSON can hold")
    return _failed(f"a change, with {found[0][2]} at {found[0][0]}") if found else None


def _failed(expected: str, actual_type: str = "") -> Issue:
    return Issue("", FAILED, "adapter", expected, actual_type=actual_type)


def _aerospike() -> Adapter:
    from changewire.changes.aerospike import aerospike_changes

    return aerospike_changes


def _aerospike_msgpack() -> Adapter:
    from changewire.changes.aerospike_msgpack import aerospike_msgpack_changes

    return aerospike_msgpack_changes


def _dataworks() -> Adapter:
    from changewire.changes.dataworks import dataworks_changes

    return dataworks_changes


def _lindorm() -> Adapter:
    from changewire.changes.lindorm import lindorm_changes

    return lindorm_changes


_OURS: Mapping[str, Callable[[], Adapter]] = {
    "aerospike-json": _aerospike,
    "aerospike-msgpack": _aerospike_msgpack,
    "dataworks-json": _dataworks,
    "lindorm-json": _lindorm,
}
