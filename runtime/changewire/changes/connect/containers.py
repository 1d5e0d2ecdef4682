"""Readers of the types of Kafka Connect that hold any number of others: arrays and maps."""

from typing import Any

from changewire.changes.connect.errors import ValueMismatch
from changewire.changes.connect.notes import Context
from changewire.changes.connect.paths import Path, pointer_of
from changewire.changes.connect.reads import Read, refusal
from changewire.changes.connect.schema import Node


def array(node: Node, items: Read) -> Read:
    """Return a reader of arrays."""
    refuse = refusal(node, "an array")

    def read(value: Any, context: Context, path: Path) -> Any:
        if type(value) is not list:
            return refuse(value, path)
        return [items(item, context, (path, i)) for i, item in enumerate(value)]

    return read


def object_map(node: Node, values: Read) -> Read:
    """Return a reader of maps with text as keys, which are JSON objects."""
    refuse = refusal(node, "an object, as its keys are strings")

    def read(value: Any, context: Context, path: Path) -> Any:
        if type(value) is not dict:
            return refuse(value, path)
        return {key: values(item, context, (path, key)) for key, item in value.items()}

    return read


def pair_map(node: Node, keys: Read, values: Read) -> Read:
    """Return a reader of maps with other keys, which are arrays of pairs; they stay pairs.

    A dictionary would fold keys that Python holds for equal (1, 1.0 and true), and takes no lists.
    """
    refuse = refusal(node, "an array of pairs, as its keys are no strings")

    def read(value: Any, context: Context, path: Path) -> Any:
        if type(value) is not list:
            return refuse(value, path)
        pairs: list[tuple[Any, Any]] = []
        for i, pair in enumerate(value):
            at: Path = (path, i)
            if type(pair) is not list or len(pair) != 2:  # noqa: PLR2004 - a pair
                raise ValueMismatch(
                    pointer_of(at), node.pointer, "an array of key and value", pair, "wrong-length"
                )
            key, item = pair
            pairs.append((keys(key, context, (at, 0)), values(item, context, (at, 1))))
        return pairs

    return read
