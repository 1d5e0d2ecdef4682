"""A stream of Kafka topics to a log and tables of Delta, without Spark."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from changewire.changes.decode_options import DecodeKeywords, DecodeOptions, ElementsAs
from changewire.engines.kafka_options import address
from changewire.engines.log import log_schema
from changewire.engines.merge.appended import AppendedLog
from changewire.engines.merge.applying import Applying
from changewire.engines.merge.delta import check_path
from changewire.engines.merge.land import Landing
from changewire.engines.merge.log import LocalLog
from changewire.engines.merge.options import LocalOptions, local_options
from changewire.engines.options import (
    ApplyKeywords,
    BatchId,
    KafkaOptions,
    StreamListener,
    TableOptions,
)
from changewire.engines.options import asked as asked_of
from changewire.engines.outcome import Outcome
from changewire.engines.retries import retried
from changewire.engines.signals import signalled
from changewire.engines.stream.batch import Batch, Gathering
from changewire.engines.stream.claim import claimed
from changewire.engines.stream.options import BatchKeywords, LocalStream, StreamKeywords
from changewire.engines.stream.positions import Positions
from changewire.engines.stream.reader import TopicReader
from changewire.engines.stream.reports import BatchReports
from changewire.engines.stream.source import Place, Source, source_of
from changewire.engines.stream.upkeep import Upkeep
from changewire.engines.typed.decode import decoder_of
from changewire.tables.names import absolute, is_path
from changewire.tables.routing import Routing

if TYPE_CHECKING:
    from typing_extensions import Unpack


_LOOK_EVERY: Final = 30.0
"""Seconds between looks for new partitions."""


def stream(
    topics: KafkaOptions,
    *,
    format: str,
    log: str,
    target: str | None = None,
    adopt_table: bool = False,
    elements_as: ElementsAs = "changes",
    **options: Unpack[StreamKeywords],
) -> Outcome:
    """Append every element of the messages of Kafka topics to a log, and merge it into tables.

    Log and tables are those of `apply_changes`, and of `changewire.spark.apply_changes`. The log
    says how far it has each partition, in the commit that has the rows; so a stream that was killed
    is started again, and each element is in the log once. It reads to the ends that the topics have
    at the start, or with ``continuous`` until it is stopped: SIGINT and SIGTERM end it after the
    batch that it is at. One process writes to a log.

    If no broker answers, the stream waits. A message that cannot be read is a dead letter, and a
    table that cannot be written keeps no message out of the log.

    Args:
        topics: Options by the names of Spark's Kafka source: ``kafka.bootstrap.servers``; one of
            ``subscribe``, ``subscribePattern`` and ``assign``; ``startingOffsets``
            (``earliest``, the default, ``latest``, or JSON by partition) for a log that has no
            offsets; ``failOnDataLoss`` (``false`` goes on behind records that were deleted before
            they were read); ``maxOffsetsPerTrigger``; and ``kafka.`` with any option of librdkafka.
            A ``kafka.group.id`` sees the offsets of the log.
        format: Public name of the format, or ``auto``: each message says which it has.
        log: Path of the log (it has a slash).
        target: Path of the tables, as for `apply_changes`; None for a log alone.
        adopt_table: Whether to take over tables that belong to another log or to a query.
        elements_as: ``changes``, or ``messages`` as they are, for a log alone.
        **options: How the stream is run, facts that messages lack, and how tables are written, see
            `StreamKeywords`.

    Returns:
        What the run held; in ``stream`` how many batches it committed.

    Raises:
        ValueError: An argument is not valid, or delta-rs does not take a path.
        KafkaSourceError: The topics cannot be read at the start; its text has no secret. It is a
            `KafkaOptionsError`, and a ValueError too, if an option is not valid.
        StreamError: A partition cannot be read further, or no longer has the offset that the log
            goes on at; the text names topic, partition and offsets.
        KeysMissingError: No change has a key, so that no row is known.
        TooManyDeadLettersError: A batch has more than `max_dead_letters`; it was not written.
        OwnerError: Another stream writes to the log, or a table belongs to another log or a query.
        OutputError: A table or the log has other columns, or is not for delta-rs to read or write.
        ConflictError: Other writers changed a table or the log again and again.
        ConservationError: The decoded rows do not add up.
        ImportError: confluent-kafka is not installed, or the rows are a JSON Schema and the extra
            ``codegen`` is not installed.
    """
    given: dict[str, Any] = {**options}
    own: Any = {n: given.pop(n) for n in BatchKeywords.__annotations__ if n in given}
    decode_options, tables = _asked(format, elements_as, target, given)
    listener = StreamListener(own.pop("notice", None), own.pop("metrics", None))
    own.update(max_dead_letters=given.get("max_dead_letters"), listener=listener)
    run = LocalStream(log, decode_options, tables, **own)
    return run_stream(topics, run, adopt_table=adopt_table)


def run_stream(topics: KafkaOptions, options: LocalStream, *, adopt_table: bool = False) -> Outcome:
    """Stream topics to a log and tables, as `stream` does."""
    source, how, routing = source_of(topics), None, None
    if source.most is not None:
        options = replace(options, batch_size=source.most)
    decode_options, tables = options.decode_options, options.tables
    if tables is not None:
        how = local_options(decode_options, tables, log=options.log, adopt_table=adopt_table)
        routing = how.routing
    options = replace(options, log=_log_path(options.log))
    decoder = decoder_of(decode_options, "json")
    reports = BatchReports(decoder, options.listener, show_values=options.show_values)
    begun = time.perf_counter()
    with signalled() as received, closing(TopicReader(source, options.listener.notice)) as reader:
        places = reader.look()
        log, applying = _opened(options.log, how, log_schema(decoder.schema()))
        query = log.id
        with claimed(options.log):
            log.refresh()
            stream = TopicStream(log, reader, source, options, reports, routing, applying)
            stream.begin(places)
            ready = time.perf_counter()
            stream.run(lambda: bool(received))
    from confluent_kafka import libversion

    found = reports.outcome(address(topics), options.log, has_tables=how is not None)
    engine = f"{found.engine}, librdkafka {libversion()[0]}"
    totals = reports.totals(query, received[0].name if received else None)
    return replace(found, engine=engine, stream=totals, start_seconds=ready - begun)


@dataclass
class TopicStream:
    """One run of a stream: batches are landed one after the other, and other work is done between.

    A kill before the commit of a batch loses nothing that the topics do not have, and one after it
    nothing that the log does not have: the next run reads behind it, and merges the rest.
    """

    log: AppendedLog
    reader: TopicReader
    source: Source
    options: LocalStream
    reports: BatchReports
    routing: Routing | None = None
    applying: Applying | None = None

    def __post_init__(self) -> None:
        """Read how far the log is."""
        log, options, decoder = self.log, self.options, self.reports.decoder
        self._positions = Positions(log, self.source, options.listener.notice)
        self._gathering = Gathering(self.reader, self._positions, decoder, options)
        self._landing = Landing(log, decoder.decode_options, options.max_dead_letters, self.routing)
        self._upkeep = Upkeep(log, options, self.applying, self.reports)
        self._schema = decoder.schema()
        self._looked = time.monotonic()

    def begin(self, places: list[Place]) -> None:
        """Find out where partitions begin, and let the log say so before anything is read."""
        positions = self._positions
        positions.add(places, self.reader)
        if positions.moved:
            self._commit(Batch())
        if not self.options.continuous:
            positions.ends = {place: self.reader.bounds(place).end for place in places}
            positions.is_finite = True
        self.reader.assign(positions.unread)

    def run(self, has_signal: Callable[[], bool]) -> None:
        """Land batches until the ends of the topics, or until the stream is to end."""
        options, is_over = self.options, False

        def is_ending() -> bool:
            return has_signal() or (options.stop is not None and options.stop())

        while not is_over:
            batch = self._gathering(is_ending)
            if batch.messages or self._positions.moved:
                self._commit(batch)
            self._leave()
            is_over = is_ending() or self._positions.are_done
            id_ = BatchId(self.log.id, max(self._positions.batch - 1, 0))
            self._upkeep(id_, is_idle=not batch.messages, is_over=is_over)
            if options.continuous and not is_over:
                self._look()

    def _commit(self, batch: Batch) -> None:
        """Append a batch to the log, with the offsets that come next."""
        begun, positions = time.perf_counter(), self._positions
        rows = batch.table(self._schema)
        counts = self.reports.counted(batch, rows)
        id_, moved = BatchId(self.log.id, positions.batch), positions.moved
        self._landing.number = id_.number
        append = partial(self._landing.append, rows, positions.numbers(), positions.unmoved)
        new = retried(self.log.path, append)
        gaps = positions.committed()
        self.reader.tell(moved)
        if not batch.messages:
            self.reports.passed(gaps, self._lag())
            return
        self._upkeep.landed()
        self.reports.landed(
            id_,
            batch,
            counts,
            known=len(rows) - new,
            gaps=gaps,
            lag=self._lag(),
            seconds=batch.seconds + time.perf_counter() - begun,
        )

    def _lag(self) -> int:
        """Return how many offsets are behind."""
        return sum(
            max(self.reader.end(place) - at, 0) for place, at in self._positions.next.items()
        )

    def _leave(self) -> None:
        """Stop reading partitions that are gone, now that the log says how far it has them."""
        gone = self.reader.gone
        for place in sorted(gone):
            self.reports.passed(self._positions.leave(place, self.reader.end(place)))
        if gone:
            self.reader.assign(self._positions.unread)

    def _look(self) -> None:
        """Read partitions that were added to the topics, now and then."""
        if time.monotonic() - self._looked < _LOOK_EVERY:
            return
        new = self._positions.add(self.reader.look_again(), self.reader)
        if new:
            self.reader.assign(self._positions.unread)
            if self.options.listener.notice is not None:
                named = ", ".join(map(str, new))
                self.options.listener.notice(f"new partitions: {named}")
        self._looked = time.monotonic()


def _asked(
    format: str, elements_as: ElementsAs, target: str | None, options: Any
) -> tuple[DecodeOptions, TableOptions | None]:
    """Return how messages are decoded, and how tables are written; None without a target."""
    if target is not None:
        if elements_as != "changes":
            raise ValueError("tables are made of changes: leave out `target` or `elements_as`")
        of_apply: ApplyKeywords = options
        return asked_of(format, target, of_apply)
    of_messages = {n: options[n] for n in DecodeKeywords.__annotations__ if n in options}
    others = sorted(options.keys() - of_messages.keys() - {"max_dead_letters"})
    if others:
        raise ValueError(f"{', '.join(others)}: only with a target")
    return DecodeOptions(format, elements_as=elements_as, **of_messages), None


def _opened(
    path: str, how: LocalOptions | None, columns: pa.Schema
) -> tuple[AppendedLog, Applying | None]:
    """Return the log, and what merges its changes into tables; None without tables."""
    if how is None:
        return AppendedLog(path, columns), None
    log = LocalLog(path, how.routing.template.text)
    return log, Applying(log, how)


def _log_path(log: str) -> str:
    """Return an absolute path that delta-rs takes, or raise a ValueError."""
    if not is_path(log):
        raise ValueError(f"delta-rs has paths, and {log!r} has no slash: it is a name")
    check_path(absolute(log))
    return absolute(log)
