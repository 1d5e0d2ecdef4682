"""The page of options: each by its name, with the commands and functions that have it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from inspect import Parameter, signature
from typing import Any, Final

import changewire as cw
import changewire.kafka as cwk
from changewire import job
from changewire.changes.adapters import formats_with
from changewire.changes.vendors import VENDOR_OPTIONS
from docs.making.commands import commands, default
from docs.making.markdown import cell, table

_NAMES: Final = (
    *("changes", "convert", "decode", "decode_all", "encode"),
    *("explain", "schemas", "validate"),
)
_PYTHON: Final[dict[str, Callable[..., Any]]] = {
    **{f"cw.{name}": getattr(cw, name) for name in _NAMES},
    "changewire.job.run": job.run,
    "ChangewireSerializer": cwk.ChangewireSerializer,
    "ChangewireDeserializer": cwk.ChangewireDeserializer,
}
"""Functions with options; those of Spark have tables on pages of their own."""


def page() -> str:
    """Return the page: options of commands, then those of functions."""
    return (
        "# Options by name\n\n"
        "Look up which commands and functions have an option. [Options](../reference/options.md)\n"
        "explains those of decoding, of tables and of the Kafka source.\n\n"
        "## Options of commands\n\n"
        + table(("option", "meaning", "default", "commands"), _of_commands())
        + "\n## Options for the messages of one vendor\n\n"
        "They are keyword arguments of all functions that decode. With the format of another\n"
        "vendor they are an error.\n\n"
        + table(("argument", "option", "values", "default", "meaning", "formats"), _of_vendors())
        + "\n## Options of functions\n\n"
        + table(("option", "default", "functions"), _of_functions())
    )


def _of_commands() -> Iterator[tuple[str, str, str, str]]:
    """Yield a row for each option; one name with two meanings has two."""
    where: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for name, command in commands():
        for each in command.params:
            if each.param_type_name == "option":
                words = ", ".join(f"`{word}`" for word in each.opts)
                where[words, cell(each.help or ""), default(each)].append(f"`{name}`")
    for (words, meaning, value), names in sorted(where.items()):
        yield words, meaning, value, ", ".join(names)


def _of_vendors() -> Iterator[tuple[str, ...]]:
    for name, each in VENDOR_OPTIONS.items():
        values = " ".join(f"`{word}`" for word in each.words)
        default = f"`{each.declaration.default!r}`"
        formats = " ".join(f"`{found}`" for found in formats_with(name))
        kind = values or ("names" if each.is_names else "text")
        yield f"`{name}`", f"`{each.flag}`", kind, default, cell(each.help), formats


def _of_functions() -> Iterator[tuple[str, str, str]]:
    where: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, function in _PYTHON.items():
        for each in signature(function).parameters.values():
            if each.kind is Parameter.KEYWORD_ONLY or each.default is not Parameter.empty:
                value = "" if each.default is Parameter.empty else f"`{each.default!r}`"
                where[f"`{each.name}`", value].append(f"`{name}`")
    for (option, value), names in sorted(where.items()):
        yield option, value or "required", ", ".join(names)
