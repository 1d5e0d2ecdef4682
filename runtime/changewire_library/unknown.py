"""Parts that a strict model lacks, taken out of a parsed message and put back.

A struct rejects properties and tags that it does not know. A message with such is rewritten before
it becomes a model: unknown properties move below ``@extra``, an unknown tag below ``@`` and its
name. Encoding goes the other way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from threading import Lock
from types import ModuleType
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import inspect

from changewire_library.flat_objects import gather, scatter
from changewire_library.support import (
    Path,
    as_text,
    insert,
    take_beyond,
    take_unknown,
    unwrap,
    wrap,
)

Take: TypeAlias = Callable[[Any, Path, dict[str, Any]], None]
Put: TypeAlias = Callable[[Any], None]

OPEN_TAG: Final = "@open"
"""Tag of a model for the messages that no other model is for."""


class Walk(NamedTuple):
    """What takes unknown parts out of values of a type, and puts them back; None for nothing."""

    take: Take | None
    put: Put | None


_NOTHING: Final = Walk(None, None)


class UnknownParts:
    """Takes unknown parts out of the messages of a family, and puts them back.

    What to do is read from the models, once for each.
    """

    def __init__(
        self,
        models: ModuleType,
        *,
        open_rows: Iterable[str] = (),
        alone: Mapping[str, str] | None = None,
        flat: Mapping[str, tuple[str, str, tuple[str, ...]]] | None = None,
    ) -> None:
        """Name the models, the arrays that may be longer, what may come alone, what is flat."""
        self._models = models
        self._open_rows = frozenset(open_rows)
        self._alone = alone or {}
        self._flat = flat or {}
        self._walks: dict[type, Walk] = {}
        self._lock = Lock()
        self._root = cache(self._of_variant)

    def take_out(self, obj: object, variant: str) -> None:
        """Move what a model of the variant does not know to its extra, in place.

        Where the parsed message is not valid, any exception may be raised.
        """
        take = self._root(variant).take
        if take is not None:
            take(obj, (), {})

    def put_back(self, obj: object, variant: str) -> None:
        """Undo `take_out`, in place.

        Raises:
            KeyError, IndexError, TypeError, ValueError: A pointer of ``extra`` leads nowhere.
        """
        put = self._root(variant).put
        if put is not None:
            put(obj)

    def _of_variant(self, variant: str) -> Walk:
        with self._lock:  # another thread must not meet what is half made
            return self._of(inspect.type_info(getattr(self._models, variant)))

    def _of(self, kind: inspect.Type) -> Walk:
        if isinstance(kind, inspect.StructType):
            return self._struct(kind)
        if isinstance(kind, inspect.UnionType):
            return self._union(kind)
        if isinstance(kind, inspect.ListType):
            return _each(self._of(kind.item_type), enumerate)
        if isinstance(kind, inspect.DictType):
            return _each(self._of(kind.value_type), dict.items)
        return _NOTHING

    def _struct(self, kind: inspect.StructType) -> Walk:
        if kind.cls not in self._walks:
            made: list[Walk] = []
            self._walks[kind.cls] = _later(made)  # it may contain itself
            made.append(self._row(kind) if kind.array_like else self._object(kind))
            self._walks[kind.cls] = made[0]
        return self._walks[kind.cls]

    def _object(self, kind: inspect.StructType) -> Walk:
        parts = {field.encode_name: self._of(field.type) for field in kind.fields}
        if kind.cls.__name__ in self._flat:
            flat = _Flat(*self._flat[kind.cls.__name__], parts)
            return Walk(flat.take, flat.put)
        alone = self._alone.get(kind.cls.__name__)
        found = _Object(
            names=frozenset(parts).union([] if kind.tag_field is None else [kind.tag_field]),
            tag=kind.tag_field if kind.tag == OPEN_TAG else None,
            texts=frozenset(f.encode_name for f in kind.fields if type(f.type) is inspect.RawType),
            takes={name: part.take for name, part in parts.items() if part.take is not None},
            puts={name: part.put for name, part in parts.items() if part.put is not None},
            alone=alone,
            alone_tag=_tag_of(next((f.type for f in kind.fields if f.encode_name == alone), None)),
        )
        needs_put = found.puts or found.tag is not None or "@extra" in parts
        return Walk(found.take, found.put if needs_put else None)

    def _row(self, kind: inspect.StructType) -> Walk:
        own = kind.fields[-1].name == "extra"
        parts = [self._of(field.type) for field in (kind.fields[:-1] if own else kind.fields)]
        found = _Row(
            size=len(parts),
            own=own,
            is_open=kind.cls.__name__ in self._open_rows,
            takes={i: part.take for i, part in enumerate(parts) if part.take is not None},
            puts={i: part.put for i, part in enumerate(parts) if part.put is not None},
        )
        needs_take = found.takes or own or found.is_open
        return Walk(found.take if needs_take else None, found.put if found.puts or own else None)

    def _union(self, kind: inspect.UnionType) -> Walk:
        """Choose by the tag; of a type or null, take the type."""
        tag = _tag_of(kind)
        arms = [(arm, self._of(arm)) for arm in kind.types]
        if tag is None:
            return next((walk for _, walk in arms if walk != _NOTHING), _NOTHING)
        takes = {arm.tag: w.take for arm, w in arms if isinstance(arm, inspect.StructType)}
        puts = {arm.tag: w.put for arm, w in arms if isinstance(arm, inspect.StructType)}
        other = takes.get(OPEN_TAG)

        def take(value: Any, at: Path, extra: dict[str, Any]) -> None:
            inner = takes.get(value[tag], other)
            if inner is None:
                raise KeyError(tag)
            inner(value, at, extra)

        def put(value: Any) -> None:
            inner = puts.get(value[tag])
            if inner is not None:
                inner(value)

        return Walk(take, put if any(puts.values()) else None)


@dataclass(frozen=True)
class _Object:
    """An object: the names that its model reads, and what to do with its parts."""

    names: frozenset[str]
    tag: str | None
    texts: frozenset[str]
    takes: Mapping[str, Take]
    puts: Mapping[str, Put]
    alone: str | None
    alone_tag: str | None

    @cached_property
    def known(self) -> frozenset[str]:
        """The names that the schema knows."""
        ours = {"@alone", "@extra"} if self.tag is None else {"@alone", "@extra", f"@{self.tag}"}
        return self.names - ours

    def take(self, value: Any, at: Path, extra: dict[str, Any]) -> None:
        own = "@extra" in self.names
        if own:
            at, extra = (), {}
        if (
            self.alone is not None
            and self.alone_tag in value
            and value.keys().isdisjoint(self.known)
        ):
            self.takes[self.alone](value, at, extra)
            wrap(value, self.alone, extra)
            return
        if not value.keys() <= self.known:
            take_unknown(value, self.known, at, extra)
        for name, inner in self.takes.items():
            if value.get(name) is not None:
                inner(value[name], (at, name), extra)
        if self.texts:
            value.update({name: as_text(value[name]) for name in self.texts & value.keys()})
        if self.tag is not None:
            value[f"@{self.tag}"], value[self.tag] = value[self.tag], OPEN_TAG
        if own and extra:
            value["@extra"] = extra

    def put(self, value: Any) -> None:
        for name, inner in self.puts.items():
            if value.get(name) is not None:
                inner(value[name])
        if self.tag is not None:
            value[self.tag] = value.pop(f"@{self.tag}")
        if self.alone is not None:
            unwrap(value)
        if "@extra" in self.names:
            for pointer, extra in value.pop("@extra", {}).items():
                insert(value, pointer, extra)


@dataclass(frozen=True)
class _Flat:
    """An object with inlined map entries next to a property of any name."""

    name: str
    entries: str
    needed: tuple[str, ...]
    parts: Mapping[str, Walk]

    def take(self, value: Any, _at: Path, _extra: dict[str, Any]) -> None:
        extra: dict[str, Any] = {}
        found = gather(value, self.name, self.entries, self.needed)
        for name, at in ((self.name, ((), found)), (self.entries, ())):
            take = self.parts[name].take
            if take is not None:
                take(value[name], at, extra)
        if extra:
            value["@extra"] = extra

    def put(self, value: Any) -> None:
        for name in (self.name, self.entries):
            put = self.parts[name].put
            if put is not None:
                put(value[name])
        scatter(value, self.name, self.entries)


@dataclass(frozen=True)
class _Row:
    """An array: how many positions its schema names, and what to do with them."""

    size: int
    own: bool
    is_open: bool
    takes: Mapping[int, Take]
    puts: Mapping[int, Put]

    def take(self, value: Any, at: Path, extra: dict[str, Any]) -> None:
        if self.own:
            at, extra = (), {}
        if self.is_open and len(value) > self.size:
            take_beyond(value, self.size, at, extra)
        for i, inner in self.takes.items():
            if value[i] is not None:
                inner(value[i], (at, i), extra)
        if self.own and extra:
            value.append(extra)

    def put(self, value: Any) -> None:
        for i, inner in self.puts.items():
            if value[i] is not None:
                inner(value[i])
        if self.own:
            for pointer, extra in (value.pop() or {}).items():
                insert(value, pointer, extra)


def _tag_of(kind: inspect.Type | None) -> str | None:
    """Return the property that distinguishes the models of a union; None if it has none."""
    arms = kind.types if isinstance(kind, inspect.UnionType) else ()
    tags = (arm.tag_field for arm in arms if isinstance(arm, inspect.StructType))
    return next(tags, None)


def _later(made: list[Walk]) -> Walk:
    """Return the walk that will have been made when it is needed."""

    def take(value: Any, at: Path, extra: dict[str, Any]) -> None:
        if made[0].take is not None:
            made[0].take(value, at, extra)

    def put(value: Any) -> None:
        if made[0].put is not None:
            made[0].put(value)

    return Walk(take, put)


def _each(walk: Walk, entries: Callable[[Any], Iterable[tuple[Any, Any]]]) -> Walk:
    """Return the walk through a list or a map, of which ``entries`` gives steps and values."""

    def take(value: Any, at: Path, extra: dict[str, Any]) -> None:
        for step, item in entries(value):
            if item is not None and walk.take is not None:
                walk.take(item, (at, step), extra)

    def put(value: Any) -> None:
        for _, item in entries(value):
            if item is not None and walk.put is not None:
                walk.put(item)

    return Walk(take if walk.take else None, put if walk.put else None)
