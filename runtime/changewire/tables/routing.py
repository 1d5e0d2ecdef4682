"""Which tables a change goes to."""

from collections.abc import Collection, Mapping
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from changewire.tables.effects import DELETE, WRITES
from changewire.tables.names import Target, Template, target_of
from changewire_messages.change import Source

Reason = Literal["table-missing", "name-collision", "truncate-without-sequence"]
"""Why a change cannot be applied."""

REFUSALS: Final[Mapping[Reason, tuple[str, str]]] = {
    "table-missing": ("/source", "the change does not say all that its target is named by"),
    "name-collision": (
        "/source",
        "another table has the name of its target, but for the case of letters",
    ),
    "truncate-without-sequence": (
        "/sequence",
        "a truncate without a sequence is neither older nor newer",
    ),
}
"""What of the change each is about, as a JSON Pointer, and what is wrong."""

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


def refusal_text(code: str, pointer: str, message: str) -> str:
    """Return what a dead letter says of a change that no table takes."""
    return f"{code}: {pointer}: {message}"


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
