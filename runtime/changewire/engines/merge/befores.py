"""Updates whose images came as two messages: which of them moved a row to another key.

A before image says where a row was. Its key is deleted only if the after image of the same source
and sequence is known and has another key: if that is lost, the row is where it was.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from changewire.engines.effects import EFFECTS
from changewire.engines.layout import CHANGE
from changewire.engines.log import ELEMENT_PLACE
from changewire.engines.merge.log import READ, LocalLog, with_effects
from changewire.engines.merge.mutations import NUMBER
from changewire.engines.python.groups import is_lone_before
from changewire.tables.mutations import DELETE
from changewire.tables.order import ChangePosition, position_in
from changewire.tables.routing import NAMES
from changewire_messages.change import Source

_READ: Final = ("op", "source", "before", "after", "sequence", EFFECTS, *ELEMENT_PLACE)

Update = tuple[Source, int]
"""Source and first number of the sequence of an update."""


@dataclass
class Images:
    """The images of one update.

    Attributes:
        befores: Keys of before images, each with its positions.
        afters: Keys of after images.
    """

    befores: dict[str, set[ChangePosition]] = field(default_factory=dict)
    afters: set[str] = field(default_factory=set)

    @property
    def is_open(self) -> bool:
        """Whether an image of it may be missing."""
        return len(self.befores) != len(self.afters)

    def waiting(self) -> int:
        """Return how many before images wait for their after images."""
        gone = self.befores.keys() - self.afters
        return 0 if self.afters - self.befores.keys() else len(gone)

    def deletes(self, major: int) -> Iterator[dict[str, Any]]:
        """Yield the deletes of keys that are gone, where another key is known, as mutations."""
        if not self.afters - self.befores.keys():
            return
        for key in self.befores.keys() - self.afters:
            for place in self.befores[key]:
                one = {"key": key, "kind": DELETE, "major": major, "minor": 0}
                yield {**one, **place._asdict(), "names": None, "after": None, NUMBER: None}


@dataclass(frozen=True)
class Moved:
    """What the images of updates say.

    Attributes:
        deletes: Mutations of kind ``delete``, by their sources.
        waiting: How many before images wait for their after images.
    """

    deletes: Mapping[Source, list[dict[str, Any]]]
    waiting: int = 0


def moved(rows: pa.Table, log: LocalLog) -> Moved:
    """Return which keys the updates of a batch left; the log has the rows of the batch too."""
    groups: dict[Update, Images] = {}
    add_images(groups, rows)
    unknown = {update for update, images in groups.items() if images.is_open}
    known: dict[Update, Images] = {}
    if unknown:
        # All that is known of these updates is in the log, also what the batch has.
        majors = pa.array(sorted({major for _, major in unknown}), pa.int64())
        where = (ds.field("kind") == CHANGE) & (ds.field("op") == "update")
        where &= ds.field("key").is_valid()
        for part in log.rows(READ, where, ds.field("sequence", "major").isin(majors)):
            add_images(known, with_effects(part), unknown)
    waiting = sum(images.waiting() for images in known.values())
    return Moved(deletes_by_source({**groups, **known}), waiting)


def deletes_by_source(groups: Mapping[Update, Images]) -> dict[Source, list[dict[str, Any]]]:
    """Return the deletes of keys that updates left."""
    found: dict[Source, list[dict[str, Any]]] = {}
    for (source, major), images in groups.items():
        found.setdefault(source, []).extend(images.deletes(major))
    return found


def add_images(
    groups: dict[Update, Images], rows: pa.Table, wanted: Container[Update] | None = None
) -> None:
    """Add the images among decoded rows with `EFFECTS`, of all updates or of those wanted."""
    before, after = is_lone_before(rows), _is_lone_after(rows)
    is_image = pc.fill_null(pc.or_kleene(before, after), False)  # noqa: FBT003 - a value of Arrow
    for row in rows.select([*_READ]).filter(is_image).to_pylist():
        sequence, effects = row["sequence"], row[EFFECTS]
        if not effects or sequence is None or sequence["major"] < 0:
            continue
        update = Source(**{name: row["source"][name] for name in NAMES}), sequence["major"]
        if wanted is not None and update not in wanted:
            continue
        images, key = groups.setdefault(update, Images()), effects[-1]["key"]
        if row["after"] is None:
            images.befores.setdefault(key, set()).add(position_in(row))
        else:
            images.afters.add(key)


def _is_lone_after(rows: pa.Table) -> Any:
    """Return which rows are an after image without its before image."""
    is_half = pc.and_(pc.is_null(rows["before"]), pc.is_valid(rows["after"]))
    minor = pc.struct_field(rows["sequence"], "minor")
    return pc.and_kleene(pc.and_kleene(pc.equal(rows["op"], "update"), is_half), pc.equal(minor, 1))
