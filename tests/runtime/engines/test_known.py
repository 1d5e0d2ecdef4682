"""What a query knows of its log when it is started again."""

from __future__ import annotations

import pytest

from changewire.engines.known import KnownLog, SourceFacts
from changewire.tables.names import Target, template_of
from changewire.tables.routing import WRITE, Routing, find_routes
from changewire_messages.change import Source

ROUTING = Routing(template_of("/lake/{table}"))
UPPER, LOWER = (
    (Source(system="dataworks", database="d", schema=None, table=name), WRITE)
    for name in ("USERS", "users")
)


@pytest.mark.parametrize(("there", "refused"), [("users", UPPER), ("USERS", LOWER)])
def test_the_source_whose_table_exists_keeps_its_place(there: str, refused: object) -> None:
    """Of two that want one place the log may have both, if a kill left the second unrefused."""

    def exists(target: Target) -> bool:
        return target.name == f"/lake/{there}"

    known = KnownLog(ROUTING, {UPPER: SourceFacts(), LOWER: SourceFacts()}, exists)
    routes = find_routes([UPPER, LOWER], ROUTING, known.tables)
    assert [target.name for target in routes.targets] == [f"/lake/{there}"]
    assert {one: why.code for one, why in routes.refused.items()} == {refused: "name-collision"}


def test_no_table_is_looked_for_without_a_contest() -> None:
    """Tables are many, and asking for each costs time."""

    def never(target: Target) -> bool:
        raise AssertionError(target)

    known = KnownLog(ROUTING, {LOWER: SourceFacts()}, never)
    assert [target.name for target in known.tables.names.values()] == ["/lake/users"]
