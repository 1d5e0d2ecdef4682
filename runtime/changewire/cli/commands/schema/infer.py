"""``changewire schema infer``."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from changewire.changes.decode_options import AUTO
from changewire.cli.ending import UNABLE, ended, ending
from changewire.cli.options import (
    VENDOR_FLAGS,
    FoundFormat,
    Inputs,
    Json,
    Keys,
    Shape,
    StripRegistryPrefix,
    decode_options_of,
    text_option,
    with_flags,
)
from changewire.cli.records import records, report_rejected
from changewire.cli.stderr import counted, notice
from changewire.cli.stdout import write_data
from changewire.infer import Draft, Observer

Table = Annotated[
    str | None,
    text_option("--table", metavar="NAME", help="The table, if the messages are of several."),
]
Title = Annotated[
    str | None,
    text_option("--title", metavar="NAME", help="Name of the class of rows, in CamelCase."),
]
Out = Annotated[
    str | None,
    text_option("--out", metavar="FILE", help="Write to a new file, not to standard output."),
]
ShowValues = Annotated[
    bool, typer.Option("--show-values", help="Write the bounds of integers in comments.")
]


@ending
@with_flags("key_columns", VENDOR_FLAGS)
def infer(
    inputs: Inputs = None,
    *,
    format: FoundFormat = AUTO,
    table: Table = None,
    title: Title = None,
    out: Out = None,
    show_values: ShowValues = False,
    key_columns: Keys = None,
    shape: Shape = "auto",
    strip_registry_prefix: StripRegistryPrefix = False,
    as_json: Json = False,
    **vendor: Any,
) -> int:
    """Draft the schema of a table's rows from captured messages, for a person to finish.

    The draft accepts every row of the input. Comments give the number of rows with a column, the
    number of nulls, and the types, but no values. Types that the messages declare are taken over.
    Rejected elements are listed on standard error.

    Example: changewire schema infer users.jsonl --out schemas/shop/user.json
    """
    observer = Observer(decode_options_of(format, vendor, key_columns=key_columns))
    for record in records(inputs, shape, strip_registry_prefix=strip_registry_prefix):
        for rejected in observer.add(record):
            report_rejected(record.position, rejected, as_json=as_json)
    try:
        draft = observer.draft(table, title, show_values=show_values)
    except ValueError as error:
        notice("error", str(error), as_json=as_json)
        return UNABLE
    text = json.dumps(draft.schema, indent=2, ensure_ascii=False)
    if out is None:
        write_data(text.encode())
    else:
        with Path(out).open("x", encoding="utf-8", newline="\n") as file:
            file.write(f"{text}\n")
    return _ended(draft, as_json=as_json)


def _ended(draft: Draft, *, as_json: bool) -> int:
    columns = len(draft.schema["properties"])
    counts = f"{counted(draft.rows, 'row')}, {counted(columns, 'column')}"
    totals = {
        "table": draft.table,
        "rows": draft.rows,
        "columns": columns,
        "rejected": draft.rejected,
    }
    text = f"{draft.table}: {counts}, {draft.rejected:,} rejected"
    return ended(text, totals, as_json=as_json)
