"""Small parts of queries that several modules use: quoted names, and positions of rows."""

from __future__ import annotations

import re
from functools import reduce
from operator import or_
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.changes.sources import NO_TABLE
from changewire.engines.layout import POSITION
from changewire.tables.chosen import Chosen
from changewire.tables.routing import NAMES

_WHOLE_TIMES: Final = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""By default Spark writes times as JSON in milliseconds."""

_LONG_NUMBER: Final = r"\d{300,}"

_PARTS: Final = re.compile(r"(?:`(?:[^`]|``)*`|[^.`])+")
"""Parts of the name of a table, between dots that are not quoted."""


def split_name(name: str) -> list[str]:
    """Return the parts of the name of a table, quoted as they are."""
    return _PARTS.findall(name)


def quoted(name: str) -> str:
    """Return a name as in SQL."""
    return f"`{name.replace('`', '``')}`"


def table_name(default: Column | None = None) -> Column:
    """Return the name of the table of a row of a log, as `changewire.changes.sources.dotted` does.

    A source that names no table has the table `default`.
    """
    fields = {name: F.col("source")[name] for name in NAMES[1:]}
    if default is not None:
        fields["table"] = F.coalesce(fields["table"], default)
    parts = (F.nullif(field, F.lit("")) for field in fields.values())
    return F.coalesce(F.nullif(F.concat_ws(".", *parts), F.lit("")), F.lit(NO_TABLE))


def has_name(name: Column, chosen: Chosen) -> Column:
    """Return the condition that the name of a table is chosen."""
    only, excepted = (
        [name.like(_like(glob)) for glob in globs] for globs in (chosen.only, chosen.excepted)
    )
    found = ~reduce(or_, excepted, F.lit(False))  # noqa: FBT003 - a column of this value
    return found & reduce(or_, only, F.lit(False)) if only else found  # noqa: FBT003 - as above


def _like(glob: str) -> str:
    """Return the pattern of SQL's LIKE for a glob."""
    like = {"*": "%", "?": "_", "%": r"\%", "_": r"\_", "\\": r"\\"}
    return "".join(like.get(one, one) for one in glob)


def position_columns() -> list[Column]:
    """Return the columns of a decoded row's position."""
    parts = [
        F.coalesce(*columns, F.lit(default)).alias(name)
        for name, (columns, default) in POSITION.items()
    ]
    return [*parts, F.col("element")]


def json_text(row: Column, **options: str) -> Column:
    """Return a struct as JSON text, in which two values of a column have two texts."""
    return F.to_json(row, {**_WHOLE_TIMES, **options})


def names_in(text: Column | str) -> Column:
    """Return the names of an object of JSON text; NULL if Spark does not read it.

    Spark reads no number of more than 1,000 characters, so these are shortened.
    """
    column = F.col(text) if isinstance(text, str) else text
    short = F.regexp_replace(column, _LONG_NUMBER, "0")
    return F.coalesce(F.json_object_keys(column), F.json_object_keys(short))
