"""Results of adapters: changes as the columns of a table."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, ClassVar, Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from changewire.changes.values import EPOCH
from changewire_messages.change import Change, Row, Sequence, Source
from changewire_messages.support import Extra

_MICROSECOND: Final = timedelta(microseconds=1)


class ChangeRow(Struct, frozen=True, gc=False, kw_only=True):
    """The result of an adapter: a `Change`, but for its time.

    Engines put it into columns as it is. To make a datetime of a time, and a column of datetimes,
    takes as long as all else of a change together.
    """

    op: Any
    source: Source
    key: Row | None = None
    before_key: Row | None = None
    before: Row | None = None
    after: Row | None = None
    event_time: int | None = None
    sequence: Sequence | None = None
    ddl: str | None = None
    schema_fingerprint: str | None = None
    attributes: Row
    extra: ClassVar[UnsetType] = UNSET

    def change(self) -> Change:
        """Return the change; its rows are no longer those of the message."""
        time = self.event_time
        return Change(
            op=self.op,
            source=self.source,
            key=self.key,
            before_key=self.before_key,
            before=self.before and self.before.copy(),
            after=self.after and self.after.copy(),
            event_time=None if time is None else EPOCH + _MICROSECOND * time,
            sequence=self.sequence,
            ddl=self.ddl,
            schema_fingerprint=self.schema_fingerprint,
            attributes=self.attributes,
        )


def row_of(change: Change) -> ChangeRow:
    """Return a change as columns."""
    time = change.event_time
    return ChangeRow(
        op=change.op,
        source=change.source,
        key=change.key,
        before_key=change.before_key,
        before=change.before,
        after=change.after,
        event_time=None if time is None else (time - EPOCH) // _MICROSECOND,
        sequence=change.sequence,
        ddl=change.ddl,
        schema_fingerprint=change.schema_fingerprint,
        attributes=change.attributes,
    )


def unknown_event(message: msgspec.Struct, system: str) -> ChangeRow:
    """Return the event of a message whose variant no adapter knows: all of it is kept."""
    held = msgspec.to_builtins(message, builtin_types=(bytes, datetime, Decimal), enc_hook=_held)
    source = Source(system=system, database=None, schema=None, table=None)
    return ChangeRow(op="other", source=source, attributes={"message": held})


def _held(value: object) -> object:
    """Return values of models only, as what JSON has."""
    if isinstance(value, msgspec.Raw):
        return msgspec.json.decode(value)
    if isinstance(value, Extra):
        return dict(value)
    return None if value is UNSET else str(value)
