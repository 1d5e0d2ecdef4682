"""``changewire schema show``."""

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

import typer

from changewire.cli.ending import VALID, ending
from changewire.cli.options import choice_option, one_of
from changewire.cli.queries import queried
from changewire.cli.stdout import write_data
from changewire.codec import formats, module_of
from changewire.explain.schema import schemas


def _variants(ctx: typer.Context) -> list[str]:
    """Return the variants that complete a command line."""
    named = ctx.params.get("format")
    return sorted(schemas(named)) if named in formats() else []


def _json_schema(format: str, variant: str | None) -> str:
    found = schemas(format)
    wanted = module_of(format).ROLES["message"] if variant is None else variant
    one_of(lambda: sorted(found))(wanted)
    return json.dumps(found[wanted], indent=2, ensure_ascii=False)


def _spark_ddl(format: str, variant: str | None) -> str:
    from changewire.spark import message_type

    columns = message_type(format, variant).fields
    return ",\n".join(f"{_quoted(one.name)} {_ddl(one.dataType)}" for one in columns)


def _ddl(kind: Any) -> str:
    """Return a Spark type as DDL, with every name quoted."""
    match kind.typeName():
        case "struct":
            fields = (f"{_quoted(one.name)}: {_ddl(one.dataType)}" for one in kind.fields)
            return f"struct<{', '.join(fields)}>"
        case "array":
            return f"array<{_ddl(kind.elementType)}>"
        case "map":
            return f"map<{_ddl(kind.keyType)}, {_ddl(kind.valueType)}>"
        case _:
            return str(kind.simpleString())


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _arrow(format: str, variant: str | None) -> str:
    from changewire.arrow import message_type

    return "\n".join(str(field) for field in message_type(format, variant))


_FORMS: Final[Mapping[str, Callable[[str, str | None], str]]] = {
    "json-schema": _json_schema,
    "spark-ddl": _spark_ddl,
    "arrow": _arrow,
}


@ending
def show(
    format: Annotated[
        str,
        typer.Argument(
            metavar="FORMAT",
            help="Name of a format.",
            autocompletion=formats,
            callback=one_of(formats),
            show_default=False,
        ),
    ],
    variant: Annotated[
        str | None,
        typer.Argument(
            metavar="VARIANT",
            help="One kind of its messages; by default all.",
            autocompletion=_variants,
            show_default=False,
        ),
    ] = None,
    *,
    form: Annotated[
        str,
        choice_option("--as", of=tuple(_FORMS), metavar="FORM", help="What to show: {}."),
    ] = "json-schema",
) -> int:
    """Show the schema of a format's messages, or of one variant.

    With --as spark-ddl or --as arrow, show the columns that these messages have in Spark
    or Arrow.

    Example: changewire schema show lindorm-json Insert --as spark-ddl
    """
    # Of the schemas only those of messages have columns.
    write_data(queried(lambda: _FORMS[form](format, variant)).encode())
    return VALID
