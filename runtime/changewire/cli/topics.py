"""Options that say which Kafka topics to read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeAlias

import typer

from changewire.cli.options import text_option

Servers: TypeAlias = Annotated[
    str | None,
    text_option(
        "--kafka",
        metavar="HOST:PORT",
        help="Read Kafka topics, from these bootstrap servers, in Spark.",
    ),
]

Subscribe: TypeAlias = Annotated[
    str | None,
    text_option("--subscribe", metavar="TOPIC", help="Topics to read, with commas between them."),
]

Options: TypeAlias = Annotated[
    list[str] | None,
    text_option(
        "--option",
        metavar="NAME=VALUE",
        help="Option of Spark's Kafka source, like startingOffsets or kafka.*; may be repeated.",
    ),
]

Packages: TypeAlias = Annotated[
    str | None,
    text_option(
        "--packages",
        metavar="COORDINATES",
        help="Connectors that Spark fetches, as its own option of this name takes them; "
        "those tested with the installed Spark unless given.",
    ),
]


def kafka_options(
    inputs: Sequence[str] | None,
    servers: str | None,
    subscribe: str | None,
    options: Sequence[str] | None,
    engine: str,
) -> dict[str, str]:
    """Return the options of Spark's Kafka source; none where files are to be read.

    Raises:
        BadParameter: Files and topics are named, or an option has no value, or topics are to be
            read without Spark.
    """
    if servers is None:
        if subscribe or options:
            raise typer.BadParameter("--subscribe and --option are for --kafka HOST:PORT")
        return {}
    if inputs:
        raise typer.BadParameter("name files or --kafka, not both")
    if engine == "python":
        raise typer.BadParameter("topics are read in Spark: --kafka goes without --engine python")
    found = {"kafka.bootstrap.servers": servers}
    if subscribe:
        found["subscribe"] = subscribe
    for option in options or ():
        name, equals, value = option.partition("=")
        if not (name and equals):
            raise typer.BadParameter("--option: expected NAME=VALUE")
        found[name] = value
    return found
