"""What fails for one change or one key ends as a dead letter, and the run goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from tests.runtime.engines.delta.lake import Lake
from tests.runtime.tables.histories import change, placed

from changewire.engines import collected
from changewire.engines.delta import shapes
from changewire.tables.mutations import mutations
from changewire.tables.routing import route

HISTORY = placed(
    change(key=1, sequence=1, a="good"),
    change(key=2, sequence=2, a="bad"),
    change(key=4, sequence=3, a="good"),
    change("update", 5, 4, old=4, before={"id": 4}, a="bad"),
    change(key=6, sequence=5, table="u", a="good"),
)
"""Two changes fail; one of them moves a row, which stays where it was."""


def faulty(real: Any, *bad: str) -> Any:
    """Return a function that raises if its arguments have one of some texts in them."""

    def function(*arguments: Any, **options: Any) -> Any:
        if any(text in str(arguments) for text in bad):
            raise ZeroDivisionError("a value of a message")
        return real(*arguments, **options)

    return function


def letters(lake: Lake) -> list[tuple[int, str]]:
    """Return offset and text of each dead letter."""
    found = lake.output("dead_letters")
    assert {row["code"] for row in found} == {"apply-failed"}
    return sorted((row["offset"], row["message"]) for row in found)


@pytest.mark.parametrize(
    ("module", "name", "bad", "said"),
    [
        (collected, "unpacked", ["bad"], "/after: reading the row raised ZeroDivisionError"),
        (shapes, "packed", ['"id":2', '"id":5'], ": deciding on the row raised ZeroDivisionError"),
    ],
)
def test_a_change_that_fails_is_a_dead_letter(
    tmp_path: Path, module: Any, name: str, bad: list[str], said: str
) -> None:
    """It is not applied in half, and the others are applied."""
    lake = Lake(tmp_path)
    with patch.object(module, name, faulty(getattr(module, name), *bad)):
        lake.apply(HISTORY)
    rows = {row["id"]: row["a"] for table in ("t", "u") for row in lake.rows(table)}
    assert rows == {1: "good", 4: "good", 6: "good"}
    assert letters(lake) == [(1, f"apply-failed: {said}"), (3, f"apply-failed: {said}")]
    places = [row["offset"] for name in ("changes", "dead_letters") for row in lake.output(name)]
    assert sorted(places) == list(range(len(HISTORY)))


def test_routing_that_fails_for_one_source_concerns_it_alone(tmp_path: Path) -> None:
    """The other tables get their changes, and the same run applies the rest once it is mended."""
    lake = Lake(tmp_path)
    with patch("changewire.tables.routing.route", faulty(route, "table='u'")):
        lake.apply(HISTORY)
    assert lake.tables() == ["t"]
    assert letters(lake) == [(4, "apply-failed: /source: routing raised ZeroDivisionError")]
    lake.apply(HISTORY)
    assert lake.tables() == ["t", "u"]


def test_images_that_cannot_be_joined_are_a_dead_letter(tmp_path: Path) -> None:
    """The row after the update is refused; the row before it is a change of its own."""
    lake, row = Lake(tmp_path), {"id": 1, "a": "x"}
    before = change("update", 1, (2, 0), image="patch", is_lone=True, before=row)
    after = change("update", 1, (2, 1), image="patch", a="bad")
    with patch("changewire.tables.batch.mutations", faulty(mutations, "bad")):
        lake.apply(placed(before, after))
    said = "apply-failed: : joining the images of the update raised ZeroDivisionError"
    assert letters(lake) == [(1, said)]
