"""Partitions whose ends are given, without a broker, and what a log says of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from changewire.engines.log import log_schema
from changewire.engines.merge.appended import AppendedLog
from changewire.engines.stream.positions import Positions
from changewire.engines.stream.reader import Bounds
from changewire.engines.stream.source import Place, source_of

A, B = Place("a", 0), Place("b", 0)
OPTIONS = {"kafka.bootstrap.servers": "h:1", "subscribePattern": ".*"}


@dataclass
class Ends:
    """A reader that knows where partitions begin and end."""

    bounds_of: dict[Place, Bounds] = field(default_factory=dict)

    def bounds(self, place: Place) -> Bounds:
        """Return what it was given."""
        return self.bounds_of[place]


def positions(path: Path, **options: str) -> Positions:
    """Return the positions that a log has."""
    return Positions(AppendedLog(str(path), log_schema()), source_of({**OPTIONS, **options}))
