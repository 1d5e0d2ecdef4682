"""Messages with properties that their schema does not name, at the root or in objects below it.

That is where newer producers add them, and then to every message. The names are learned from the
first such message: twins of the models, which have these names as well, read the next ones.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache, reduce
from operator import or_
from typing import Any, Final, NamedTuple, TypeAlias, get_args, get_type_hints

import msgspec
from msgspec import UNSET, structs

from changewire.codec.parser_texts import BELOW_THE_ROOT, UNKNOWN_FIELD
from changewire_messages.hooks import FloatHook
from changewire_messages.support import Extra, pointer_token

MOST_NAMES: Final = 32
"""Names that are learned at most; a hostile producer has as many as it likes."""

_LEVELS: Final = 3
"""Levels of objects whose names are learned, the root among them."""

_USUAL = re.compile(r"[ !#-\[\]-~]{1,100}")
"""Names that are learned: msgspec takes no quotes, backslashes and control characters."""

Place: TypeAlias = tuple[str, ...]
"""The names on the way to an object; none for the root."""

_Names: TypeAlias = Mapping[Place, frozenset[str]]


class _Made(NamedTuple):
    """Parts of a twin: a model, fields that it has more with pointers, and other twins."""

    arm: Any
    more: list[tuple[str, str]]
    inner: list[str]


def place_of(error: BaseException) -> Place | None:
    """Return the place of an unknown property, if msgspec says so; None if in an array."""
    what, below, place = str(error).partition(BELOW_THE_ROOT)
    if UNKNOWN_FIELD not in what or "[" in place:
        return None
    return tuple(place.strip("`").split(".")[1:]) if below else ()


class UnknownProperties:
    """Decodes messages whose objects have learned properties, and keeps these as ``extra``."""

    def __init__(self, arms: tuple[Any, ...], float_hook: FloatHook) -> None:
        self._arms = arms
        self._float_hook = float_hook
        self._names: _Names = {}
        self._members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
        self._twins = _twins(arms, {}, float_hook)

    def decode(self, data: Any) -> Any:
        """Return the model; its ``extra`` is unset if every property is known."""
        decode, made_of = self._twins
        extra: dict[str, Any] = {}
        model = _model(decode(data), made_of, extra)
        if extra:
            structs.force_setattr(model, "extra", Extra(extra))
        return model

    def learn(self, data: Any, place: Place) -> bool:
        """Learn the names in an object of a message; return whether there are new ones."""
        arms = self._arms
        for name in place:
            arms = tuple(model for arm in arms for model in _models_at(arm, name))
        if not arms or len(place) >= _LEVELS:
            raise msgspec.ValidationError
        for name in place:
            data = self._members(data)[name]
        before = self._names.get(place, frozenset[str]())
        names = before.union(self._members(data))
        unknown = names.difference(*map(wire_names, arms))
        others = sum(len(known) for at, known in self._names.items() if at != place)
        if len(unknown) + others > MOST_NAMES or not all(map(_USUAL.fullmatch, unknown)):
            raise msgspec.ValidationError
        if names != before:
            self._names = {**self._names, place: names}
            self._twins = _twins(self._arms, self._names, self._float_hook)
        return names != before


def _twins(
    arms: tuple[Any, ...], names: _Names, float_hook: FloatHook
) -> tuple[Callable[[Any], Any], Mapping[type, _Made]]:
    """Return a decoder of twins, and what each of them is made of."""
    made_of: dict[type, _Made] = {}
    kind = reduce(or_, [_twin(arm, (), names, made_of) for arm in arms])
    return msgspec.json.Decoder(kind, float_hook=float_hook).decode, made_of


def _twin(arm: Any, place: Place, names: _Names, made_of: dict[type, _Made]) -> Any:
    """Return a model that also has properties of the names, as have the ones in it."""
    unknown = sorted(names.get(place, frozenset()) - wire_names(arm))
    more = [(f"_unknown_{i}", name) for i, name in enumerate(unknown)]
    fields = [(field, Any, msgspec.field(default=UNSET, name=name)) for field, name in more]
    at = "".join(f"/{pointer_token(step)}" for step in place)
    made = _Made(arm, [(field, f"{at}/{pointer_token(name)}") for field, name in more], [])
    for field in structs.fields(arm):
        below = (*place, field.encode_name)
        models = _models_at(arm, field.encode_name)
        if models and any(known[: len(below)] == below for known in names):
            twins = {model: _twin(model, below, names, made_of) for model in models}
            hint = get_type_hints(arm, include_extras=True)[field.name]
            kind = reduce(or_, [twins.get(one, one) for one in get_args(hint) or (hint,)])
            default = msgspec.field(default=field.default, name=field.encode_name)
            fields.append((field.name, kind, default))
            made.inner.append(field.name)
    config = arm.__struct_config__
    twin = msgspec.defstruct(
        arm.__name__, fields, bases=(arm,), tag_field=config.tag_field, tag=config.tag, kw_only=True
    )
    made_of[twin] = made
    return twin


def _model(twin: Any, made_of: Mapping[type, _Made], extra: dict[str, Any]) -> Any:
    """Return the model of a twin; its further parts are moved to `extra`."""
    made = made_of.get(type(twin))
    if made is None:
        return twin
    values = structs.asdict(twin)
    for field, pointer in made.more:
        value = values.pop(field)
        if value is not UNSET:
            extra[pointer] = value
    for field in made.inner:
        values[field] = _model(values[field], made_of, extra)
    return made.arm(**values)


@cache
def _models_at(arm: Any, name: str) -> list[Any]:
    """Return the models that a property of a model can represent."""
    found = [field.name for field in structs.fields(arm) if field.encode_name == name]
    hints = [get_type_hints(arm)[field] for field in found]
    kinds = [kind for hint in hints for kind in get_args(hint) or (hint,)]
    return [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, msgspec.Struct)]


@cache
def wire_names(arm: Any) -> frozenset[str]:
    """Return the names that a model reads; the one of ``extra`` is among them."""
    names = {field.encode_name for field in structs.fields(arm)}
    return frozenset(names | {arm.__struct_config__.tag_field})
