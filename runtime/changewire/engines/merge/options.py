"""How the changes of files are applied to tables: what a user asked for."""

from __future__ import annotations

from dataclasses import dataclass

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.merge.delta import check_path
from changewire.engines.options import TableOptions
from changewire.engines.settings import SettingsByTable
from changewire.engines.typed.options import AppliedOptions, applied_options
from changewire.tables.names import absolute, is_path, template_of

_TABLE = "(a table)"


@dataclass(frozen=True)
class LocalOptions(AppliedOptions):
    """How changes are applied to tables of a log, by its path; other owners' may be adopted."""

    log: str
    adopts: bool = False


def local_options(
    decode_options: DecodeOptions | None,
    asked: TableOptions,
    *,
    log: str,
    adopt_table: bool = False,
) -> LocalOptions:
    """Return options, checked."""
    for place in (log, asked.target):
        if not is_path(place):
            raise ValueError(f"delta-rs has paths, and {place!r} has no slash: it is a name")
    if asked.view is not None:
        raise ValueError("views are made by Spark; a run without it has none")
    template, log = template_of(asked.target), absolute(log)
    for path in (log, template.text.format(**dict.fromkeys(template.fields, _TABLE))):
        check_path(path)
    found = applied_options(decode_options, asked, template, [log])
    settings: SettingsByTable = found["settings"]
    settings.check_format("delta")
    if settings.all_of("cluster_by"):
        raise ValueError("the setting cluster_by needs Spark: delta-rs does not cluster tables")
    return LocalOptions(**found, log=log, adopts=adopt_table)
