"""Messages with properties that their schema does not name, where they stand at the root.

That is where a newer producer adds them, and then to every message. They are split off as raw
bytes, which costs less than parsing the message twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from changewire_messages.support import Extra, pointer_token


class UnknownProperties:
    """Decodes a message without its unknown root properties, and adds them as ``extra``."""

    def __init__(self, arms: tuple[Any, ...], decode: Callable[[bytes], Any]) -> None:
        """Remember which properties each variant has.

        Args:
            arms: The models that a message can be, with a tag each.
            decode: The strict decoder of a message.
        """
        self._decode = decode
        self._tag = arms[0].__struct_config__.tag_field
        self._names = {msgspec.json.encode(a.__struct_config__.tag): _names(a) for a in arms}
        self._split = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
        self._join = msgspec.json.Encoder().encode

    def decode(self, data: Any) -> Any:  # noqa: ANN401 - bytes or text to a model
        """Return the model; its ``extra`` is unset where every property is known.

        Raises:
            msgspec.MsgspecError, KeyError, UnicodeError: Something else is the matter.
        """
        members = self._split(data)
        unknown = members.keys() - self._names[bytes(members[self._tag])]
        if not unknown:
            return self._decode(data)
        extra = {
            f"/{pointer_token(name)}": msgspec.json.decode(members.pop(name))
            for name in sorted(unknown)
        }
        model = self._decode(self._join(members))
        msgspec.structs.force_setattr(model, "extra", Extra(extra))
        return model


def _names(arm: Any) -> frozenset[str]:  # noqa: ANN401 - a struct class
    """Return the wire names of a model's properties; those that are ours begin with ``@``."""
    names = {field.encode_name for field in msgspec.structs.fields(arm)}
    config = arm.__struct_config__
    return frozenset({name for name in names if name != "@extra"} | {config.tag_field})
