"""A generated family as the codec sees it: types at once, everything else when it is needed."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Any, get_args

from changewire.codec.issues import Issue, issue_of


class Family:
    """The modules that the generator made for one format.

    Attributes:
        format: Public name of the format.
        roles: Title of the schema for each part of a Kafka record: message, batch, key, key_batch.
        types: The type to decode for each role.
        arms: The models that a single message can be.
    """

    def __init__(self, module: ModuleType) -> None:
        """Look at a family's package."""
        self._module = module
        self.format: str = module.FORMAT
        self.roles: dict[str, str] = dict(module.ROLES)
        self.types: dict[str, Any] = {r: getattr(module, name) for r, name in self.roles.items()}
        message = self.types["message"]
        self.arms: tuple[Any, ...] = get_args(message) or (message,)

    def errors(self, obj: object, role: str, *, closed: bool = False) -> list[Issue]:
        """Return every issue of a parsed message."""
        raw = self._validators.errors(obj, self.roles[role], closed=closed)
        return [issue_of(item) for item in raw]

    def take_out(self, obj: object, role: str) -> None:
        """Move what the models do not know to where they keep it, in place."""
        self._extras.take_out(obj, self.roles[role])

    def put_back(self, obj: object, role: str) -> None:
        """Undo `take_out`, in place."""
        self._extras.put_back(obj, self.roles[role])

    def leniencies(self, model: object) -> list[str]:
        """Return the names of the leniencies that a model needed."""
        return list(self._leniencies(model))

    def role_of(self, model: object) -> str:
        """Return the role that a model, or a list of models, plays."""
        first = model[0] if isinstance(model, list) and model else model
        is_key = "key" in self.types and isinstance(first, self.types["key"])
        if isinstance(model, list):
            return "key_batch" if is_key else "batch"
        return "key" if is_key else "message"

    def is_batch(self, obj: object) -> bool:
        """Tell whether a parsed message is a batch."""
        return "batch" in self.roles and isinstance(obj, list)

    def is_key_batch(self, obj: object) -> bool:
        """Tell whether a parsed record key is that of a batch: an array of arrays."""
        if "key_batch" not in self.roles or not isinstance(obj, list):
            return False
        return not obj or isinstance(obj[0], list)

    def recognises(self, obj: object) -> bool:
        """Tell whether a parsed message, or the first of a batch, has the tag of a variant."""
        first = obj[0] if isinstance(obj, list) and obj else obj
        if not isinstance(first, dict):
            return False
        configs = [arm.__struct_config__ for arm in self.arms]
        return any(first.get(config.tag_field) == config.tag for config in configs)

    @cached_property
    def _validators(self) -> ModuleType:
        return import_module(f"{self._module.__name__}.validators")

    @cached_property
    def _extras(self) -> ModuleType:
        return import_module(f"{self._module.__name__}.extras")

    @cached_property
    def _leniencies(self) -> Any:  # noqa: ANN401 - a function of the generated module
        return import_module(f"{self._module.__name__}.leniencies").leniencies
