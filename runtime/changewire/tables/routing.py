"""Which tables a change goes to."""

from collections.abc import Collection, Mapping
from typing import Final, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from changewire.tables.effects import DELETE, WRITES
from changewire.tables.names import Target, Template, target_of
from changewire_messages.change import Source

Reason = Literal["table-missing", "name-collision", "truncate-without-sequence"]
"""Why a change cannot be applied."""

APPLY_FAILED: Final = "apply-failed"
"""Code of a change whose application raised an exception that nothing expected."""


class Refusal(NamedTuple):
    """Why a change becomes a dead letter although its message was decoded.

    Attributes:
        code: Code of the dead letter.
        pointer: JSON Pointer into the change.
        message: What is wrong, without values.
    """

    code: str
    pointer: str
    message: str

    @property
    def text(self) -> str:
        """The column ``message`` of the dead letter."""
        return f"{self.code}: {self.pointer}: {self.message}"


_MISSING: Final = "the change does not say all that its target is named by"
_COLLISION: Final = "another table has the name of its target, but for the case of letters"
_UNORDERED: Final = "a truncate without a sequence is neither older nor newer"

REFUSALS: Final[Mapping[Reason, Refusal]] = {
    "table-missing": Refusal("table-missing", "/source", _MISSING),
    "name-collision": Refusal("name-collision", "/source", _COLLISION),
    "truncate-without-sequence": Refusal("truncate-without-sequence", "/sequence", _UNORDERED),
}
"""The refusal for each reason."""


def apply_failed(error: Exception, pointer: str, step: str) -> Refusal:
    """Return the refusal of a change whose application raised an exception.

    Args:
        error: The exception; only the name of its type is kept, since its text may hold values.
        pointer: JSON Pointer into the change.
        step: What was done, such as ``routing``.
    """
    return Refusal(APPLY_FAILED, pointer, f"{step} raised {type(error).__name__}")


Namespace = tuple[str, str | None]
"""System and database of a source."""


class Routing(Struct, frozen=True):
    """How sources find their targets.

    Attributes:
        template: How targets are named.
        null_set: Table of writes whose source names none; None: there is no such table.
    """

    template: Template
    null_set: str | None = None


def namespace_of(source: Source) -> Namespace:
    """Return what tables have in common to which a delete without table goes."""
    return source.system, source.database


def goes_to_all(op: str, source: Source) -> bool:
    """Whether a change goes to every table of its database: a delete that names none."""
    return op == DELETE and source.table is None and source.database is not None


def route(
    op: str, source: Source, routing: Routing, members: Collection[Target]
) -> tuple[Target, ...]:
    """Return the targets of a change; none where a name is missing.

    A delete whose source names no table goes to every known table of its database: an Aerospike
    server does not ship the set with some deletes, and a digest is unique within its namespace. A
    write without one goes to the table `null_set`.

    Args:
        op: Operation of the change: a write, a delete or a truncate.
        source: Where it comes from.
        routing: How sources find their targets.
        members: Known targets of the source's database.
    """
    if goes_to_all(op, source):
        return tuple(members)
    if source.table is None and op in WRITES and routing.null_set is not None:
        source = replace(source, table=routing.null_set)
    target = target_of(routing.template, source)
    return () if target is None else (target,)
