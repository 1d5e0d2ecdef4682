"""Places that no name in a message leads to."""

import pytest

from changewire.tables.names import template_of
from changewire.tables.reserved import is_reserved, reserved_places

PATHS = "lake/{database}/{table}"
NAMES = "{database}.{table}"


@pytest.mark.parametrize(
    ("template", "place", "target", "expected"),
    [
        (PATHS, "/lake/ops/changes", "/lake/ops/changes", True),
        (PATHS, "/lake/ops/changes", "/LAKE/Ops/Changes", True),
        (PATHS, "/lake/ops/changes", "file:///lake/ops/changes/", True),
        (PATHS, "/lake/ops/changes", "/lake/x/../ops/changes", True),
        (PATHS, "/lake/ops/changes", "/lake/ops/changes/part", True),
        (PATHS, "/lake/ops/changes", "/lake", True),
        (PATHS, "/lake/ops/changes", "/lake/shop/changes", False),
        (PATHS, "/lake/ops/changes", "/lake/ops2", False),
        (PATHS, "s3://b/lake/ops/log", "s3://b/lake/ops/log", True),
        (PATHS, "/elsewhere/log", "/elsewhere/log", True),
        (PATHS, "/elsewhere/log", "/elsewhere/other", False),
        (PATHS, "ops.changes", "/lake/ops/changes", False),
        (NAMES, "ops.changes", "ops.changes", True),
        (NAMES, "ops.changes", "`OPS`.`Changes`", True),
        (NAMES, "ops.changes", "ops.other", True),
        (NAMES, "ops.changes", "shop.changes", False),
        (NAMES, "/lake/ops/changes", "ops.changes", False),
    ],
)
def test_reserved_places(template: str, place: str, target: str, *, expected: bool) -> None:
    """The log and what is within it, above it or written otherwise is reserved, in any case."""
    found = reserved_places(template_of(template), [place])
    assert is_reserved(target, found) == expected


@pytest.mark.parametrize(
    ("template", "place", "neighbour", "expected"),
    [
        ("/lake/{database}/{table}", "/lake/ops/log", "/lake/ops/other", True),
        ("/lake/{table}", "/lake/log", "/lake/other", False),
        ("/lake/t_{table}", "/lake/log", "/lake/t_other", False),
        ("/lake/tables/{table}", "/lake/log", "/lake/other", False),
        ("cat.ops.{table}", "cat.ops.log", "cat.ops.other", False),
        ("cat.{database}.{table}", "cat.ops.log", "cat.ops.other", True),
    ],
)
def test_neighbours(template: str, place: str, neighbour: str, *, expected: bool) -> None:
    """What is next to the log is reserved, unless the template has its tables there."""
    found = reserved_places(template_of(template), [place])
    assert is_reserved(place, found)
    assert is_reserved(neighbour, found) == expected


def test_every_place_is_reserved() -> None:
    """The log and the checkpoint have a place each."""
    found = reserved_places(template_of("/lake/{table}"), ["/lake/log", "/lake/checkpoint"])
    assert [is_reserved(f"/lake/{name}", found) for name in ("log", "checkpoint", "t")] == [
        True,
        True,
        False,
    ]
