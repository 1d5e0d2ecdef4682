"""Which rows the tables have that files are merged into."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import typer

from changewire.engines.typed_files import BY_STREAM

_JSON: Final = "json"


def check_file_rows(
    topics: Mapping[str, str], rows: str | None, schema_evolution: str | None
) -> None:
    """Refuse columns of a type for tables that files are merged into.

    Args:
        topics: Options of Kafka; empty if files are read.
        rows: What ``--rows`` says.
        schema_evolution: What ``--schema-evolution`` says.

    Raises:
        BadParameter: With what to do in its place.
    """
    if topics or (rows in {None, _JSON} and schema_evolution is None):
        return
    option = "--schema-evolution" if rows in {None, _JSON} else f"--rows {rows}"
    raise typer.BadParameter(
        f"{option} is for --kafka; tables of files have --rows {_JSON}. For columns of a type put "
        f"the messages on a topic, or {BY_STREAM}"
    )
