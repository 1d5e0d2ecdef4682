"""``changewire schema``: schemas of messages, of the rows in them, and your own."""

import typer

from changewire.cli.commands.schema.diff import diff
from changewire.cli.commands.schema.generate import generate
from changewire.cli.commands.schema.infer import infer
from changewire.cli.commands.schema.list import list_formats
from changewire.cli.commands.schema.observed import observed
from changewire.cli.commands.schema.show import show

app: typer.Typer = typer.Typer(
    help="Show, compare, draft and generate schemas.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
for _name, _command, _line in (
    ("list", list_formats, "List the formats and their messages."),
    ("show", show, "Show the schema of a message, or its columns."),
    ("diff", diff, "Compare two versions of schemas, and find breaking changes."),
    ("observed", observed, "List the schemas that messages carry, and how they differ."),
    ("infer", infer, "Draft the schema of a table's rows from messages."),
    ("generate", generate, "Generate a package from your own schemas."),
):
    app.command(_name, short_help=_line)(_command)
