"""How far a log has each partition: its commits say so, as transactions of Delta."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from changewire.engines.errors import OutputError, OwnerError, StreamError
from changewire.engines.kafka_options import KafkaOptionsError
from changewire.engines.log import log_schema
from changewire.engines.merge.appended import AppendedLog
from changewire.engines.options import Listener
from changewire.engines.stream.reader import Bounds, TopicReader
from changewire.engines.stream.source import EARLIEST, LATEST, Place, Source

_DELETED: Final = (
    "; they were deleted before they were read: the option failOnDataLoss=false goes on behind "
    "them, and counts them as offset gaps"
)
_SHORTER: Final = (
    "; was the topic deleted and created again? The log takes its records for those that it has: "
    "choose another log"
)


def has_positions(path: str) -> bool:
    """Whether a stream without Spark writes to a log."""
    try:
        log = AppendedLog(path, log_schema())
    except OutputError:
        return False
    return log.version >= 0 and log.number_of(_app_of(log)) is not None


def _app_of(log: AppendedLog) -> str:
    return f"changewire/{log.id}"


class Positions:
    """The next offset of each partition.

    Attributes:
        next: What is read next.
        ends: Where partitions end, for a stream that ends there; empty for others.
        is_finite: Whether the stream ends there.
        batch: Number of the next batch.
        gaps: Offsets without a record since the last commit.
    """

    def __init__(self, log: AppendedLog, source: Source, notice: Listener | None = None) -> None:
        """Read the offsets in the log, which is created; `notice` gets a line of lost records."""
        self.next: dict[Place, int] = {}
        self.ends: dict[Place, int] = {}
        self.is_finite = False
        self.gaps: int = 0
        self._log, self._source, self._notice = log, source, notice
        self._app = _app_of(log)
        found = log.number_of(self._app)
        self.batch: int = found or 0
        self._kept_batch = found
        self._kept: dict[Place, int] = {}

    def add(self, places: Iterable[Place], reader: TopicReader) -> list[Place]:
        """Add the partitions that are new, and return them: those that the log has go on there."""
        new = [place for place in places if place not in self.next and self._source.has(place)]
        if self._kept_batch is None:
            self._check_starts(new)
        for place in new:
            number = self._log.number_of(self._named(place))
            if number is not None:
                self.next[place] = self._kept[place] = number
        topics = {place.topic for place in self.next}
        is_new = self._kept_batch is not None
        for place in new:
            bounds = reader.bounds(place)
            if place not in self.next:
                at = self._source.starts.get(place, self._source.start)
                if not (is_new or EARLIEST <= at <= bounds.end):
                    raise KafkaOptionsError(
                        f"startingOffsets: {place}: expected an offset up to {bounds.end}, "
                        f"{LATEST} or {EARLIEST}, found {at}"
                    )
                at = (0 if place.topic in topics else bounds.oldest) if is_new else at
                self.next[place] = {EARLIEST: bounds.oldest, LATEST: bounds.end}.get(at, at)
            self._check(place, bounds)
        return new

    def _check_starts(self, places: list[Place]) -> None:
        """Check that the partitions that ``startingOffsets`` lists are all of some topics."""
        starts = self._source.starts
        topics = {place.topic for place in starts}
        of_topics = {place for place in places if place.topic in topics}
        for found, is_wrong in (
            (starts.keys() - of_topics, "is not read: correct it, or leave it out"),
            (of_topics - starts.keys(), "is missing: -1 is the latest offset, -2 the earliest"),
        ):
            if found:
                raise KafkaOptionsError(f"startingOffsets: {min(found)} {is_wrong}")

    def check(self, place: Place, reader: TopicReader) -> None:
        """Check that a partition has what is read next; offsets that are lost are gaps."""
        self._check(place, reader.bounds(place))

    def _check(self, place: Place, bounds: Bounds) -> None:
        at = self.next[place]
        if at > bounds.end:
            raise StreamError(
                f"{place}: the log goes on at offset {at}, and the partition ends before offset "
                f"{bounds.end}{_SHORTER}"
            )
        if at < bounds.oldest and self._source.fails_on_loss:
            raise StreamError(
                f"{place}: the log goes on at offset {at}, and the oldest offset of the partition "
                f"is {bounds.oldest}; {bounds.oldest - at} offsets lie between{_DELETED}"
            )
        lost = self._advance(place, max(at, bounds.oldest))
        if lost:
            self._say(f"{place}: {lost} offsets were deleted before they were read")

    def leave(self, place: Place, end: int) -> int:
        """Stop reading a partition that is gone; return how many offsets to its end are lost."""
        at = self.next[place]
        lost = max(self.ends.get(place, end) - at, 0)
        if lost and self._source.fails_on_loss:
            raise StreamError(
                f"{place}: the log goes on at offset {at}, and the partition is gone, which had "
                f"records to offset {at + lost}; {lost} offsets lie between{_DELETED}"
            )
        del self.next[place]
        self.ends.pop(place, None)
        self._say(f"{place}: the partition is gone, {lost} offsets unread")
        return lost

    def take(self, place: Place, offsets: Sequence[int]) -> slice:
        """Return which records are wanted, by their offsets in order.

        The log does not have them, and they are not beyond the end.
        """
        end = self.ends.get(place)
        first = bisect_left(offsets, self.next[place])
        last = len(offsets) if end is None else bisect_left(offsets, end)
        if first < last:
            self._advance(place, offsets[last - 1] + 1)
            self.gaps -= last - first  # these have a record
        if end is not None and last < len(offsets):
            self._advance(place, max(end, self.next[place]))
        return slice(first, last)

    def reach(self, place: Place, offset: int) -> None:
        """Take note that a partition has no record before an offset that was not read."""
        if offset > self.next[place]:
            self._advance(place, min(offset, self.ends.get(place, offset)))

    def is_done(self, place: Place) -> bool:
        """Whether a partition was read to its end."""
        return place in self.ends and self.next[place] >= self.ends[place]

    @property
    def are_done(self) -> bool:
        """Whether all partitions were read to their ends."""
        return self.is_finite and all(map(self.is_done, self.next))

    @property
    def unread(self) -> dict[Place, int]:
        """The next offsets of partitions that were not read to their ends."""
        return {place: at for place, at in self.next.items() if not self.is_done(place)}

    @property
    def moved(self) -> dict[Place, int]:
        """The next offsets of which the log does not say so yet."""
        return {place: at for place, at in self.next.items() if self._kept.get(place) != at}

    def numbers(self) -> Mapping[str, int]:
        """Return the transactions of the next commit, each with its number."""
        batch = 0 if self._kept_batch is None else self.batch + 1
        return {self._app: batch, **{self._named(one): at for one, at in self.moved.items()}}

    def unmoved(self) -> None:
        """Check that no other process moved the offsets of the log, of its newest version."""
        found = self._log.number_of(self._app)
        if found != self._kept_batch:
            raise OwnerError(
                f"{self._log.path}: another stream writes to the log: expected batch "
                f"{self._kept_batch} next, found {found}; one process writes to a log"
            )

    def committed(self) -> int:
        """Take note that the log says so now; return the offsets without a record before that."""
        self._kept = {**self.next}
        self.batch = self._kept_batch = 0 if self._kept_batch is None else self.batch + 1
        gaps, self.gaps = self.gaps, 0
        return gaps

    def _advance(self, place: Place, offset: int) -> int:
        passed = offset - self.next[place]
        self.gaps += passed
        self.next[place] = offset
        return passed

    def _say(self, line: str) -> None:
        if self._notice is not None:
            self._notice(line)

    def _named(self, place: Place) -> str:
        return f"{self._app}/{place}"
