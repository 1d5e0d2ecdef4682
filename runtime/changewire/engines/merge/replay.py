"""Replays of dead letters, refused changes and changes without a key, without Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.applied import Replayed
from changewire.engines.arrow.queries import dead_letters, refused
from changewire.engines.decode import Decoder
from changewire.engines.effects import with_keys
from changewire.engines.layout import CHANGE, DEAD_LETTER, INPUT_COLUMNS, RECORD_PLACE
from changewire.engines.log import (
    ATTEMPT,
    ELEMENT_PLACE,
    LOG_COLUMNS,
    REFUSED,
    log_rows,
    log_schema,
    placed,
    places_of,
)
from changewire.engines.merge import delta
from changewire.engines.merge.applying import applied
from changewire.engines.merge.close import meeting
from changewire.engines.merge.log import LocalLog, attempts_of, log_there, of_target
from changewire.engines.merge.options import LocalOptions, local_options
from changewire.engines.options import ApplyKeywords, asked
from changewire.engines.retries import retried

if TYPE_CHECKING:
    from typing_extensions import Unpack

_EVERY: Final = "true"


def replay(
    log: str,
    *,
    format: str,
    target: str,
    where: str | None = None,
    **options: Unpack[ApplyKeywords],
) -> Replayed:
    """Decode dead letters again, and apply again the changes that the target refused.

    What dead letters are by now is appended to the log, and so are refused changes once more, and
    changes without a key that have one by `key_columns`. Then
    the changes that tables lack are merged, in their original order, so what is newer in a table
    stays. A replay that was killed is simply run again. All open dead letters and refused changes
    must fit into memory.

    Args:
        log: Path of the log (it has a slash).
        format: Public name of the format. This and the options are those of `apply_changes`, now
            with what makes the messages valid.
        target: Path of the tables.
        where: Condition in SQL on dead letters, refused changes and changes without a key, such as
            ``"code = 'unknown-variant'"``; None for all.
        **options: See `ApplyKeywords`.

    Raises:
        ValueError: An argument is not valid, or delta-rs does not take a path.
        OwnerError: A table belongs to another log or to a query.
        OutputError: The log does not exist, or `where` is not a condition on it; or a table or the
            log has other columns, or is not for delta-rs to read or write.
        ConflictError: Other writers changed a table or the log again and again.
        ImportError: The rows are a JSON Schema, and the extra ``codegen`` is not installed.
    """
    decode_options, tables = asked(format, target, options)
    return replayed(local_options(decode_options, tables, log=log), Decoder(decode_options), where)


def replayed(options: LocalOptions, decoder: Decoder, where: str | None) -> Replayed:
    """Replay the open rows of a log, as `replay` does."""
    log, place, target = log_there(options), options.log, options.routing.template.text
    letters = meeting(place, dead_letters(place), DEAD_LETTER, where or _EVERY)
    mine = f"({where or _EVERY}) AND {of_target(target)}"
    refusals = meeting(place, refused(place, target=target), REFUSED, mine)
    # What has no position stays open: no row could close it.
    decoded = _elements(placed(letters), decoder)
    keyed = _keyed(log, decoder.decode_options, where)
    appended: list[pa.Table] = []

    def append() -> None:
        log.refresh()
        rows = _new(log, decoded, letters)
        again = _changes(log, placed(refusals))
        named = log_rows(log.lacking(keyed))
        appended[:] = [rows, again, named]
        if any(map(len, appended)):
            log.append(pa.concat_tables(appended))

    retried(place, append)
    done = applied(log, options)
    rows, again, named = appended
    open_refusals = {*places_of(placed(refused(place, target=target)))}
    open_letters = {*places_of(placed(dead_letters(place)))}
    tried = {*places_of(placed(refusals))}
    left = len(open_refusals & {*tried, *places_of(rows), *places_of(named)})
    left += len(open_letters & {*places_of(placed(letters))})
    left += sum(len(one) - len(placed(one)) for one in (letters, refusals))
    closed = len(rows) + len({*places_of(again)} - open_refusals) + len(named)
    return Replayed(len(letters), len(refusals), len(named), closed, left, done.counts)


def _elements(letters: pa.Table, decoder: Decoder) -> pa.Table:
    """Return the elements that dead letters are now, without those that are rejected again."""
    first = {place[:-1]: number for number, place in enumerate(places_of(letters))}
    messages = letters.take(pa.array(first.values(), pa.int64()))
    columns = {"record_key" if name == "key" else name: name for name in INPUT_COLUMNS}
    records = pa.table({name: messages[column] for column, name in columns.items()})
    records = records.cast(pa.schema([*INPUT_COLUMNS.items()]))
    made = [one for batch in records.to_batches() for one in decoder(batch)]
    found = pa.Table.from_batches(made, decoder.schema())
    return found.filter(pc.not_equal(found["kind"], DEAD_LETTER))


def _new(log: LocalLog, elements: pa.Table, letters: pa.Table) -> pa.Table:
    """Return the elements that become rows of the log.

    A message that could not be read has one dead letter, of its first element; its other elements
    are new to the log.
    """
    mine, every = {*places_of(placed(letters))}, pc.scalar(True)  # noqa: FBT003 - a value of Arrow
    messages = {place[:-1] for place in mine}
    near = delta.between(letters, RECORD_PLACE)
    known = {
        place
        for part in log.rows(ELEMENT_PLACE, every, files=near)
        for place in places_of(placed(part))
        if place[:-1] in messages and place not in mine
    }
    kept = pa.array([place not in known for place in places_of(elements)], pa.bool_())
    return log_rows(log.lacking(elements.filter(kept)))


def _changes(log: LocalLog, refusals: pa.Table) -> pa.Table:
    """Return refused changes as their next attempt."""
    wanted, schema = {*attempts_of(refusals)}, log_schema()
    parts = [schema.empty_table()]
    is_change = ds.field("kind") == CHANGE
    near = delta.between(refusals, RECORD_PLACE)
    for part in log.rows(LOG_COLUMNS, is_change, files=near) if wanted else ():
        mask = pa.array([one in wanted for one in attempts_of(part)], pa.bool_())
        parts.append(part.filter(mask).cast(schema))
    found = pa.concat_tables(parts)
    place = schema.get_field_index(ATTEMPT)
    later = pc.add(found[ATTEMPT], pa.scalar(1, pa.int32()))
    return found.set_column(place, schema.field(ATTEMPT), later)


def _keyed(log: LocalLog, options: DecodeOptions, where: str | None) -> pa.Table:
    """Return changes without a key that the log has, each with the key that it has now."""
    schema = log_schema()
    found = schema.empty_table()
    if options.key_columns is not None:
        condition = f"key IS NULL AND ({where or _EVERY})"
        parts = log.selected(LOG_COLUMNS, [CHANGE], condition)
        found = pa.concat_tables([found, *(part.cast(schema) for part in parts)])
    return with_keys(placed(found), options).drop_columns([ATTEMPT])
