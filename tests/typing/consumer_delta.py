"""Delta tables without Spark: changes merged by delta-rs, and tombstones removed."""

from __future__ import annotations

from datetime import datetime

import changewire.delta as cwd


def merged(messages: cwd.Messages, lake: str) -> int:
    """Return how many changes were applied."""
    try:
        outcome: cwd.Outcome = cwd.apply_changes(
            messages,
            format="aerospike-json",
            target=f"{lake}/{{database}}/{{table}}",
            output=f"{lake}/ops",
            checkpoint=f"{lake}/ops/checkpoint",
            null_set="no_set",
            batch_size=100_000,
        )
    except cwd.KeysMissingError as error:
        raise SystemExit(str(error)) from None
    except (cwd.ConflictError, cwd.OutputError) as error:
        stopped: cwd.StreamError = error
        raise stopped from None
    return 0 if outcome.tables is None else outcome.tables["applied"]


def typed(file: str, lake: str, row: cwd.RowSchema | cwd.ArrowSchema) -> int:
    """Return how many rows did not fit the columns that a schema describes."""
    outcome = cwd.apply_changes(
        file,
        format="dataworks-json",
        target=f"{lake}/{{table}}",
        output=f"{lake}/ops",
        checkpoint=f"{lake}/ops/checkpoint",
        rows=row,
        schema_evolution="strict",
    )
    return outcome.counts.by_error_code["wrong-type"]


def vacuumed(table: str, week: datetime) -> int:
    """Return how many tombstones were removed."""
    return cwd.vacuum(table, older_than=week)
