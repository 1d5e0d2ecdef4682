"""What one change does to rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace as with_fields
from tests.runtime.tables.histories import change

import changewire as cw
from changewire.changes.change_row import row_of
from changewire.tables.mutations import mutations


def patch_of(before: Mapping[str, Any], after: Mapping[str, Any]) -> cw.Change:
    """Return an update whose images are patches."""
    whole = change("update", 1, 10)
    images: dict[str, Any] = {
        "before": before,
        "after": after,
        "attributes": {"row_image": "patch"},
    }
    return with_fields(whole, **images)


def test_columns_that_a_patch_removes_keep_the_order_of_the_message() -> None:
    """The order of columns in the text of a row does not depend on the process that writes it."""
    names = [f"column{number}" for number in range(50)]
    before = {"id": 1, **dict.fromkeys(names[:40], "x")}
    (found,) = mutations(patch_of(before, {"id": 1, **dict.fromkeys(names[40:])}))
    assert [*found.values] == [*names[40:], *names[:40]]
    assert {*found.values.values()} == {UNSET}


def test_mutations_of_what_adapters_make() -> None:
    """They are those of the change, without a datetime made of its time."""
    found = change("update", 2, 5, old=1, before={"id": 1}, a=1)
    assert mutations(row_of(found)) == mutations(found)
    assert [one.kind for one in mutations(found)] == ["delete", "full"]
