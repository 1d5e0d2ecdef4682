"""What the messages of a family are, by its generated validator, made in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import msgspec

from changewire_codegen.emit.package import LIBRARY
from changewire_codegen.emit.validators import validators
from changewire_codegen.errors import SchemaError
from changewire_codegen.nodes import Family


@dataclass(frozen=True)
class Judge:
    """Says what is wrong with messages of a family."""

    family: Family

    @cached_property
    def _errors(self) -> Callable[..., Any]:
        names: dict[str, Any] = {"__name__": "changewire_codegen.made"}
        source = compile(validators(self.family, LIBRARY), "<generated>", "exec")
        exec(source, names)  # noqa: S102 - our code, in which the texts of a schema are data
        return cast("Callable[..., Any]", names["errors"])

    def issues(self, message: object, file: str, *, strict: bool) -> list[str]:
        """Return the JSON Pointer of each issue of a parsed message, by one schema file."""
        title = self.family.schemas[file]["title"]
        return [issue[0] for issue in self._errors(message, title, strict=strict)]

    def parsed(self, example: Any) -> Any:
        """Return the message of an example, which in MessagePack is hex text."""
        is_json = self.family.encoding == "json"
        return example if is_json else msgspec.msgpack.decode(bytes.fromhex(example))

    def check_examples(self) -> None:
        """Refuse an example that is not valid by its schema.

        Raises:
            SchemaError: There is one.
        """
        for file, schema in self.family.schemas.items():
            for i, example in enumerate(schema["examples"]):
                for at, _, expected, actual in self._errors(self.parsed(example), schema["title"]):
                    found = "nothing" if actual is msgspec.UNSET else repr(actual)
                    reason = f"not valid: expected {expected!r} at {at!r}, found {found:.100}"
                    raise SchemaError(f"{self.family.name}/{file}", f"/examples/{i}", reason)
