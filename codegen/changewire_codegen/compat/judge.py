"""The generated validator of a family, made in memory: what is a message, and what is not."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import msgspec

from changewire_codegen.compat.places import root
from changewire_codegen.emit.strategies import strategies
from changewire_codegen.emit.validators import validators
from changewire_codegen.names import snake
from changewire_codegen.nodes import Family

_SHARED = "changewire_messages"
"""The package whose shared modules the made modules use: it is installed beside this one."""


class Judge:
    """Says of parsed messages whether the schemas of a family allow them."""

    def __init__(self, family: Family) -> None:
        """Remember the family; its modules are made when they are asked for."""
        self.family = family

    def issues(self, message: object, file: str, *, closed: bool) -> list[str]:
        """Return the JSON Pointer of each issue.

        Args:
            message: A parsed message.
            file: Schema file that it is held against.
            closed: Whether a property that the schema does not name is an issue.
        """
        return [issue[0] for issue in self._errors(message, self._title(file), closed=closed)]

    def examples(self, file: str) -> list[Any]:
        """Return the examples of a schema file, parsed."""
        found: list[Any] = self.family.schemas[file]["examples"]
        if self.family.encoding == "json":
            return found
        return [msgspec.msgpack.decode(bytes.fromhex(text)) for text in found]

    def strategy(self, file: str) -> Any:
        """Return the Hypothesis strategy of the messages of a schema file.

        Raises:
            ImportError: Hypothesis is not installed.
        """
        return self._strategies[snake(self._title(file))]()

    def _title(self, file: str) -> str:
        return str(root(self.family, file).node["title"])

    @cached_property
    def _errors(self) -> Callable[..., Any]:
        found: Callable[..., Any] = _made(validators(self.family, _SHARED))["errors"]
        return found

    @cached_property
    def _strategies(self) -> dict[str, Any]:
        return _made(strategies(self.family, _SHARED))


def _made(source: str) -> dict[str, Any]:
    """Run the source of a generated module.

    It is code of the generator, in which the texts of a schema are data, and the same that whoever
    generates from these schemas imports.
    """
    names: dict[str, Any] = {"__name__": "changewire_codegen.compat.made"}
    exec(compile(source, "<generated>", "exec"), names)  # noqa: S102 - see above
    return names
