"""``changewire schema list``."""

import inspect
from typing import Any, get_args

from rich.table import Table

from changewire.cli.ending import VALID, ending
from changewire.cli.options import Json
from changewire.cli.stderr import console, notice
from changewire.cli.stdout import Lines
from changewire.codec import module_of
from changewire.codec.registry import unusable, usable


@ending
def list_formats(*, as_json: Json = False) -> int:
    """List the formats, and the variants of their messages.

    Example: changewire schema list --json
    """
    found = [_format(module_of(name)) for name in usable()]
    for fault in unusable().values():
        notice("error", fault, as_json=as_json, style="red")
    if as_json:
        lines = Lines()
        for item in found:
            lines.write(item)
        return VALID
    table = Table("format", "variant", "description", box=None, pad_edge=False, header_style="bold")
    for column in table.columns[:2]:
        column.no_wrap = True  # a name that is cut off is of no use
    for item in found:
        for i, variant in enumerate(item["variants"]):
            table.add_row("" if i else item["format"], variant["name"], variant["description"])
    console(on_stdout=True).print(table, soft_wrap=False)
    return VALID


def _format(family: Any) -> dict[str, Any]:
    message = getattr(family, family.ROLES["message"])
    return {
        "format": family.FORMAT,
        "encoding": family.ENCODING,
        "record_key": "key" in family.ROLES,
        "batches": "batch" in family.ROLES,
        "variants": [
            {
                "name": one.__name__,
                "description": _first_sentence(inspect.getdoc(one) or ""),
                "digest": family.DIGESTS.get(one.__name__),
            }
            for one in get_args(message) or (message,)
        ],
    }


def _first_sentence(text: str) -> str:
    return " ".join(text.split()).partition(". ")[0].removesuffix(".") + "."
