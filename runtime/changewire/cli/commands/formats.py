"""``changewire formats``."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
from rich.table import Table

from changewire.cli.ending import VALID, ending
from changewire.cli.options import Json
from changewire.cli.stderr import console, notice
from changewire.cli.stdout import Lines
from changewire.codec import module_of
from changewire.codec.registry import unusable, usable


class Variant(msgspec.Struct, frozen=True):
    """One kind of message, and what its schema says of it."""

    name: str
    description: str


class Format(msgspec.Struct, frozen=True):
    """A format: its name, how its messages are written, and their kinds."""

    format: str
    encoding: str
    record_key: bool
    batches: bool
    variants: list[Variant]


@ending
def formats(*, as_json: Json = False) -> int:
    """List the formats and the kinds of messages that each of them has.

    Example: changewire formats --json
    """
    found = [_format(module_of(name)) for name in usable()]
    for fault in unusable().values():
        notice("error", fault, as_json=as_json, style="red")
    if as_json:
        lines = Lines()
        for item in found:
            lines.write(item)
        return VALID
    table = Table("format", "variant", "what it is", box=None, pad_edge=False, header_style="bold")
    for column in table.columns[:2]:
        column.no_wrap = True  # a name that is cut off is of no use
    for item in found:
        for i, variant in enumerate(item.variants):
            table.add_row("" if i else item.format, variant.name, variant.description)
    console(on_stdout=True).print(table, soft_wrap=False)
    return VALID


def _format(family: Any) -> Format:
    message = getattr(family, family.ROLES["message"])
    variants = get_args(message) or (message,)
    return Format(
        family.FORMAT,
        family.ENCODING,
        "key" in family.ROLES,
        "batch" in family.ROLES,
        [Variant(v.__name__, _first_sentence(v.__doc__ or "")) for v in variants],
    )


def _first_sentence(text: str) -> str:
    return " ".join(text.split()).partition(". ")[0].removesuffix(".") + "."
