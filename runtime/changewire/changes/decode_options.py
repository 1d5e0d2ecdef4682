"""How the messages of a topic are decoded to changes: the options, and each record by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from changewire.changes.adapters import adapter, change_row, deleted_row, empty_message
from changewire.changes.change_row import ChangeRow
from changewire.changes.sources import KeysByTable, first_match, ordered_images, ordered_keys
from changewire.changes.vendor_options import check_names, check_word
from changewire.changes.vendors import (
    VENDOR_OPTIONS,
    VendorKeywords,
    with_defaults,
    without_defaults,
)
from changewire.codec import (
    Codec,
    DecodeError,
    FormatError,
    codec,
    codec_for,
    decode_all_any,
    rejection,
)
from changewire.codec.border import RESOURCE_ERRORS, internal_error
from changewire.codec.framed import without_prefix
from changewire.codec.unclaimed import UNKNOWN
from changewire_messages.change import Change, Rejection, Source

if TYPE_CHECKING:
    from typing_extensions import Unpack

RowImage = Literal["full", "patch", "keys"]
ROW_IMAGES: Final[tuple[str, ...]] = get_args(RowImage)
"""Content of `after`: the full row, only changed columns, or only the key."""

ImagesByTable: TypeAlias = Mapping[str, RowImage]
"""Content of `after`, by names of sources or globs of them."""

Tombstones = Literal["ignore", "delete"]
TOMBSTONES: Final[tuple[str, ...]] = get_args(Tombstones)
"""What a Kafka record without value is: an event that changes nothing, or a delete by its key."""

ElementsAs = Literal["changes", "messages"]
ELEMENTS_AS: Final[tuple[str, ...]] = get_args(ElementsAs)
"""Results of an engine: changes and control events, or typed columns of the message."""

Element = tuple[Change | Rejection, list[str]]
"""The meaning of an element, and the names of the leniencies that it needed."""

ElementRow = tuple[ChangeRow | Rejection, list[str]]
"""The same, as the columns of a table."""

AUTO: Final = "auto"
"""Instead of a format: each message says which it has, as on a topic that carries several."""


class DecodeKeywords(VendorKeywords, total=False):
    """Information that messages lack: keyword arguments of functions that decode.

    The options of `VendorKeywords` are among them.

    Attributes:
        row_image: Part of a row that a write has: ``full`` (default), the whole row;
            ``patch``, only the columns that changed; or ``keys``, only the key. A mapping has it by
            names of sources or globs of them, as `key_columns`; writes of others have the full row.
        key_columns: Columns that name the row; by default those that the message or its format
            says. A mapping has them by names of sources such as ``shop.orders``, or globs of them
            such as ``shop.*``: a name counts before globs, a longer glob before a shorter one.
        tombstones: What a Kafka record without value is: ``ignore`` (default), an event that
            changes nothing, or ``delete``, of the row that its key names, as on compacted topics.
        strip_registry_prefix: Whether to remove the 5 bytes that serializers of a schema registry
            put before values and record keys; by default they are rejected.
    """

    row_image: RowImage | ImagesByTable
    key_columns: Sequence[str] | KeysByTable | None
    tombstones: Tombstones
    strip_registry_prefix: bool


@dataclass(frozen=True, init=False)
class DecodeOptions:
    """The format of messages, and information that they lack.

    The attributes that are not named here are those of `DecodeKeywords`.

    Attributes:
        format: Public name of the format, or `AUTO`. Then each message is read by the format that
            `changewire.detect` finds, formats without a use for an option leave it aside, and
            a message that no format claims is rejected: as ``unknown-variant``, or with the code of
            the parser if it begins as a message and cannot be parsed.
        elements_as: What an engine makes of elements: ``changes``, or ``messages``, which are kept
            as they are. Those are of one format, and have no use for the options above.
        vendor: Each option of `VendorKeywords`, given or by default.

    Raises:
        ValueError: There is no such format, image or time zone, or another option does not fit it.
        TypeError: There is no such option.
        ImportError: Digests are to be compared, and pycryptodome is not installed.
    """

    format: str
    row_image: RowImage | ImagesByTable
    key_columns: Sequence[str] | KeysByTable | None
    tombstones: Tombstones
    elements_as: ElementsAs
    strip_registry_prefix: bool
    vendor: Mapping[str, Any]

    def __init__(
        self,
        format: str,
        row_image: RowImage | ImagesByTable = "full",
        key_columns: Sequence[str] | KeysByTable | None = None,
        *,
        tombstones: Tombstones = "ignore",
        elements_as: ElementsAs = "changes",
        strip_registry_prefix: bool = False,
        **vendor: Unpack[VendorKeywords],
    ) -> None:
        """Check that the format exists, and the rest fits it."""
        self.__dict__.update(
            format=format,
            row_image=row_image,
            key_columns=key_columns,
            tombstones=tombstones,
            elements_as=elements_as,
            strip_registry_prefix=strip_registry_prefix,
            vendor=with_defaults(vendor),
        )
        if format != AUTO:
            codec(format)
        given = _given(self)
        if elements_as == "messages":
            _check_messages(format, given)
        for option in given:
            reason = _refusal(format, option)
            if reason:
                raise ValueError(f"{option} does not apply to {format}: {reason}")
        for name, value in without_defaults(self.vendor).items():
            check = VENDOR_OPTIONS[name].declaration.check
            if check is not None:
                check(value)

    @cached_property
    def _ordered_keys(self) -> list[tuple[str, list[str]]]:
        return ordered_keys(self.key_columns)

    def keys_of(self, source: Source) -> Sequence[str] | None:
        """Return the columns that name the rows of a source; None if its messages say them."""
        if not isinstance(self.key_columns, Mapping):
            return self.key_columns
        return first_match(self._ordered_keys, source)

    @cached_property
    def _ordered_images(self) -> list[tuple[str, str]]:
        return ordered_images(self.row_image)

    def image_of(self, source: Source) -> str:
        """Return the part of a row that the writes of a source have."""
        if not isinstance(self.row_image, Mapping):
            return self.row_image
        return first_match(self._ordered_images, source) or ROW_IMAGES[0]

    def format_of(self, value: bytes) -> str:
        """Return the name of the format that a message is read by.

        Raises:
            DecodeError: No format claims it.
        """
        return codec_for(self.stripped(value)).format if self.format == AUTO else self.format

    def stripped(self, value: bytes) -> bytes:
        """Return a value without the prefix of a schema registry, if that is asked for."""
        return without_prefix(value) if self.strip_registry_prefix else value

    def elements(self, value: bytes | None, record_key: bytes | None = None) -> list[Element]:
        """Return what becomes of each element of a message; an empty one is one control event.

        Args:
            value: The value of a Kafka record; None for a tombstone.
            record_key: Its key.
        """
        return [
            (found.change() if isinstance(found, ChangeRow) else found, leniencies)
            for found, leniencies in self.rows(value, record_key)
        ]

    def rows(self, value: bytes | None, record_key: bytes | None) -> list[ElementRow]:
        """Return what `elements` does, as the columns of a table."""
        if self.strip_registry_prefix:
            value = None if value is None else without_prefix(value)
            record_key = None if record_key is None else without_prefix(record_key)
        if value is None:
            return [(self._without_value(record_key), [])]
        if self.format == AUTO:
            try:
                reader, models = decode_all_any(value)
            except DecodeError as error:
                return [(rejection(error), [])]
        else:
            reader = codec(self.format)
            models = reader.decode_all(value)
        if len(models) == 1:
            return [self._element(reader, models[0], 0, record_key)]
        if not models:
            return [(empty_message(reader.format, tombstone=False), [])]
        return [self._element(reader, model, i, record_key) for i, model in enumerate(models)]

    def _without_value(self, record_key: bytes | None) -> ChangeRow | Rejection:
        if self.tombstones == "ignore" or record_key is None:
            name = UNKNOWN if self.format == AUTO else self.format
            return empty_message(name, tombstone=True)
        try:
            return deleted_row(record_key, self)
        except DecodeError as error:
            return rejection(error)

    def _element(
        self, reader: Codec, model: Any, number: int, record_key: bytes | None
    ) -> ElementRow:
        if type(model) is Rejection:
            return model, []
        try:
            change = change_row(model, record_key, self)
        except DecodeError as error:
            return rejection(error, number), []
        except (FormatError, *RESOURCE_ERRORS):  # not of this message
            raise
        except Exception as error:  # noqa: BLE001 - one element must not end the others
            return rejection(DecodeError(reader.format, [internal_error(error)]), number), []
        used = reader.leniencies(model)
        more = change.attributes.get("leniencies")
        return change, used + more if more else used


def _given(options: DecodeOptions) -> list[str]:
    """Return the names of the options for changes that differ from their defaults, all checked."""
    check_word("elements_as", options.elements_as, ELEMENTS_AS)
    for _, image in ordered_images(options.row_image):
        check_word("row_image", image, ROW_IMAGES)
    check_word("tombstones", options.tombstones, TOMBSTONES)
    if options.key_columns is not None:
        _check_keys(options.key_columns)
    for name, value in options.vendor.items():
        VENDOR_OPTIONS[name].check_form(value)
    own = {
        "row_image": options.row_image != ROW_IMAGES[0],
        "key_columns": options.key_columns is not None,
        "tombstones": options.tombstones != TOMBSTONES[0],
    }
    return [
        *(name for name, is_given in own.items() if is_given),
        *without_defaults(options.vendor),
    ]


def _check_keys(given: Sequence[str] | KeysByTable) -> None:
    check_names("key_columns", given)
    for name, keys in given.items() if isinstance(given, Mapping) else ():
        if not name:
            raise ValueError("key_columns: the name of a table is not empty")
        check_names(f"key_columns of {name}", keys)


def _check_messages(format: str, given: list[str]) -> None:
    """Check the options of messages that are kept as they are: none for changes, and one format."""
    if format == AUTO:
        raise ValueError("messages have the columns of one format: name it instead of auto")
    if given:
        raise ValueError(f"{', '.join(given)}: for changes; messages are kept as they are")


def _refusal(format: str, option: str) -> str | None:
    """Return why an option is refused; None if the format has a use for it."""
    if format != AUTO:
        return adapter(format).refusal(option)
    return "a record without value does not say its format" if option == "tombstones" else None
