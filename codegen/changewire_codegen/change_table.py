"""The change table of a family: places of the parts of a change in its messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from changewire_codegen.errors import SchemaError
from changewire_codegen.names import escape_pointer
from changewire_codegen.nodes import (
    AnyDefinition,
    Family,
    Property,
    RefTo,
    RowUnion,
    Scalar,
    Union,
    children,
    not_null,
    with_arms,
)

_MICROSECONDS: Final = {"": 0, "microseconds": 1, "milliseconds": 1000, "seconds": 1_000_000}


@dataclass(frozen=True)
class Path:
    """Properties and positions from a message to a value.

    Attributes:
        steps: Each of them, as the first variant has it.
        ends: The last one of each variant that has it.
        is_sure: Whether all variants have all of them, and none but the last may be absent or null.
        part: The step that leads to what is also read by itself: a text that messages repeat, or
            the key of a record. Empty if no step does.
    """

    steps: list[Property]
    ends: list[Property]
    is_sure: bool
    part: str = ""

    @property
    def is_always(self) -> bool:
        """Whether every message has a value there, which may be null."""
        return self.is_sure and all(prop.required for prop in self.ends)

    @property
    def is_apart(self) -> bool:
        """Whether it leads through a text that messages repeat."""
        return any(prop.repeated for prop in self.steps)


@dataclass(frozen=True)
class ChangeTable:
    """Places of the parts of a change in messages.

    Attributes:
        unit: Microseconds of the unit of the time.
        unknown: Numbers that represent neither a time nor a place in the order.
    """

    system: str
    op: Path
    ops: Mapping[str | int, str]
    source: Mapping[str, Path]
    event_time: Path
    unit: int
    sequence: Sequence[Path]
    unknown: Sequence[int]
    attributes: Mapping[str, Path]


def change_table(family: Family) -> ChangeTable:
    """Return the table of a family that has one.

    Raises:
        SchemaError: A path leads to no property, or a tag represents two operations.
    """
    given = family.meta["change"]

    def paths(part: str) -> dict[str, Path]:
        return {name: _path(text, family, (part, name)) for name, text in given[part].items()}

    tag, time = (_path(given[part], family, (part,)) for part in ("op", "event_time"))
    order = [_path(text, family, ("sequence", i)) for i, text in enumerate(given["sequence"])]
    if not time.ends[0].unit:
        raise _refusal(family, ("event_time",), "the time of a change must have an x-unit")
    return ChangeTable(
        system=given["system"],
        op=tag,
        ops=_ops(family, tag.ends),
        source=paths("source"),
        event_time=time,
        unit=_MICROSECONDS[time.ends[0].unit],
        sequence=order,
        unknown=sorted({n for path in (time, order[0]) for n in path.ends[0].unknown}),
        attributes=paths("attributes"),
    )


def _ops(family: Family, tags: Iterable[Property]) -> dict[str | int, str]:
    """Return the operation of each value of the tag."""
    found: dict[str | int, str] = {}
    for prop in tags:
        values = prop.type.enum or () if isinstance(prop.type, Scalar) and prop.op else ()
        for value in values:
            if found.setdefault(value, prop.op) != prop.op:
                raise _refusal(family, ("op",), f"{value!r} is {found[value]} and {prop.op}")
    if not found:
        raise _refusal(family, ("op",), "no value of this tag has an x-op")
    return found


def _path(text: str, family: Family, at: Iterable[str | int]) -> Path:
    holders, steps, is_sure = [family.definitions[family.roles["message"]]], list[Property](), True
    ends: list[Property] = []
    for step in text.split("/"):
        is_sure = is_sure and all(prop.required and isinstance(prop.type, RefTo) for prop in ends)
        arms = [*_arms(holders, family)]
        ends = [prop for arm in arms for prop in children(arm) if prop.wire == step]
        if not ends:
            raise _refusal(family, at, f"no message has {text!r}")
        is_sure = is_sure and len(ends) == len(arms)
        steps.append(ends[0])
        kinds = [not_null(prop.type) for prop in ends]
        holders = [family.definitions[kind.name] for kind in kinds if isinstance(kind, RefTo)]
    key = RefTo(family.roles.get("key", ""))
    part = next((prop.wire for prop in steps if prop.repeated or prop.type == key), "")
    return Path(steps, ends, is_sure, part)


def _arms(holders: Iterable[AnyDefinition], family: Family) -> Iterator[AnyDefinition]:
    """Yield objects and arrays; not the open arm of a union, which no operation has."""
    for holder in with_arms(holders):
        if isinstance(holder, (Union, RowUnion)):
            named = (family.definitions[arm] for arm in holder.arms)
            is_open = holder.open_arm if isinstance(holder, Union) else None
            yield from _arms((arm for arm in named if arm.name != is_open), family)
        else:
            yield holder


def _refusal(family: Family, at: Iterable[str | int], reason: str) -> SchemaError:
    pointer = "".join(f"/{escape_pointer(str(step))}" for step in ("change", *at))
    return SchemaError(f"{family.name}/family.json", pointer, reason)
