"""``changewire rebuild``."""

from typing import Annotated

from changewire.cli.arguments import whole
from changewire.cli.ending import UNABLE, VALID, ending
from changewire.cli.logs import LogFolder, LogTarget, on_log
from changewire.cli.options import Json, text_option
from changewire.cli.stderr import say
from changewire.cli.stdout import Lines
from changewire.cli.streams import (
    DefaultTable,
    DeletesOption,
    Packages,
    TableFormatOption,
    Truncates,
)


@ending
def rebuild(
    output: LogFolder,
    *,
    target: LogTarget,
    table: Annotated[
        list[str] | None,
        text_option(
            "--table", metavar="NAME", help="Table to make, as shop.orders; may be repeated."
        ),
    ] = None,
    where: Annotated[
        str | None,
        text_option(
            metavar="SQL",
            help="Condition on rows of the log, such as timestamp >= '2026-07-01'.",
        ),
    ] = None,
    deletes: DeletesOption = None,
    default_table: DefaultTable = None,
    apply_truncates: Truncates = False,
    table_format: TableFormatOption = None,
    packages: Packages = None,
    as_json: Json = False,
) -> int:
    """Make tables anew from their log, each in one commit, and write their names.

    It repairs a table that something else changed. With --where a table gets what came since its
    source loaded all rows again. Stop the stream that feeds the tables first.

    Example: changewire rebuild ops/ --target lake/{database}/{table} --table shop.orders
    """
    from changewire.jobs.logs import StreamLog, rebuild_log

    def job(packages: str | None) -> list[str]:
        log = StreamLog(
            whole(output), target, table_format or "delta", default_table, apply_truncates, packages
        )
        return rebuild_log(log, table or None, where, deletes or "remove")

    made = on_log(job, packages, table_format, as_json=as_json)
    if made is None:
        return UNABLE
    if as_json:
        Lines().write({"tables": made})
    for name in () if as_json else made:
        say(f"{name} was made anew")
    return VALID
