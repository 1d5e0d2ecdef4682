"""Delta tables without Spark: a log, and changes merged by delta-rs."""

from __future__ import annotations

import changewire.delta as cwd


def merged(messages: cwd.Messages, lake: str) -> int:
    """Return how many rows were inserted."""
    try:
        outcome: cwd.Outcome = cwd.apply_changes(
            messages,
            format="aerospike-json",
            log=f"{lake}/log",
            target=f"{lake}/{{database}}/{{table}}",
            default_table="no_set",
            max_dead_letters="5%",
            batch_size=100_000,
        )
    except (cwd.ConservationError, cwd.KeysMissingError, cwd.TooManyDeadLettersError) as error:
        raise SystemExit(str(error)) from None
    except (cwd.ConflictError, cwd.OutputError, cwd.OwnerError) as error:
        stopped: cwd.StreamError = error
        raise stopped from None
    return 0 if outcome.tables is None else outcome.tables["inserted"] - outcome.already_in_log


def typed(file: str, lake: str, row: cwd.RowSchema | cwd.ArrowSchema) -> int:
    """Return how many rows did not fit the columns that a schema describes."""
    options: cwd.ApplyKeywords = {
        "row_schema": {"shop.orders": row, "*": "auto"},
        "schema_evolution": "strict",
        "deletes": "flag",
    }
    outcome = cwd.apply_changes(
        file,
        format="dataworks-json",
        log=f"{lake}/log",
        target=f"{lake}/{{table}}",
        adopt_table=True,
        **options,
    )
    closed: int = cwd.close_dead_letters(
        f"{lake}/log", where="code = 'wrong-type'", by="ann", why="sent again"
    )
    more: cwd.StreamKeywords = {"continuous": False, "batch_every": 1.0, "notice": print}
    try:
        cwd.stream(
            {"kafka.bootstrap.servers": "h:1", "subscribe": "t"},
            format="auto",
            log=f"{lake}/log",
            target=f"{lake}/{{table}}",
            **more,
        )
    except (cwd.KafkaOptionsError, cwd.KafkaSourceError) as error:
        raise SystemExit(str(error)) from None
    return outcome.counts.by_error_code["wrong-type"] - closed


def of_a_log(log: str, target: str) -> int:
    """Merge a log that exists into tables."""
    orders: cwd.TableSettings = {"columns": {"price": "decimal(12,2)"}, "misfits": "refuse"}
    options: cwd.TableKeywords = {"tables": {"shop.orders": orders}, "default_table": "no_set"}
    counts = cwd.apply_log(log, target=target, **options)
    return counts.get("inserted", 0)


def repaired(log: str, target: str) -> list[str]:
    """Replay a log, and rebuild its tables if a row differs."""
    done: cwd.Replayed = cwd.replay(log, format="auto", target=target, max_new_tables=5)
    verify = cwd.verify  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]: no stubs
    if done.left or len(verify(log, target=target)):  # pyright: ignore[reportUnknownArgumentType]
        cwd.rebuild(log, target=target, tables=["shop.orders"], deletes="flag")
        orders: cwd.TableSettings = {"partition_by": ["ordered_on"]}
        settings = {"shop.orders": orders}
        return cwd.rebuild(log, target=target, row_schema="auto", settings=settings)
    return []
