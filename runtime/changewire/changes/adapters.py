"""What messages mean for tables: one `Adapter` for each format, built in or of another package."""

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from changewire.changes.change_row import ChangeRow
from changewire.changes.connect.differences import Difference
from changewire.changes.values import Declared, EmbeddedSchema
from changewire.changes.vendors import BUILT_IN, VENDOR_OPTIONS
from changewire.codec import DecodeError, FormatError, Issue, codec
from changewire.codec.border import RESOURCE_ERRORS, internal_error
from changewire.codec.framed import framing_issue
from changewire.codec.installed import format_of
from changewire_messages.change import Change, Source

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from changewire.changes.decode_options import DecodeOptions
import msgspec

from changewire.changes.change_row import row_of, unknown_event
from changewire.codec import encoding_of, json_form
from changewire.codec.issues import type_word
from changewire.codec.wire import REFUSALS
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
            expected = "a message that a control event can contain"
            raise DecodeError(format, [_failed(expected)]) from error
        return event

    return event_row


def checked(format: str, function: Callable[..., Any]) -> Callable[..., ChangeRow]:
    """Return a function of another package's adapter, whose result is checked.

    The message is rejected if the result is not a change, or the function raises anything but
    `DecodeError`. The issue has only the name of the exception: its text may contain values.
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
    """Return why tables cannot represent the result of an adapter; None if it is a valid change."""
    if type(change) is not Change:
        return _failed("a change from the adapter", type_word(change))
    try:
        found = errors(msgspec.json.decode(msgspec.json.encode(change)), "Change")
    except REFUSALS:
        return _failed("a change that JSON can represent")
    return _failed(f"a change, with {found[0][2]} at {found[0][0]}") if found else None


def _failed(expected: str, actual_type: str = "") -> Issue:
    return Issue("", FAILED, "adapter", expected, actual_type=actual_type)


GROUP: Final = "changewire.adapters"
"""Entry point group of adapters; the name is that of the format."""

OPTIONS: Final = ("row_image", "key_columns", "tombstones", *VENDOR_OPTIONS)
"""The options of `DecodeOptions` that an adapter may use."""

_NO_ADAPTER: Final = "the format has no adapter"


class Dialect(NamedTuple):
    """What the schemas in messages say; all but `of` take one parsed, and raise ValueError."""

    of: Callable[[Any], EmbeddedSchema | None]
    columns: Callable[[Any], dict[str, str]]
    differences: Callable[[Any, Any], list[Difference]]
    row_type: Callable[[Any, "DecodeOptions"], dict[str, Any]]


class Adapter(NamedTuple):
    """What the messages of a format mean for tables.

    Attributes:
        system: Name of the system that writes the messages, as `Source.system` has it.
        change: Returns the change that a message represents: takes the model, the key of the Kafka
            record, which may be None, and the `DecodeOptions`. It raises `DecodeError` for a
            message that contradicts itself.
        options: Names of the options of `DecodeOptions` that the adapter supports: ``row_image``,
            ``key_columns``, and those of `VendorKeywords`. Any other option is refused.
        reasons: Why an option is refused, by its name; for the text of the error.
        delete_by_key: Returns the delete that a Kafka record without value represents: takes its
            key and the `DecodeOptions`. None if keys of records do not name rows; then the option
            ``tombstones`` is refused.
        schemas: Properties of the schemas in the messages; None if messages have no schema.
        declared: Yields the columns for which a message, as dictionaries and lists, declares a
            type. None if messages declare no types.
        undeclared: Yields an issue for each column, and each column of the key, that a message has
            and does not declare; for strict checks. None if messages declare no columns.
    """

    system: str
    change: Callable[[Any, bytes | None, "DecodeOptions"], ChangeRow | Change]
    options: Collection[str] = ()
    reasons: Mapping[str, str] = {}
    delete_by_key: Callable[[bytes, "DecodeOptions"], ChangeRow | Change] | None = None
    schemas: Dialect | None = None
    declared: Callable[[Any], Iterator[Declared]] | None = None
    undeclared: Callable[[Any], Iterator[Issue]] | None = None

    def refusal(self, option: str) -> str | None:
        """Return why an option is refused; None if the adapter supports it."""
        if option in self.options or (option == "tombstones" and self.delete_by_key):
            return None
        if option in VENDOR_OPTIONS and option not in self.reasons:
            return f"it is for {', '.join(formats_with(option))}"
        return self.reasons.get(option, "its adapter does not name this option")


def formats_with(option: str) -> Iterator[str]:
    """Yield the built-in formats that take an option."""
    return (name for name in BUILT_IN if option in adapter(name).options)


@cache
def adapter(format: str) -> Adapter:
    """Return the adapter of a format; its module is imported with the first call."""
    if format in BUILT_IN:
        module, _, name = BUILT_IN[format].partition(":")
        found: Adapter = getattr(import_module(module), name)
        return found
    point = _entry_point(format)
    if point is None:
        system = format.partition("-")[0]
        return Adapter(system, event_of(format, system), (), dict.fromkeys(OPTIONS, _NO_ADAPTER))
    return _loaded(format, point)


def has_adapter(format: str) -> bool:
    """Return whether a format has an adapter."""
    return format in BUILT_IN or _entry_point(format) is not None


def _entry_point(format: str) -> "EntryPoint | None":
    from importlib.metadata import entry_points  # slow to import, and few programs get here

    found = {point.value: point for point in entry_points(group=GROUP, name=format)}
    if len(found) > 1:
        raise FormatError(f"adapters of {format!r} are brought by {' and '.join(sorted(found))}")
    return next(iter(found.values()), None)


def _loaded(format: str, point: "EntryPoint") -> Adapter:
    """Return the adapter of another package; what it returns is checked."""
    try:
        found = point.load()
    except Exception as error:  # any exception of another package
        reason = f"{type(error).__name__}: {error}"
        raise FormatError(f"the adapter of {format!r} cannot be loaded ({reason})") from error
    if not isinstance(found, Adapter):
        raise FormatError(f"the adapter of {format!r} is not a changewire.Adapter: {point.value}")
    delete = found.delete_by_key
    return found._replace(
        change=checked(format, found.change),
        delete_by_key=None if delete is None else checked(format, delete),
    )


@cache
def format_of_model(kind: Any) -> str:
    """Return the format that a model of a message belongs to."""
    package, _, module = kind.__module__.rpartition(".")
    name = format_of(package) if module == "models" else None
    if name is None or kind not in codec(name).models:
        raise TypeError(f"{kind.__name__} is not a model of a message")
    return name


def change_row(message: object, record_key: bytes | None, options: "DecodeOptions") -> ChangeRow:
    """Return the change of a message.

    A message of a format without adapter is a control event that has it.

    Raises:
        DecodeError: The message contradicts itself.
    """
    kind: Any = type(message)
    name, change = _change_of(kind)
    try:
        found: ChangeRow = change(message, record_key, options)
    except (DecodeError, *RESOURCE_ERRORS):
        raise
    except Exception as error:  # noqa: BLE001 - as at the border of the codec
        raise DecodeError(name, [internal_error(error)]) from None
    return found


@cache
def _change_of(kind: Any) -> tuple[str, Any]:
    """Return the format of a model, and what makes changes of its messages."""
    name = format_of_model(kind)
    return name, adapter(name).change


def deleted_row(record_key: bytes, options: "DecodeOptions") -> ChangeRow:
    """Return the delete that a record without value means, in a format that has such deletes."""
    delete: Any = adapter(options.format).delete_by_key
    if (framed := framing_issue(record_key, "key", "a record key")) is not None:
        raise DecodeError(options.format, [framed])
    try:
        found: ChangeRow = delete(record_key, options)
    except DecodeError as error:
        raise DecodeError(options.format, [_invalid_key(error.issues[0])]) from None
    return found


def _invalid_key(issue: Issue) -> Issue:
    """Return the issue of a record, for one whose place is in its key."""
    place = f" at {issue.place} of it" if issue.pointer else ""
    expected = f"a record key that names a row, with {issue.expected}{place}"
    return Issue("", "invalid-record-key", "tombstones", expected, issue.actual, issue.actual_type)


def empty_message(format: str, *, tombstone: bool) -> ChangeRow:
    """Return the control event of a message that has nothing."""
    source = Source(system=adapter(format).system, database=None, schema=None, table=None)
    return ChangeRow(op="empty", source=source, attributes={"tombstone": tombstone})
