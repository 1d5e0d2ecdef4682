"""Message and schema, walked together: one field after the other, in the order of the message."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

from msgspec import UNSET, Struct, UnsetType, field

from changewire.codec.issues import Issue, type_word
from changewire.explain.readings import reading
from changewire.explain.schema import NOTHING_KNOWN, Node, chain
from changewire_messages.support import key_token

State = Literal["known", "unknown", "missing"]
"""Whether the schema names a field, or names a missing one."""

_ALL_TOGETHER: Final = 50
"""How many times the fields of one array or object are shown of a whole message."""


class Field(Struct, kw_only=True):
    """A value of a message, and what is known of it.

    Attributes:
        pointer: JSON Pointer (RFC 6901) to the value.
        name: Its name in the object, array or map that has it, or its index; empty at the root.
        depth: How many of these contain it.
        value: The value; UNSET for arrays and objects, whose fields follow, and if it is
            missing.
        kind: Title of its schema, or its type as a word.
        meaning: Description of the schema.
        reading: Meaning of the value for a person; empty if that is the value itself.
        declared: Type that the message itself declares for the value.
        state: ``unknown`` for a property that its schema does not name, ``missing`` for one that
            should be there, otherwise ``known``.
        tagged: Whether a tag names the kind.
        left_out: How many of its fields do not follow.
        issues: What is wrong with it, and with those of its fields that do not follow.
    """

    pointer: str
    name: str
    depth: int
    value: Any | UnsetType = UNSET
    kind: str = ""
    meaning: str = ""
    reading: str = ""
    declared: str = ""
    state: State = "known"
    tagged: bool = False
    left_out: int = 0
    issues: list[Issue] = field(default_factory=list)


class _Part(NamedTuple):
    """A child of a value: its name, the last step of its pointer, its place in the schema."""

    name: str
    token: str
    value: Any
    node: Node
    state: State


class _Step(NamedTuple):
    """A part that is still to be walked to."""

    part: _Part
    pointer: str
    depth: int
    repeated: bool


def walk(value: object, root: Node, most: int | None) -> Iterator[Field]:
    """Yield each field of a parsed message."""
    stack = [_Step(_Part("", "", value, {"$ref": "#"}, "known"), "", 0, repeated=False)]
    done = 0
    while stack:
        step = stack.pop()
        nodes = chain(root, step.part.node, step.part.value)
        parts = _parts(step.part.value, nodes[-1])
        repeated = step.repeated or step.part.node.get("x-repeated", False)
        shown = parts
        if most is not None:
            room = max(0, most * _ALL_TOGETHER - done - 1 - len(stack))
            shown = _bounded(parts[:room], 0 if repeated else most)
        yield _field(step, nodes, len(parts) - len(shown))
        done += 1
        stack.extend(
            _Step(part, f"{step.pointer}/{part.token}", step.depth + 1, repeated)
            for part in reversed(shown)
        )


def _field(step: _Step, nodes: list[Node], left_out: int) -> Field:
    value, own = step.part.value, step.part.node
    holds_others = isinstance(value, (dict, list, tuple))
    return Field(
        pointer=step.pointer,
        name=step.part.name,
        depth=step.depth,
        value=UNSET if holds_others else value,
        kind=_last(nodes[1:], "title") or type_word(value),
        meaning=own.get("description") or _last(nodes, "description"),
        reading="" if holds_others else reading(value, {**nodes[-1], **own}),
        state=step.part.state,
        tagged=any("oneOf" in node for node in nodes[:-1]),
        left_out=left_out,
    )


def _last(nodes: list[Node], keyword: str) -> str:
    """Return what the most specific place that has a keyword says."""
    return next((str(node[keyword]) for node in reversed(nodes) if keyword in node), "")


def _parts(value: Any, node: Node) -> list[_Part]:
    """Return the parts of a value, each with its place in the schema."""
    if isinstance(value, dict):
        return _properties(value, node)
    if isinstance(value, (list, tuple)):
        return _elements(value, node)
    return []


def _properties(value: dict[Any, Any], node: Node) -> list[_Part]:
    named: Mapping[str, Node] | None = node.get("properties")
    if named is None:
        each = node.get("additionalProperties", NOTHING_KNOWN)
        return [_property(name, item, each, "known") for name, item in value.items()]
    others: tuple[Node, State] = (NOTHING_KNOWN, "unknown")
    if "additionalProperties" in node:
        others = (node["additionalProperties"], "known")
    parts = [
        _property(name, item, named[name], "known")
        if name in named
        else _property(name, item, *others)
        for name, item in value.items()
    ]
    missing = [name for name in node.get("required", ()) if name not in value]
    return parts + [_property(name, UNSET, named[name], "missing") for name in missing]


def _property(key: object, value: object, node: Node, state: State) -> _Part:
    """Return a property; the key of a map in MessagePack may be of any type."""
    name = key if isinstance(key, str) else repr(key)
    return _Part(name, key_token(key), value, node, state)


def _elements(value: Any, node: Node) -> list[_Part]:
    positions = node.get("prefixItems", ())
    each = node.get("items") or NOTHING_KNOWN
    state: State = "unknown" if positions else "known"
    return [
        _Part(positions[i].get("title", str(i)), str(i), item, positions[i], "known")
        if i < len(positions)
        else _Part(str(i), str(i), item, each, state)
        for i, item in enumerate(value)
    ]


def _bounded(parts: list[_Part], most: int) -> list[_Part]:
    """Return the parts that are shown: those that a schema describes, and the first others."""
    others = 0
    shown: list[_Part] = []
    for part in parts:
        is_described = "description" in part.node
        others += not is_described
        if is_described or others <= most:
            shown.append(part)
    return shown
