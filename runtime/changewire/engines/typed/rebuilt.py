"""The columns that a rebuild gives a table, by all changes of it that a log has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from changewire.engines.applied import keeps_deleted
from changewire.engines.errors import OutputError
from changewire.engines.options import Numbers
from changewire.engines.settings import Deletes, Misfits, Settings, SettingsByTable, TableSettings
from changewire.engines.typed.options import AppliedOptions
from changewire.engines.typed.plan import table_plan
from changewire.engines.typed.sources import BatchSources, first_keys
from changewire.engines.typed.there import ShapeT, TableRules, TableThere
from changewire.engines.typed.types import StructJson
from changewire.tables.names import Target
from changewire.tables.routing import Refusal


def rows_asked(
    row_schema: Any,
    misfits: Misfits | None,
    numbers: Numbers | None,
    settings: Mapping[str, TableSettings] | None,
) -> dict[str, Any]:
    """Return the arguments of `TableOptions` that say how rebuilt tables have their rows.

    Raises:
        ValueError: A setting is not valid, or the tables keep their columns, and with them how
            values become these.
    """
    SettingsByTable(settings, "settings")
    if row_schema is not None:
        numbers = numbers or "round"
        found = {"row_schema": row_schema, "misfits": misfits, "numbers": numbers}
        return {**found, "tables": settings}
    for name, value in (("misfits", misfits), ("numbers", numbers), ("settings", settings)):
        if value is not None:
            raise ValueError(f"`{name}` is for `row_schema`: without it tables keep their columns")
    return {}


def settings_asked(
    options: AppliedOptions,
    names: Iterable[str],
    properties: Mapping[str, str],
    deletes: Deletes | None,
) -> Settings:
    """Return what is asked of a table that is rebuilt, which has some names and properties.

    Without a setting, `deletes` says the fate of its deleted rows, or else the table itself.
    """
    kept = "flag" if keeps_deleted(properties, deletes) else "remove"
    return options.settings.of(names, deletes=kept, misfits=options.tables.misfits)


def rebuilt_shape(  # noqa: PLR0917 - as `table_plan`
    target: Target,
    others: StructJson,
    keys: tuple[str, ...] | None,
    sources: BatchSources,
    options: AppliedOptions,
    settings: Settings,
    rules: TableRules[ShapeT],
) -> ShapeT:
    """Return how a table has its rows once it has the columns that options say.

    Args:
        target: The table.
        others: Columns that nothing of the log names, which stay.
        keys: Columns of its key; None if they are those of most changes.
        sources: Where its changes come from.
        options: How tables have their rows.
        settings: What is asked of the table.
        rules: What tables of the format can have.

    Raises:
        OutputError: The table cannot have such columns, or the log does not say them.
    """
    _check_keys(target, keys or first_keys(sources.route_keys, sources), settings)
    rows = options.rows_of(target)
    has_text = isinstance(rows, str) and rows == "json"
    there = TableThere(target, None, keys)
    if others["fields"] and not has_text:
        there = TableThere(target, others, keys, frozenset())
    plan = table_plan(there, sources.route_keys, sources, options, settings, rules)
    if not plan.is_usable:
        raise OutputError(f"{target.name}: {plan.refusals[0].why.message}")
    if plan.shape is None:
        raise OutputError(f"{target.name}: the log has no key of its rows, or no column of them")
    return plan.shape


def _check_keys(target: Target, keys: tuple[str, ...] | None, settings: Settings) -> None:
    """Check that settings name no other key than that of the log, if one is known."""
    asked = settings.key_columns
    if asked and keys and {*asked} != {*keys}:
        text = f"its log names rows by {', '.join(keys)}, and the setting key_columns says "
        text += f"{', '.join(asked)}: only messages that are read into a new log get another key"
        raise OutputError(f"{target.name}: {text}")


def misfit_error(name: str, number: int, first: Refusal, settings: Settings) -> OutputError:
    """Return the error that changes of a log do not fit new columns; `first` says why one does."""
    text = (
        f"{name}: {number} changes of the log do not fit the columns that row_schema says, such as "
        f"{first.text}; the table is as it was"
    )
    if settings.misfits != "rescue" and not first.pointer.startswith("/key"):
        text += " (misfits='rescue' keeps values that do not fit)"
    return OutputError(text)
