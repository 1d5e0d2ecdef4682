"""The columns that a rebuild gives a table, by all changes of it that a log has."""

from __future__ import annotations

from typing import Any

from changewire.engines.errors import OutputError
from changewire.engines.options import Numbers
from changewire.engines.settings import Misfits
from changewire.engines.typed.options import AppliedOptions
from changewire.engines.typed.plan import (
    BatchSources,
    table_plan,
)
from changewire.engines.typed.there import ShapeT, TableRules, TableThere
from changewire.engines.typed.types import StructJson
from changewire.tables.names import Target


def rows_asked(row_schema: Any, misfits: Misfits | None, numbers: Numbers | None) -> dict[str, Any]:
    """Return the arguments of `TableOptions` that say how rebuilt tables have their rows.

    Raises:
        ValueError: The tables keep their columns, and with them how values become these.
    """
    if row_schema is not None:
        return {"row_schema": row_schema, "misfits": misfits, "numbers": numbers or "round"}
    for name, value in (("misfits", misfits), ("numbers", numbers)):
        if value is not None:
            raise ValueError(f"{name} is for `row_schema`: without it tables keep their columns")
    return {}


def rebuilt_shape(  # noqa: PLR0917 - as `table_plan`
    target: Target,
    others: StructJson,
    keys: tuple[str, ...] | None,
    sources: BatchSources,
    options: AppliedOptions,
    rules: TableRules[ShapeT],
) -> ShapeT:
    """Return how a table has its rows once it has the columns that options say.

    Args:
        target: The table.
        others: Columns that nothing of the log names, which stay.
        keys: Columns of its key; None if they are those of most changes.
        sources: Where its changes come from.
        options: How tables have their rows.
        rules: What tables of the format can have.

    Raises:
        OutputError: The table cannot have such columns, or the log does not say them.
    """
    rows = options.rows_of(target)
    has_text = isinstance(rows, str) and rows == "json"
    there = TableThere(target, None, keys)
    if others["fields"] and not has_text:
        there = TableThere(target, others, keys, frozenset())
    plan = table_plan(there, sources.route_keys, sources, options, options.settings_of(()), rules)
    if not plan.is_usable:
        raise OutputError(f"{target.name}: {plan.refusals[0].why.message}")
    if plan.shape is None:
        raise OutputError(f"{target.name}: the log has no key of its rows, or no column of them")
    return plan.shape


def misfit_error(name: str, number: int, first: str) -> OutputError:
    """Return the error that changes of a log do not fit new columns; `first` says why one does."""
    return OutputError(
        f"{name}: {number} changes of the log do not fit the columns that row_schema says, such as "
        f"{first}; the table is as it was (misfits='rescue' keeps values that do not fit)"
    )
