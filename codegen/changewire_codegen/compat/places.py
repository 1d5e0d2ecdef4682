"""Where a node of a schema stands, and the way that a message takes to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from changewire_codegen.names import escape_pointer
from changewire_codegen.nodes import Family

Node: TypeAlias = Mapping[str, Any]

Step: TypeAlias = tuple[Literal["name", "index", "item", "entry"], str | int]
"""From a value to one in it: a property, a position, any element, any value of a map."""

ITEM: Step = ("item", 0)
ENTRY: Step = ("entry", 0)


@dataclass(frozen=True)
class At:
    """A node of a schema file and its place.

    Attributes:
        family: What the file belongs to.
        file: Name of the file in its folder.
        pointer: JSON Pointer to the node (RFC 6901).
        node: What stands there.
    """

    family: Family
    file: str
    pointer: str
    node: Node

    def at(self, *steps: str | int) -> At:
        """Return a node below this one."""
        node: Any = self.node
        for step in steps:
            node = node[step]
        below = "".join(f"/{escape_pointer(str(step))}" for step in steps)
        return At(self.family, self.file, self.pointer + below, node)

    @property
    def place(self) -> tuple[str, str]:
        """File, with its folder, and JSON Pointer."""
        return f"{self.family.name}/{self.file}", self.pointer


Trace: TypeAlias = tuple[tuple[At, Step | None], ...]
"""The nodes above a value, outermost first, each with the step from its value to the next one's.

No step leads from a reference or a union to what it stands for: that is the same value.
"""


def root(family: Family, file: str) -> At:
    """Return what a schema file holds."""
    return At(family, file, "", family.schemas[file])


def target(at: At) -> At:
    """Return the node that the ``$ref`` of a node means, which the loader has found to exist."""
    file, _, pointer = at.node["$ref"].partition("#")
    found = root(at.family, file or at.file)
    return found.at("$defs", pointer.rpartition("/")[2]) if pointer else found
