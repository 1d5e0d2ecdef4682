"""A generated family as the codec sees it: types at once, everything else when it is needed."""

from collections.abc import Callable, Mapping
from functools import cache, cached_property
from importlib import import_module
from types import ModuleType
from typing import Any, Final, TypeGuard, get_args, get_type_hints

import msgspec
from msgspec import structs

from changewire.codec.issues import Issue, issue_of
from changewire.codec.places import Flat, flat_of
from changewire_messages.flat_objects import flat_name
from changewire_messages.hooks import read_unknown
from changewire_messages.support import arms, has_times, read_as

_NO_ARRAY: Final = (
    "object, not an array of messages (a file that is one has the shape json-array: "
    "--shape json-array)"
)

OPEN_TAG: Final = "@open"
"""Tag of a model for the messages that no other model is for."""


class GeneratedFamily:
    """The modules that the generator made for one format."""

    def __init__(self, module: ModuleType, message: str | None = None) -> None:
        """Look at a family's package."""
        self._module = module
        self.format: str = message or module.FORMAT
        self.encoding: str = module.ENCODING
        self.exact: bool = module.EXACT
        self.roles: dict[str, str] = {"message": message} if message else dict(module.ROLES)
        self.types: dict[str, Any] = {
            r: read_as(getattr(module, name)) for r, name in self.roles.items()
        }
        self.has_times: bool = any(map(has_times, self.types.values()))
        message = self.types["message"]
        self.arms: tuple[Any, ...] = arms(message)
        fields = [field for arm in self.arms for field in structs.fields(arm)]
        self.texts: frozenset[str] = frozenset(
            f.encode_name for f in fields if msgspec.Raw in arms(f.type)
        )
        # Messages that are arrays themselves have no tag by name.
        self.alone: str | None = getattr(module, "ALONE", {}).get(self.roles["message"])
        self.flat: Flat | None = flat_of(self.arms[0])
        self._are_arrays: bool = self.arms[0].__struct_config__.array_like
        self.arm_of: Callable[[object], Any] = (
            self.part("dispatch").arm_of if self._are_arrays else _by_tag(self.arms)
        )

    def part(self, name: str) -> Any:
        """Return a module of the family's package."""
        return import_module(f"{self._module.__name__}.{name}")

    def errors(self, obj: object, role: str, *, strict: bool = False) -> list[Issue]:
        """Return every issue of a parsed message."""
        raw = self._validators.errors(obj, self.roles[role], strict=strict)
        found = [issue_of(item) for item in raw]
        is_one_message = not self._are_arrays and "batch" not in self.roles
        if is_one_message and isinstance(obj, list) and isinstance(first_of(obj), dict):
            return [i if i.pointer else structs.replace(i, expected=_NO_ARRAY) for i in found]
        return found

    def build(self, obj: Any, role: str, texts: Mapping[str, msgspec.Raw] | None = None) -> Any:
        """Return the model of a parsed message, with unknown parts in its extra."""
        if self._are_arrays and role == "batch":  # msgspec has no union of arrays
            return [self.build(item, "message") for item in obj]
        if self.has_times and self._validators.errors(obj, self.roles[role]):
            raise ValueError(role)
        # To msgspec, converting to one model is several times cheaper than to a union of them.
        arm = self.arm_of(obj) if role == "message" else None
        kept = self.roles[role] if arm is None or not self._are_arrays else arm.__name__
        self._extras.take_out(obj, kept)
        if texts:
            obj.update(texts)
        return msgspec.convert(
            obj,
            arm or self.types[role],
            dec_hook=read_unknown,
            builtin_types=(bytes,) if self.encoding == "msgpack" else None,
        )

    def put_back(self, obj: Any, role: str, model: Any) -> None:
        """Undo `take_out`, in place, in what a model was written as."""
        if not self._are_arrays:
            self._extras.put_back(obj, self.roles[role])
        elif role == "batch":
            for item, one in zip(obj, model, strict=True):
                self.put_back(item, "message", one)
        else:
            self._extras.put_back(obj, type(model).__name__)

    @cached_property
    def leniencies(self) -> Callable[[object], list[str]]:
        """The function that returns the names of the leniencies that a model needed."""
        return self.part("leniencies").leniencies  # type: ignore[no-any-return]

    def role_of(self, model: object) -> str:
        """Return the role that a model, or a list of models, plays."""
        if type(model) in self.arms:
            return "message"
        first = first_of(model)
        is_key = "key" in self.types and isinstance(first, self.types["key"])
        if isinstance(model, list) and "batch" in self.roles:
            return "key_batch" if is_key else "batch"
        return "key" if is_key else "message"

    def variant_of(self, model: object) -> str:
        """Return the title of the schema of the kind that the model of a message is of."""
        title = self.variants.get(type(model))
        if title is None and self.payload is not None:
            title = self.variants.get(type(getattr(model, self.payload[0], None)))
        return title or type(model).__name__

    def digest(self, role: str) -> str:
        """Return the SHA-256 of the schema of a role, as 64 hex digits."""
        digest: str = self._module.DIGESTS[self.roles[role]]
        return digest.removeprefix("sha256:")

    def is_batch(self, obj: Any) -> bool:
        """Return whether a parsed message is a batch: an array of messages, or an empty one."""
        if "batch" not in self.roles or not isinstance(obj, list):
            return False
        return not self._are_arrays or _holds_arrays(obj)

    def is_key_batch(self, obj: Any) -> bool:
        """Return whether a parsed record key is that of a batch: an array of keys."""
        if "key_batch" not in self.roles or not isinstance(obj, list):
            return False
        return not self.types["key"].__struct_config__.array_like or _holds_arrays(obj)

    def recognises(self, obj: object) -> bool:
        """Return whether a parsed message, or the first of a batch, says it is of the format."""
        if self._are_arrays:
            return self.arm_of(first_of(obj) if self.is_batch(obj) else obj) is not None
        first = first_of(obj)
        if self.flat is not None:
            other = _is_dict(first) and first.get(flat_name(first, self.flat[0], self.flat[2]))
            return looks_like(other, self.flat_type, is_root=False)
        if self.alone is not None and looks_like(first, self.alone_type, is_root=False):
            return True
        return looks_like(first, self.types["message"])

    @cached_property
    def alone_type(self) -> Any:
        """The type of what may be the whole message, in a format that has such."""
        return get_type_hints(self.types["message"])[self.alone or ""]

    @cached_property
    def flat_type(self) -> Any:
        """The type of what is next to the entries of a map, in a format that has such."""
        names = {field.encode_name: field.name for field in structs.fields(self.arms[0])}
        return get_type_hints(self.arms[0])[names[self.flat[0]]] if self.flat else None

    @cached_property
    def variants(self) -> dict[type, str]:
        """Title of the schema of each model that has one of its own, next to those of the roles."""
        titles = [title for title in self._module.DIGESTS if title not in self.roles.values()]
        return {arm: title for title in titles for arm in arms(getattr(self._module, title))}

    @cached_property
    def payload(self) -> tuple[str, str] | None:
        """The field whose models have titles, where a message wraps its variants."""
        hints = get_type_hints(self.arms[0])
        fields = structs.fields(self.arms[0])
        found = (f for f in fields if not self.variants.keys().isdisjoint(arms(hints[f.name])))
        return next(((field.name, field.encode_name) for field in found), None)

    @cached_property
    def titles(self) -> list[str]:
        """Titles of the schemas of the variants that a message can be of."""
        kinds = self.arms
        if self.payload is not None:
            kinds = arms(get_type_hints(self.arms[0])[self.payload[0]])
        return list(dict.fromkeys(t for kind, t in self.variants.items() if kind in kinds))

    @cached_property
    def _validators(self) -> ModuleType:
        return self.part("validators")  # type: ignore[no-any-return]

    @cached_property
    def _extras(self) -> ModuleType:
        return self.part("extras")  # type: ignore[no-any-return]


def _by_tag(models: tuple[Any, ...]) -> Callable[[object], Any]:
    """Return the function that finds the model of an object by its tag."""
    name = models[0].__struct_config__.tag_field
    arm_of = {model.__struct_config__.tag: model for model in models}

    def by_tag(obj: Any) -> Any:
        tag = obj.get(name) if isinstance(obj, dict) else None
        return arm_of.get(tag) if isinstance(tag, str) else None

    return by_tag


def _holds_arrays(obj: list[Any]) -> bool:
    return not obj or isinstance(obj[0], list)


def looks_like(value: object, kind: Any, *, is_root: bool = True) -> bool:
    """Return whether a value has the tag of a model, or all that the model needs.

    At the root a tag says enough; further down others have the same one.
    """
    if get_args(kind):
        return any(looks_like(value, arm, is_root=is_root) for arm in get_args(kind))
    if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return True
    if not _is_dict(value):
        return kind.__struct_config__.array_like and _is_list(value)
    config = kind.__struct_config__
    if config.tag_field is not None:
        tag = value.get(config.tag_field)
        is_of_it = isinstance(tag, str) and config.tag in {tag, OPEN_TAG}
        if is_root or not is_of_it:
            return is_of_it
    return all(
        name == f"@{config.tag_field}"
        or (name in value and looks_like(value[name], hint, is_root=False))
        for name, hint in _needed(kind).items()
    )


@cache
def _needed(kind: Any) -> dict[str, Any]:
    """Return the type of each property that a model always has, by its name."""
    hints = get_type_hints(kind)
    return {f.encode_name: hints[f.name] for f in structs.fields(kind) if f.required}


def first_of(value: Any) -> Any:
    """Return the first item of a list that has one, otherwise the value itself."""
    return value[0] if _is_list(value) and value else value


def is_model(value: Any) -> bool:
    """Return whether a value is a model, or a list of models."""
    return isinstance(first_of(value), msgspec.Struct)


def _is_dict(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)
