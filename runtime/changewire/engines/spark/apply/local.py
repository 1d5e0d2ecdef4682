"""What a small batch does to a table, decided in the driver: few jobs, and small plans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from collections.abc import Sequence as List
from dataclasses import dataclass, replace
from itertools import chain
from operator import itemgetter
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import StringType, StructField, StructType

from changewire.engines.effects import effect_row
from changewire.engines.spark.apply.decide import (
    BEYOND,
    EFFECT_ROW,
    FAILED,
    ROW,
    TOMBSTONE,
    Decide,
    dictionaries,
    output_type,
)
from changewire.engines.spark.apply.decisions import with_known
from changewire.engines.spark.apply.failures import FAILURE, ROW_ID
from changewire.engines.spark.apply.making import local_frame
from changewire.engines.spark.apply.recent import KEPT
from changewire.engines.spark.apply.shape import CONTENT, NAMED
from changewire.engines.spark.apply.states import Mark
from changewire.engines.spark.apply.tables import SparkTables
from changewire.engines.spark.apply.typed_shape import EFFECT_FIELDS, Shape
from changewire.engines.spark.arrow_types import arrow_type
from changewire.tables.batch import KeyedMutation, TableMutations
from changewire.tables.mutations import DELETE
from changewire.tables.order import NO_SEQUENCE, Order, Sequence
from changewire.tables.routing import Refusal

Row = dict[str, Any]

_EFFECTS: Final = StructType([*EFFECT_FIELDS, StructField("after", StringType())])


BURIED: Final = ("key", "metadata")
"""Columns of `output_type` of tombstones."""

WRITTEN: Final = ("action", NAMED, CONTENT, "metadata", "expected", BEYOND)
"""Columns of `output_type` of rows that are written or removed."""


@dataclass(frozen=True)
class LocalDecisions:
    """What rows become; see `decisions.Decisions`.

    Attributes:
        spark: The session.
        shape: How the table has its rows.
        made: Decisions of `Decide`.
        counts: What became of the changes.
        keys: How many keys were looked at, and how many need not be.
    """

    spark: SparkSession
    shape: Shape
    made: list[Row]
    counts: Counter[str]
    keys: Counter[str]

    @property
    def tombstones(self) -> int:
        """How many tombstones they have."""
        return len(self.tombstone_rows)

    @property
    def changed(self) -> int:
        """How many rows are written or removed."""
        return sum(one["action"] == ROW or _is_expected(one) for one in self.made)

    @property
    def is_blind(self) -> bool:
        """Whether some keys were not looked at."""
        return any(one[BEYOND] for one in self.made)

    @property
    def perhaps(self) -> int:
        """How many more rows are removed if they are there."""
        return sum(map(_is_removed_blindly, self.made))

    @property
    def newest(self) -> Sequence:
        """The greatest sequence that is written."""
        found = (one["metadata"]["sequence"] for one in self.made if one.get("metadata"))
        pairs = ((one["major"], one["minor"]) for one in found if one is not None)
        return max(pairs, default=NO_SEQUENCE)

    @property
    def failed(self) -> int:
        """How many effects cannot be applied."""
        return sum(one["action"] == FAILED for one in self.made)

    def written(self) -> pa.Table:
        """Return the rows and tombstones that are written; see `RecentRows.with_batch`."""
        rows = [one for one in self.made if one["action"] in {ROW, TOMBSTONE}]
        return pa.Table.from_pylist(rows, pa.schema([*arrow_type(_kept(self.shape))]))

    def failures(self) -> dict[int, Refusal] | None:
        """Return why changes of the batch cannot be applied, by their numbers; None if all can."""
        failed = (one for one in self.made if one["action"] == FAILED and one[ROW_ID] is not None)
        return {one[ROW_ID]: Refusal(**one[FAILURE]) for one in failed} or None

    @property
    def tombstone_rows(self) -> list[Row]:
        """The tombstones, with columns of `output_type`."""
        return [one for one in self.made if one["action"] == TOMBSTONE]

    @property
    def changed_rows(self) -> list[Row]:
        """The rows that are written or removed, with columns of `output_type`."""
        return [one for one in self.made if _is_changed(one)]

    def buried(self) -> DataFrame:
        """Return ``key`` and ``metadata`` of the tombstones."""
        return self._frame(self.tombstone_rows, BURIED)

    def rows(self) -> DataFrame:
        """Return the rows that are written or removed, with columns of `output_type`."""
        return self._frame(self.changed_rows, WRITTEN)

    def _frame(self, rows: list[Row], names: List[str]) -> DataFrame:
        kind = output_type(self.shape)
        return local_frame(self.spark, rows, StructType([kind[name] for name in names]))


def _kept(shape: Shape) -> StructType:
    """Return the columns that are remembered of what is written."""
    kind = output_type(shape)
    return StructType([kind[name] for name in KEPT])


def _is_expected(decision: Row) -> bool:
    return decision.get("expected") is not None


def _is_removed_blindly(decision: Row) -> bool:
    return decision["action"] == TOMBSTONE and bool(decision[BEYOND])


def _is_changed(decision: Row) -> bool:
    return decision["action"] == ROW or _is_expected(decision) or _is_removed_blindly(decision)


@dataclass(frozen=True)
class LocalEffects:
    """What the changes of a small batch do to the rows of one table; see `SparkEffects`.

    Attributes:
        spark: The session.
        rows: The columns of effects as `Shape.fit` returns them; `ROW_ID` is the number of the
            change in its batch.
    """

    spark: SparkSession
    rows: list[Row]

    def without(self, failures: Mapping[int, Refusal]) -> LocalEffects:
        """Return what is left without some changes."""
        return replace(self, rows=[one for one in self.rows if one[ROW_ID] not in failures])

    def decisions(
        self, tables: SparkTables, floor: Order, mark: Mark, *, is_new: bool
    ) -> LocalDecisions:
        """Return what each row becomes; see `SparkEffects.decisions`.

        A key is not looked at if all its changes have sequences, and one of them, which leaves
        nothing of what was there, is newer than anything that is there.
        """
        beyond = self._beyond(mark)
        fitting = (one for one in self.rows if one[FAILURE] is None)
        named = {one["key"]: one[NAMED] for one in fitting if one["key"] not in beyond}
        recent = None if is_new else mark.recent
        remembered = [] if recent is None else [*recent.held(named)]
        for one in remembered:
            del named[one["key"]]
        held = chain(remembered, self._held(tables, named, is_all=is_new))
        effects = ({**one, "origin": EFFECT_ROW} for one in self.rows)
        made = decided_here(self.spark, tables.shape, chain(effects, held), floor, beyond)
        every = len({one["key"] for one in self.rows})
        keys = Counter(beyond_mark=len(beyond), remembered=len(remembered))
        keys["looked_up"] = every - keys.total()
        return replace(made, keys=+keys)

    def _beyond(self, mark: Mark) -> set[str]:
        """Return the keys that need no look."""
        newest: dict[str, Sequence] = {}
        without: set[str] = set()
        for one in self.rows:
            sequence, key = one["sequence"], one["key"]
            if sequence is None:
                without.add(key)
            elif one["kind"] != "patch" and one[FAILURE] is None:
                pair = (sequence["major"], sequence["minor"])
                newest[key] = max(newest.get(key, pair), pair)
        whole = {key: sequence for key, sequence in newest.items() if key not in without}
        recent = mark.recent_rows() if whole else None
        if recent is None:
            return set()
        known, others = recent.sequences, recent.bound
        return {key for key, one in whole.items() if one > known.get(key, others)}

    def _held(
        self, tables: SparkTables, named: Mapping[str, Any], *, is_all: bool
    ) -> Iterable[Row]:
        """Yield what a table has of some keys; of all keys if that is asked for."""
        if not named and not is_all:
            return ()
        shape = tables.shape
        kind = StructType([StructField("key", StringType()), StructField(NAMED, shape.named_type)])
        wanted = [{"key": key, NAMED: value} for key, value in named.items()]
        keys = F.broadcast(local_frame(self.spark, wanted, kind))
        found = with_known(None, keys, tables, is_all=is_all).toArrow()
        return dictionaries(found.to_batches())


def decided_here(
    spark: SparkSession,
    shape: Shape,
    rows: Iterable[Row],
    floor: Order,
    beyond: Collection[str] = (),
) -> LocalDecisions:
    """Return what rows become, decided in this process.

    Args:
        spark: The session.
        shape: How the table has its rows.
        rows: Effects and what the tables have of their keys, as `input_type` has them.
        floor: Order of the newest truncate of the table.
        beyond: Keys that were not looked at.
    """
    counts: Counter[str] = Counter()
    decisions = Decide(shape, floor).decisions(sorted(rows, key=itemgetter("key")), counts)
    made = [{**one, BEYOND: one["key"] in beyond} for one in chain.from_iterable(decisions)]
    return LocalDecisions(spark, shape, made, +counts, Counter())


def local_effects(
    spark: SparkSession, mutations: TableMutations, afters: List[str | None], shape: Shape
) -> LocalEffects:
    """Return what changes do to the rows of a table.

    Args:
        spark: The session.
        mutations: What they do, each with the number of its change.
        afters: Rows after the changes as JSON text, by the numbers of the changes.
        shape: How the table has its rows.
    """
    rows = [_effect(one, afters) for one in chain.from_iterable(mutations.values())]
    fitted = shape.fit([pa.RecordBatch.from_pylist(rows, pa.schema([*arrow_type(_EFFECTS)]))])
    return LocalEffects(spark, [*dictionaries(fitted)])


def _effect(one: KeyedMutation, afters: List[str | None]) -> Row:
    """Return the columns of an effect; its row after the change is that of the change."""
    mutation = one.mutation
    after = None if one.number is None or mutation.kind == DELETE else afters[one.number]
    return {
        ROW_ID: one.number,
        **effect_row(mutation, one.key),
        **mutation.position._asdict(),
        "after": after,
    }
