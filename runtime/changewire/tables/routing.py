"""Which tables the changes of a batch go to, decided once for each of their sources."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from changewire.changes.sources import dotted
from changewire.codec.border import RESOURCE_ERRORS
from changewire.tables.chosen import Chosen
from changewire.tables.mutations import DELETE, WRITES
from changewire.tables.names import Target, Template, target_of
from changewire.tables.reserved import Parts, is_reserved
from changewire_messages.change import Source

TRUNCATE: Final = "truncate"
"""Operation that removes all rows of a table."""

APPLY_FAILED: Final = "apply-failed"
"""Code of a change whose application raised an exception that nothing expected."""

CONSTRAINT: Final = "constraint"
"""Code of a change whose row a constraint of the table forbids."""

NOT_WRITABLE: Final = "table-not-writable"
"""Code of a change whose table the engine cannot write."""


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


_MISSING: Final = "the change lacks a name that its target needs"
_COLLISION: Final = (
    "another table has the name of its target, but for the case of letters, or the target is a "
    "place of the log or of the checkpoint"
)
_TOO_MANY: Final = "the batch has more new tables than `max_new_tables` allows"
_SECOND: Final = (
    "the target has no field {table}, and another table feeds it; the option `one_table` lets "
    "several tables do so"
)
_UNORDERED: Final = "a truncate without a sequence is neither older nor newer"

REFUSALS: Final[Mapping[str, Refusal]] = {
    "table-missing": Refusal("table-missing", "/source", _MISSING),
    "name-collision": Refusal("name-collision", "/source", _COLLISION),
    "truncate-without-sequence": Refusal("truncate-without-sequence", "/sequence", _UNORDERED),
    "too-many-tables": Refusal("too-many-tables", "/source", _TOO_MANY),
    "second-source": Refusal("second-source", "/source", _SECOND),
}
"""The refusal for each code."""

UNROUTED: Final = frozenset({"name-collision", "second-source", "table-missing", "too-many-tables"})
"""Codes of changes that found no table."""


def apply_failed(error: Exception, pointer: str, step: str) -> Refusal:
    """Return the refusal of a change whose application raised an exception.

    Of that only the name of its type is kept, since its text may contain values. `step` says what
    was done, such as ``routing``. Errors of the machine are raised again.
    """
    if isinstance(error, RESOURCE_ERRORS):
        raise error
    return Refusal(APPLY_FAILED, pointer, f"{step} raised {type(error).__name__}")


def constraint_refusal(name: str) -> Refusal:
    """Return the refusal of a change whose row a constraint of the table forbids."""
    text = f"the table has the constraint {name}, which this change does not satisfy"
    return Refusal(CONSTRAINT, "/after", text)


Namespace = tuple[str, str | None]
"""System and database of a source."""


class Routing(Struct, frozen=True):
    """How sources find their targets.

    Attributes:
        template: How targets are named.
        default_table: Table of writes whose source names no table; by default they are refused.
        reserved: Places that no table may have.
        max_new_tables: How many tables a batch may bring; None for any number.
        one_table: Whether several tables of sources may feed a target without ``{table}``.
        chosen: Which tables of sources are applied; changes of others have no target.
    """

    template: Template
    default_table: str | None = None
    reserved: frozenset[Parts] = frozenset()
    max_new_tables: int | None = None
    one_table: bool = False
    chosen: Chosen = Chosen()


def named_source(op: str, source: Source, routing: Routing) -> Source:
    """Return a source; that of a write which names no table has the table `default_table`."""
    if source.table is None and op in WRITES and routing.default_table is not None:
        return replace(source, table=routing.default_table)
    return source


def leaves_out(op: str, source: Source, routing: Routing) -> bool:
    """Whether changes of a source are not applied, since other tables are chosen.

    What names no table may concern tables that are chosen, unless it is a write.
    """
    source = named_source(op, source, routing)
    if source.table is None and op not in WRITES:
        return False
    return not routing.chosen.has(dotted(source))


def has_one_source(routing: Routing) -> bool:
    """Whether one source alone may feed a target."""
    return not routing.one_table and "table" not in routing.template.fields


def takes(owner: Source | None, op: str, source: Source, routing: Routing) -> bool:
    """Whether a change may go to a target that a source feeds.

    A delete or a truncate may lack some of the names.
    """
    if owner is None or not has_one_source(routing) or goes_to_all(op, source):
        return True
    source = named_source(op, source, routing)
    names = ((getattr(source, name), getattr(owner, name)) for name in NAMES)
    return all(own == other or (own is None and op not in WRITES) for own, other in names)


def namespace_of(source: Source) -> Namespace:
    """Return the common part of the tables to which a delete without table goes."""
    return source.system, source.database


def goes_to_all(op: str, source: Source) -> bool:
    """Whether a change goes to every table of its database: a delete that names none."""
    return op == DELETE and source.table is None and source.database is not None


def route(
    op: str, source: Source, routing: Routing, members: Collection[Target]
) -> tuple[Target, ...]:
    """Return the targets of a change; none if a name is missing, or its table is left out.

    A delete whose source names no table goes to every known table of its database: some systems do
    not say the table of a delete, and their keys are unique within the database. A write without
    one goes to the table `default_table`.
    """
    if goes_to_all(op, source):
        return tuple(members)
    if leaves_out(op, source, routing):
        return ()
    target = target_of(routing.template, named_source(op, source, routing))
    return () if target is None else (target,)


NAMES: Final = ("system", "database", "schema", "table")
"""Fields of a source."""

RouteKey = tuple[Source, str]
"""Where changes come from, and their effects: `WRITE`, `DELETE` or ``truncate``."""

WRITE: Final = "upsert"
"""Represents all writes, which have the same route."""


class KnownTables(Struct):
    """Tables that were fed.

    Attributes:
        members: Targets by the namespace of their sources.
        names: Targets by their names as catalogs see them that ignore case.
        sources: The sources that feed targets which have no field ``{table}``.
    """

    members: dict[Namespace, list[Target]] = field(default_factory=dict)
    names: dict[str, Target] = field(default_factory=dict)
    sources: dict[Target, Source] = field(default_factory=dict)

    def add(self, target: Target, namespace: Namespace) -> bool:
        """Add a table; return whether it is new to the namespace."""
        self.names.setdefault(target.folded, target)
        members = self.members.setdefault(namespace, [])
        is_new = target not in members
        if is_new:
            members.append(target)
        return is_new


class Routes(Struct):
    """The routes of a batch.

    Attributes:
        targets: Where changes come from, by the table that they go to.
        refused: Why changes cannot be applied, by where they come from.
        added: Tables that were not known, with the namespaces of their sources.
    """

    targets: dict[Target, list[RouteKey]] = field(default_factory=dict)
    refused: dict[RouteKey, Refusal] = field(default_factory=dict)
    added: list[tuple[Target, Namespace]] = field(default_factory=list)


def route_op(op: str) -> str:
    """Return the name of an operation in a `RouteKey`."""
    return WRITE if op in WRITES else op


def in_order(keys: Iterable[RouteKey]) -> list[RouteKey]:
    """Return where changes come from, in the order in which they find their tables.

    Deletes that go to all tables of a database come last, so that the tables which the batch
    brings are among them. Writes come first, those with names before others: they say which source
    feeds a table.
    """

    def place(one: RouteKey) -> tuple[bool, bool, list[tuple[bool, str]]]:
        source, op = one
        names = [(name is None, name or "") for name in (getattr(source, part) for part in NAMES)]
        return goes_to_all(op, source), op != WRITE, names

    return sorted(keys, key=place)


SourceOf: TypeAlias = Callable[[Target], Source | None]
"""Returns the source that a table remembers; None without any."""


def find_routes(
    keys: Iterable[RouteKey],
    routing: Routing,
    known: KnownTables,
    source_of: SourceOf = lambda _: None,
) -> Routes:
    """Find the routes of a batch; keys for which routing raises an exception are refused.

    Changes of tables that are left out have no route.

    Tables that are new are added to those that are known. A target without ``{table}`` takes the
    changes of the source that its table remembers, or of the first one that writes to it.
    """
    found = Routes()
    for one in keys:
        try:
            source, op = one
            if leaves_out(op, source, routing):
                continue
            targets = route(op, source, routing, known.members.get(namespace_of(source), ()))
        except Exception as error:  # noqa: BLE001 - one hostile name must not end the stream
            found.refused[one] = apply_failed(error, "/source", "routing")
            continue
        _add(found, one, targets, routing, known, source_of)
    return found


def _add(  # noqa: PLR0917 - what is found, and by what
    found: Routes,
    one: RouteKey,
    targets: tuple[Target, ...],
    routing: Routing,
    known: KnownTables,
    source_of: SourceOf,
) -> None:
    """Add the targets of changes that come from somewhere, or the reason for their absence."""
    source, op = one
    namespace = namespace_of(source)
    if not targets and not goes_to_all(op, source):
        found.refused[one] = REFUSALS["table-missing"]
    for target in targets:
        there = known.names.get(target.folded)
        if (there or target) != target or is_reserved(target.name, routing.reserved):
            found.refused[one] = REFUSALS["name-collision"]
            continue
        most = routing.max_new_tables
        if there is None and most is not None and len(found.added) >= most:
            found.refused[one] = REFUSALS["too-many-tables"]
            continue
        if not _is_taken(one, target, routing, known, source_of):
            found.refused[one] = REFUSALS["second-source"]
            continue
        if known.add(target, namespace):
            found.added.append((target, namespace))
        found.targets.setdefault(target, []).append(one)


def _is_taken(
    one: RouteKey, target: Target, routing: Routing, known: KnownTables, source_of: SourceOf
) -> bool:
    """Whether a target takes changes that come from somewhere; the first writes decide that."""
    source, op = one
    if not has_one_source(routing) or goes_to_all(op, source):
        return True
    owner = known.sources.get(target) or source_of(target)
    if owner is None and op in WRITES:
        owner = named_source(op, source, routing)
    if owner is not None:
        known.sources[target] = owner
    return takes(owner, op, source, routing)
