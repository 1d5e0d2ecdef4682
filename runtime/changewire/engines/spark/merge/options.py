"""How the changes of a log are applied to tables: what a user asked for."""

from __future__ import annotations

from dataclasses import dataclass

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.options import TableOptions
from changewire.engines.settings import SettingsByTable
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.merge.formats import TableFormat, format_of
from changewire.engines.typed.options import AppliedOptions, applied_options
from changewire.tables.names import template_of


@dataclass(frozen=True)
class ApplyOptions(AppliedOptions):
    """How the changes of a log are applied by a query, which has a checkpoint."""

    log: LogPlace
    checkpoint: str

    @property
    def format(self) -> TableFormat:
        """The table format."""
        return format_of(self.log.table_format)


def apply_options(
    decode_options: DecodeOptions | None, asked: TableOptions, *, log: LogPlace, checkpoint: str
) -> ApplyOptions:
    """Return options, checked."""
    tables, template = format_of(log.table_format), template_of(asked.target)
    if template.is_path and not tables.takes_paths:
        raise ValueError(f"tables of {log.table_format} have names, and no paths: {asked.target}")
    if log.is_path and not tables.takes_paths:
        raise ValueError(f"a log of {log.table_format} has a name, and no path: {log.target}")
    found = applied_options(decode_options, asked, template, [log.target, checkpoint])
    settings: SettingsByTable = found["settings"]
    settings.check_format(log.table_format)
    if asked.view is not None:
        every = [asked.deletes, *settings.all_of("deletes")]
        _check_view(asked.view, template.fields, keeps_deleted="flag" in every)
    return ApplyOptions(**found, log=log, checkpoint=checkpoint)


def _check_view(view: str, fields: tuple[str, ...], *, keeps_deleted: bool) -> None:
    if not keeps_deleted:
        raise ValueError("view is for deletes='flag': otherwise tables have no deleted rows")
    if template_of(view).fields != fields or template_of(view).is_path:
        raise ValueError(f"the view {view!r} is a name with the fields of the target")
