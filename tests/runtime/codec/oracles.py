"""JSON Schema validators that are not ours, taught the words of our dialect."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any

import jsonschema
from jsonschema import Draft202012Validator, validators
from tests.generated.msgpack_reference import is_valid_by
from tests.runtime.codec.formats import FORMATS, JSON_FORMATS

_TEXT = re.compile(r"[A-Za-z0-9+/]*={0,2}", re.ASCII)


def byte_count(text: str) -> int | None:
    """Return how many bytes Base64 text stands for; None where it is none (RFC 4648, section 4)."""
    if len(text) % 4 or not _TEXT.fullmatch(text):
        return None
    return len(text.rstrip("=")) * 6 // 8


def _is_integer(_: object, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _rule(holds: Callable[[Any, str], bool]) -> Any:
    def keyword(
        _: object, limit: object, value: object, __: object
    ) -> Iterator[jsonschema.ValidationError]:
        if isinstance(value, str) and not holds(limit, value):
            yield jsonschema.ValidationError("broken")

    return keyword


def _is_base64(encoding: object, text: str) -> bool:
    return encoding != "base64" or byte_count(text) is not None


def _is_long_enough(limit: int, text: str) -> bool:
    count = byte_count(text)
    return count is None or count >= limit


def _is_short_enough(limit: int, text: str) -> bool:
    count = byte_count(text)
    return count is None or count <= limit


RULES: dict[str, Callable[[Any, str], bool]] = {
    "contentEncoding": _is_base64,
    "x-maxBytes": _is_short_enough,
    "x-minBytes": _is_long_enough,
}
"""What our dialect asks of text beyond JSON Schema."""

_extend: Any = validators.extend  # it has no types
Extended = _extend(
    Draft202012Validator,
    {name: _rule(holds) for name, holds in RULES.items()},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer),
)


def _keyword(holds: Callable[[Any, str], bool]) -> type:
    class Keyword:
        """A keyword of jsonschema-rs: it raises where its rule does not hold."""

        def __init__(self, _: object, limit: object, __: object) -> None:
            """Keep what the schema asks for."""
            self.limit = limit

        def validate(self, value: object) -> None:
            """Raise ValueError where the rule is broken."""
            if isinstance(value, str) and not holds(self.limit, value):
                raise ValueError

    return Keyword


def _jsonschema_rs(schema: dict[str, Any]) -> Callable[[Any], bool]:
    keywords = {name: _keyword(holds) for name, holds in RULES.items()}
    rs: Any = import_module("jsonschema_rs")  # its types do not know the classes of keywords
    is_valid: Callable[[Any], bool] = rs.Draft202012Validator(schema, keywords=keywords).is_valid
    return is_valid


@cache
def judges_of(name: str, role: str) -> dict[str, Callable[[Any], bool]]:
    """Return the verdict of each library that can judge a format, for a role.

    Bytes and extension types are values that jsonschema-rs cannot be taught.
    """
    schema = FORMATS[name].schema(role)
    if name in JSON_FORMATS:
        return {"jsonschema": Extended(schema).is_valid, "jsonschema-rs": _jsonschema_rs(schema)}
    return {"jsonschema": is_valid_by(schema)}
