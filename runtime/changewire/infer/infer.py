"""Captured messages to a draft: what was seen of each table, and the schema of one of them."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from changewire.changes import embedded
from changewire.changes.decode_options import DecodeOptions
from changewire.changes.schemas import TopicTally
from changewire.codec import Data
from changewire.codec.wire import bytes_of
from changewire.framing import Position, Record
from changewire.generator import generator_part
from changewire.infer.draft import Drafter, class_name
from changewire.infer.kinds import declare
from changewire.infer.profile import Profile, Room, TableError
from changewire.tables.names import tables_named
from changewire_messages.change import Change, Source

_MOST_TABLES: Final = 1000
_MOST_CORRECTIONS: Final = 200
_TITLE: Final = "Row"


@dataclass(frozen=True)
class Draft:
    """A schema of rows, for a person to finish.

    Attributes:
        schema: The schema, in the dialect of ``schemas/README.md``.
        table: The table whose rows it describes, its names with dots between.
        rows: How many rows were seen: images before and after changes.
        rejected: How many elements of messages, of any table, were rejected.
    """

    schema: dict[str, Any]
    table: str
    rows: int
    rejected: int


class Observer:
    """Looks at messages, one after the other."""

    def __init__(self, decode_options: DecodeOptions) -> None:
        self.rejected: int = 0
        self._decode_options = decode_options
        self._rows: dict[str, Profile] = {}
        self._room = Room()
        self._schemas = TopicTally()

    def add(self, record: Record) -> list[Any]:
        """Look at the rows of a message, and return the rejections of rejected elements."""
        rejected: list[Any] = []
        for found, _ in self._decode_options.elements(record.value, record.key):
            if not isinstance(found, Change):
                rejected.append(found)
                continue
            for image in (found.before, found.after):
                if image is not None:
                    self._profile(found.source).add(image)
        self.rejected += len(rejected)
        if record.value is not None and not rejected:
            self._declare(record)
        return rejected

    def draft(self, table: str | None, title: str | None, *, show_values: bool) -> Draft:
        """Return the draft of a table."""
        name = self._table(table)
        rows = Profile(Room())
        for columns in self._columns(name):
            declare(rows, columns)
        rows.absorb(self._rows[name])
        heading = f"Drafted from {rows.count:,} images of rows of {name!a}."
        if rows.is_map:
            raise ValueError(f"rows of {name!a} have more columns than a table has")
        wanted = title or _title(name.rpartition(".")[2])
        schema = _corrected(rows, wanted, heading, show_values=show_values)
        return Draft(schema, name, rows.count, self.rejected)

    def _profile(self, source: Source) -> Profile:
        name = _name(source)
        if name not in self._rows and len(self._rows) >= _MOST_TABLES:
            raise TableError(f"the messages are of more than {_MOST_TABLES:,} tables")
        return self._rows.setdefault(name, Profile(self._room))

    def _declare(self, record: Record) -> None:
        """Note the schema that is in a message; formats without such are left aside."""
        value: Any = record.value
        name = self._decode_options.format_of(value)
        tally = self._schemas.tally_of(name)
        if tally is not None:
            tally.add(value, record.position)

    def _columns(self, table: str) -> Iterable[Mapping[str, Any]]:
        """Yield the column types that the schemas of a table declare."""
        for name, tally in self._schemas.tallies.items():
            for use in tally.schemas().schemas if tally else ():
                if _name(use.source) == table:
                    with suppress(ValueError):  # it declares no column of a row
                        yield embedded.row_type(use.text, name, self._decode_options)

    def _table(self, table: str | None) -> str:
        """Return the name of the table that is meant."""
        names = [*self._rows] if table is None else tables_named(table, self._rows)
        if len(names) == 1:
            return names[0]
        counts = sorted((-profile.count, name) for name, profile in self._rows.items())
        there = ", ".join(f"{name!a} ({-count:,})" for count, name in counts[:20])
        raise TableError(f"name one table; there are rows of: {there or 'none'}")


def infer(
    messages: Iterable[Record | Data],
    *,
    format: str,
    table: str | None = None,
    title: str | None = None,
    show_values: bool = False,
) -> Draft:
    """Return a draft of the schema of a table's rows, from captured messages.

    The types are those that schemas in the messages declare and values have:
    every row that was seen fits the draft. Comments say how many rows have a column, in how many
    it is null, and its types, but no value. The same messages give the same draft.

    Args:
        messages: Records, as `changewire.framing.read` gives them, or values of Kafka records.
        format: Public name of the format, or ``auto``.
        table: The table, its names with dots between, or the last of them; messages of one table
            need none.
        title: Name of the class of rows; that of the table unless given.
        show_values: Whether comments have the least and the greatest integer of a column.

    Raises:
        TableError: The messages are of several tables, or have no rows, and `table` names none.
        ValueError: There is no such format, or no schema for such rows.
        ImportError: The extra ``codegen`` is not installed.
    """
    observer = Observer(DecodeOptions(format))
    for number, message in enumerate(messages):
        if isinstance(message, Record):
            observer.add(message)
        else:
            observer.add(Record(None, bytes_of(message), Position(number=number)))
    return observer.draft(table, title, show_values=show_values)


def _name(source: Source) -> str:
    names = (source.database, source.schema, source.table)
    return ".".join(name for name in names if name is not None) or source.system


def _title(table: str) -> str:
    """Return the title of the rows of a table, which the generator takes."""
    title = class_name(table) or _TITLE
    return f"{title}{_TITLE}" if generator_part("title_problem", "infer needs")(title) else title


def _corrected(rows: Profile, title: str, heading: str, *, show_values: bool) -> dict[str, Any]:
    """Return a schema that the generator takes."""
    check = generator_part("check_row", "infer needs")
    drafter = Drafter(title, show_values=show_values)
    left_out: dict[str, str] = {}
    maps = set[str]()
    for _ in range(_MOST_CORRECTIONS):
        schema = drafter.schema(rows, heading, left_out, maps)
        try:
            check(schema)
        except ValueError as error:  # its type is the generator's
            _correct(error, drafter, left_out, maps)
        else:
            return schema
    raise ValueError(f"the dialect rejects more than {_MOST_CORRECTIONS} columns")


def _correct(error: ValueError, drafter: Drafter, left_out: dict[str, str], maps: set[str]) -> None:
    """Note what is to become of the place that the generator rejects, or raise its error."""
    reason = str(getattr(error, "reason", error))
    pointer = str(getattr(error, "pointer", ""))
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:3]]
    match steps:
        case ["properties", name] if name not in left_out:
            left_out[name] = reason
        case ["$defs", name] if drafter.paths.get(name, "") not in {"", *maps}:
            maps.add(drafter.paths[name])
        case ["properties"]:  # none is left
            first = [f"{name!a} is left out: {why}" for name, why in left_out.items()][:5]
            reason = "; ".join(first) or "they have no columns"
            raise ValueError(f"no schema for such rows: {reason}") from error
        case _:
            raise ValueError(f"no schema for such rows: {reason}") from error
