"""Names of targets: safe, short, and never the same for two names."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import changewire as cw
from changewire.tables import safe_name, target_of, template_of
from changewire.tables.names import LONGEST, absolute, tables_named

NASTY = [
    "",
    ".",
    "..",
    "../../etc/passwd",
    "/",
    "a/b",
    "a.b",
    "a`b",
    "`; DROP TABLE x; --",
    'a"b',
    "a'b",
    "a b",
    "a\\b",
    "a\x00b",
    "a\nb",
    "_delta_log",
    ".hidden",
    "x_",
    "x002E_",
    "x005F_delta_log",
    "a_x002E_b",
    "a_X002E_b",
    "a_x002E",
    "_x",
    "__x",
    "CON",
    "con",
    "x0063_on",
    "table",
    "1st",
    "订单",
    "\ud800",
    "é",
    "e\u0301",
    "😀",
    "a" * 128,
    "a" * 129,
    "a" * 10_000,
    "." * 10_000,
    "a" * 64 + "_xsha256_" + "0" * 32,
    "-",
]
NAMES = st.sampled_from(NASTY) | st.text(max_size=8) | st.text(st.sampled_from("xX_0F2E.a"))


def source(database: str | None = "d", table: str | None = "t") -> cw.Source:
    """Return a source."""
    return cw.Source(system="s", database=database, schema=None, table=table)


def name_of(template: str, database: str | None = "d", table: str | None = "t") -> str | None:
    """Return the name of a target."""
    found = target_of(template_of(template), source(database, table))
    return None if found is None else found.name


@given(NAMES)
@example("a" * 10_000)
@example("\ud800" * LONGEST)
@example("CON")
@example("Nul")
def test_a_name_is_of_usual_characters_and_bounded(name: str) -> None:
    """Whatever a message holds, its name leaves no folder, ends no quote and is no hidden file."""
    found = safe_name(name)
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_]*", found)
    assert len(found) <= LONGEST
    assert os.path.normpath(found) == found
    assert found.lower() not in {"con", "nul", "com1"}


@given(NAMES, NAMES)
def test_no_two_names_become_one(one: str, other: str) -> None:
    """Names that differ stay apart; only in case do they differ no more than they did."""
    if one != other:
        assert safe_name(one) != safe_name(other)
    if safe_name(one).lower() == safe_name(other).lower():
        assert one.lower() == other.lower()


def test_nasty_names_are_told_apart() -> None:
    """All names that are known to be nasty become names of their own, CON and con but for case."""
    assert len({safe_name(name) for name in NASTY}) == len(NASTY)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("orders", "orders"),
        ("Orders_2026", "Orders_2026"),
        ("1st", "1st"),
        ("xenon", "xenon"),
        ("a.b", "a_x002E_b"),
        ("_a", "x005F_a"),
        ("a_x", "a_x005F_x"),
        ("product_xref", "product_x005F_xref"),
        ("订单", "x8BA2__x5355_"),
        ("con", "x0063_on"),
        ("", "x_"),
    ],
)
def test_names(name: str, expected: str) -> None:
    """Usual names stay as they are; other characters are mapped as in SQL/XML."""
    assert safe_name(name) == expected


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("shop.users", ["shop.users"]),
        ("users", ["users"]),
        ("Users", ["a.Users", "b.Users"]),
        ("b.users", ["b.Users"]),
        ("ORDERS", ["shop.orders"]),
        ("rders", []),
    ],
)
def test_a_person_names_a_table_by_the_end_of_its_name(name: str, meant: list[str]) -> None:
    """Exact names win over ends of names, and these over other cases of letters."""
    tables = ["shop.users", "users", "a.Users", "b.Users", "shop.orders"]
    assert tables_named(name, tables) == meant


def test_templates() -> None:
    """Parts with a field are quoted in SQL, in a path they are not; text stays as it is."""
    assert name_of("lake.{database}.{table}") == "lake.`d`.`t`"
    assert name_of("`my.lake`.cdc_{database}.{table}", "a.b", "select") == (
        "`my.lake`.`cdc_a_x002E_b`.`select`"
    )
    assert name_of("/lake/v1.0/{database}/{table}", "..", "../x") == (
        "/lake/v1.0/x002E__x002E_/x002E__x002E__x002F_x"
    )
    assert name_of("lake.all") == "lake.all"
    assert name_of("{table}", None) == "`t`"
    assert name_of("{database}.{table}", None) is None
    assert name_of("{schema}.{table}") is None


@pytest.mark.parametrize(
    "text", ["", "{", "{}", "{0}", "{name}", "{table!r}", "{table:>9}", "{table.x}", "`{table}`"]
)
def test_templates_that_are_none(text: str) -> None:
    """A template has the four fields, plain, and quotes none of them itself."""
    with pytest.raises(ValueError, match="target"):
        template_of(text)


def test_a_relative_target_is_below_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative path becomes absolute; braces of the working directory are no fields."""
    folder = tmp_path / "{table} of {0}"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert absolute("lake/t") == f"{folder}/lake/t"
    text = absolute("./lake/{table}", is_template=True)
    found = target_of(template_of(text), source(None, "t"))
    assert found is not None
    assert found.name == f"{folder}/lake/t"


@pytest.mark.parametrize(
    "target", ["lake", "lake.d.t", "/lake/t", "s3://lake/t", "s3a://lake/t", "dbfs:/lake/t"]
)
def test_names_and_whole_paths_stay(target: str) -> None:
    """A name, an absolute path and a URI stay as they are."""
    assert absolute(target) == target
