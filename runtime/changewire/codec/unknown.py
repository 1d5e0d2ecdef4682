"""Messages with properties that their schema does not name, where they stand at the root.

That is where a newer producer adds them, and then to every message. The names are learned from the
first such message: twins of the models, which have these names as well, read the next ones.
"""

import re
from collections.abc import Callable
from typing import Any, Final, Union

import msgspec
from msgspec import UNSET
from msgspec.structs import asdict

from changewire.codec.parser_texts import BELOW_THE_ROOT, UNKNOWN_FIELD
from changewire_messages.hooks import FloatHook
from changewire_messages.support import Extra, pointer_token

MOST_NAMES: Final = 32
"""Names that are learned at most; a hostile producer has as many as it likes."""

_USUAL = re.compile(r"[ !#-\[\]-~]{1,100}")
"""Names that are learned: msgspec takes no quotes, backslashes and control characters."""

_Twins = tuple[Callable[[Any], Any], dict[type, tuple[Any, list[tuple[str, str]]]]]
"""Decodes to twins; for each twin its model, and field and JSON Pointer of what it has more."""


def is_unknown_at_root(error: BaseException) -> bool:
    """Return whether msgspec refused a message for a property that its root does not have."""
    text = str(error)
    return UNKNOWN_FIELD in text and BELOW_THE_ROOT not in text


class UnknownProperties:
    """Decodes messages whose root has learned properties, and keeps these as ``extra``."""

    def __init__(self, arms: tuple[Any, ...], float_hook: FloatHook) -> None:
        self._arms = arms
        self._float_hook = float_hook
        self._known = frozenset[str]().union(*(_wire_names(arm) for arm in arms))
        self._names: frozenset[str] = frozenset()
        self._members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
        self._twins = _twins(arms, frozenset(), float_hook)

    def decode(self, data: Any) -> Any:
        """Return the model; its ``extra`` is unset if every property is known.

        Raises:
            msgspec.MsgspecError, UnicodeError: The message has other names, or is no valid one.
        """
        decode, made_of = self._twins
        twin = decode(data)
        arm, unknown = made_of[type(twin)]
        values = asdict(twin)
        extra: dict[str, Any] = {}
        for name, pointer in unknown:
            value = values.pop(name)
            if value is not UNSET:
                extra[pointer] = value
        if extra:
            values["extra"] = Extra(extra)
        return arm(**values)

    def learn(self, data: Any) -> Any:
        """Return the model of a message whose names may be new.

        Raises:
            msgspec.MsgspecError, UnicodeError: It is no valid message, or the names are too many.
        """
        if self._names:
            try:
                return self.decode(data)
            except msgspec.ValidationError:
                pass  # these are other names
        names = self._names.union(self._members(data))
        unknown = names - self._known
        if len(unknown) > MOST_NAMES or not all(map(_USUAL.fullmatch, unknown)):
            raise msgspec.ValidationError
        if len(names) > len(self._names):
            self._twins = _twins(self._arms, names, self._float_hook)
            self._names = names
        return self.decode(data)


def _twins(arms: tuple[Any, ...], names: frozenset[str], float_hook: FloatHook) -> _Twins:
    """Return a decoder of twins, and what each of them is the twin of."""
    made_of: dict[type, tuple[Any, list[tuple[str, str]]]] = {}
    for arm in arms:
        unknown = sorted(names - _wire_names(arm))
        pointers = [(_field(i), f"/{pointer_token(name)}") for i, name in enumerate(unknown)]
        made_of[_twin(arm, unknown)] = (arm, pointers)
    kind: Any = Union[tuple(made_of)]  # noqa: UP007 - of values
    return msgspec.json.Decoder(kind, float_hook=float_hook).decode, made_of


def _twin(arm: Any, names: list[str]) -> type[msgspec.Struct]:
    """Return a model that also has properties of the names."""
    fields = [
        (_field(i), Any, msgspec.field(default=UNSET, name=name)) for i, name in enumerate(names)
    ]
    config = arm.__struct_config__
    return msgspec.defstruct(
        arm.__name__, fields, bases=(arm,), tag_field=config.tag_field, tag=config.tag, kw_only=True
    )


def _field(i: int) -> str:
    return f"_unknown_{i}"


def _wire_names(arm: Any) -> frozenset[str]:
    """Return the names that a model reads; the one of ``extra`` is among them."""
    names = {field.encode_name for field in msgspec.structs.fields(arm)}
    return frozenset(names | {arm.__struct_config__.tag_field})
