"""Settings by table without Spark: what tables are made with."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable, Field
from deltalake.schema import PrimitiveType
from tests.runtime.engines.chosen import KEYS, keyless
from tests.runtime.engines.merge.messages import message, records
from tests.runtime.engines.merge_local.lake import Lake
from tests.runtime.engines.settings_cases import (
    FATES,
    FATES_OF_ROWS,
    FAULTS,
    HOSTILE,
    LAID_OUT,
    LAID_OUT_ROWS,
    MISSPELLED,
    NOT_REBUILT,
    OTHERS,
    PARTITIONED,
    PROPERTIES,
    TYPES,
    WARNING,
    fates,
    first,
    later,
    odd,
    write,
)

import changewire.delta as cwd
from changewire.engines.errors import OutputError
from changewire.engines.settings import Deletes


def rows(lake: Lake) -> list[tuple[Any, ...]]:
    """Return the rows of the partitioned table."""
    found = sorted(lake.rows(), key=lambda row: int(row["id"]))
    return [(row["id"], row["day"], row["_changewire"]["rescued"]) for row in found]


def test_tables_are_made_with_partitions_and_properties(tmp_path: Path) -> None:
    """Their metadata say so; rows move between partitions, also by a rebuild."""
    lake = Lake(tmp_path)
    options = {"row_schema": "auto", "tables": PARTITIONED}
    lake.apply_records(records(*first()), **options)
    for name, partitions in (("t", ["day"]), ("u", [])):
        metadata = DeltaTable(f"{tmp_path}/tables/{name}").metadata()
        assert metadata.partition_columns == partitions
        assert PROPERTIES.items() <= metadata.configuration.items()
    assert rows(lake) == [(1, None, None), (2, date(2026, 1, 2), None)]
    lake.apply_records(records(*later(), start=10), **options)
    left = [(1, date(2026, 1, 3), None), (3, None, '{"day":"soon"}')]
    assert rows(lake) == left
    assert len(cwd.verify(**lake.places)) == 0
    cwd.rebuild(**lake.places)
    assert rows(lake) == left
    assert DeltaTable(f"{tmp_path}/tables/t").metadata().partition_columns == ["day"]


@pytest.mark.parametrize("batch", [1, 100])
def test_deletes_and_misfits_by_table(tmp_path: Path, batch: int) -> None:
    """One table keeps its deleted rows and refuses values, another one does neither."""
    lake, sent = Lake(tmp_path), records(*fates())
    for start in range(0, len(sent), batch):
        part = sent[start : start + batch]
        lake.apply_records(part, row_schema="auto", tables=FATES)
    for name, expected in FATES_OF_ROWS.items():
        found = sorted(lake.rows(name), key=lambda row: int(row["id"]))
        states = [(row["_changewire"]["deleted"], row["_changewire"]["rescued"]) for row in found]
        both = zip(found, states, strict=True)
        assert [(row["id"], row["day"], *state) for row, state in both] == expected
    assert [row["offset"] for row in lake.log("refused")] == [4]
    assert len(cwd.verify(**lake.places)) == 0
    cwd.rebuild(**lake.places)
    assert len(cwd.verify(**lake.places)) == 0


def test_keys_by_table(tmp_path: Path) -> None:
    """They are those of the settings; both ways to name them are an error."""
    lake, by_table = Lake(tmp_path), {name: {"key_columns": keys} for name, keys in KEYS.items()}
    options: dict[str, Any] = {"row_schema": "auto", "tables": by_table}
    assert lake.apply_records(records(*keyless()), **options).tables == {"inserted": 2}
    assert [(row["id"], row["name"]) for row in lake.rows("t")] == [(1, "b")]
    with pytest.raises(ValueError, match="key_columns: `tables` names such columns too"):
        lake.apply_records(records(*keyless()), **options, key_columns=["id"])


@pytest.mark.parametrize(
    "options",
    [
        {"tables": {"d.u": {"row_image": "patch"}}},
        {"row_image": "patch", "tables": {"d.t": {"row_image": "full"}}},
        {"row_image": {"d.?": "patch", "d.t": "full"}},
    ],
    ids=["settings", "settings and option", "option"],
)
def test_images_by_table(tmp_path: Path, options: dict[str, Any]) -> None:
    """Writes of one table have whole rows, those of another one the columns that changed."""
    lake, row = Lake(tmp_path), {"id": 1, "name": "a", "note": "x"}
    sent = [message("INSERT", 1, row, table=name) for name in ("t", "u")]
    more = [message("UPDATE_AFTER", 2, {"id": 1, "name": "b"}, table=name) for name in ("t", "u")]
    lake.apply_records(records(*sent, *more), row_schema="auto", **options)
    notes = {name: (lake.rows(name)[0]["name"], lake.rows(name)[0]["note"]) for name in ("t", "u")}
    assert notes == {"t": ("b", None), "u": ("b", "x")}
    assert len(cwd.verify(**lake.places)) == 0


DECIMAL: tuple[dict[str, Any], str] = (
    {"partition_by": ["kind"], "columns": {"kind": "decimal(12,2)"}},
    "column 'kind' is decimal(12,2), which delta-rs writes wrongly as a partition",
)


@pytest.mark.parametrize(("settings", "reason"), [*FAULTS, DECIMAL])
def test_a_table_that_cannot_be_made(tmp_path: Path, settings: dict[str, Any], reason: str) -> None:
    """Its changes are refused, other tables go on, and right settings take the changes."""
    lake, sent = Lake(tmp_path), records(write(1), write(1, table="u"))
    outcome = lake.apply_records(sent, row_schema="auto", tables={"d.t": settings})
    assert outcome.tables == {"inserted": 1, "refused": 1}
    (refused,) = lake.log("refused")
    assert refused["code"] == "partition-mismatch"
    assert reason in refused["message"]
    done = cwd.replay(**lake.places, format="dataworks-json", tables=PARTITIONED)
    assert (done.refused, done.left) == (1, 0)
    assert rows(lake) == [(1, None, None)]


def test_rows_of_json_text_have_no_partitions(tmp_path: Path) -> None:
    """Their columns are a key and a row."""
    lake = Lake(tmp_path)
    lake.apply_records(records(write(1)), tables={"*": {"partition_by": ["key"]}})
    (refused,) = lake.log("refused")
    assert "its rows are JSON text" in refused["message"]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"cluster_by": ["id"]}, "the setting cluster_by needs Spark"),
        ({"partition_by": ["days(at)"]}, "tables of Delta have partitions by columns"),
    ],
)
def test_settings_of_other_formats(tmp_path: Path, settings: dict[str, Any], reason: str) -> None:
    """They are errors before anything is written."""
    lake = Lake(tmp_path)
    with pytest.raises(ValueError, match=reason):
        lake.apply_records(records(write(1)), row_schema="auto", tables={"*": settings})
    assert not [*tmp_path.iterdir()]


def table_of(lake: Lake) -> DeltaTable:
    """Return the table of most tests."""
    return DeltaTable(f"{lake.root}/tables/t")


def test_a_rebuild_gives_tables_what_settings_ask(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Types, partitions, properties and deleted rows; until then a run that asks says so."""
    lake, options = Lake(tmp_path), dict[str, Any](row_schema="auto")
    lake.apply_records(records(odd(1), odd(2), odd(2, 2, "DELETE")), **options)
    before, more = lake.rows(), records(odd(3), start=5)
    with pytest.raises(OutputError, match=r"t: it has no partitions, and .* row_schema and these"):
        lake.apply_records(more, **options, tables=LAID_OUT)
    assert lake.rows() == before
    version = table_of(lake).version()
    cwd.rebuild(**lake.places, **options, settings={**LAID_OUT, **MISSPELLED})
    misspelled, unmerged = caplog.messages
    assert (misspelled, "not merged yet" in unmerged) == (WARNING, True)
    operations = [one["operation"] for one in table_of(lake).history()][: -version - 1]
    assert operations == ["SET TBLPROPERTIES", "WRITE"]
    metadata = table_of(lake).metadata()
    assert metadata.partition_columns == [HOSTILE]
    assert PROPERTIES.items() <= metadata.configuration.items()
    lake.apply_records(more, **options, tables=LAID_OUT)
    found = sorted(lake.rows(), key=lambda row: int(row["id"]))
    states = [(row["id"], row[HOSTILE], row["_changewire"]["deleted"]) for row in found]
    assert states == LAID_OUT_ROWS
    assert len(cwd.verify(**lake.places)) == 0


def test_settings_that_differ_from_those_of_the_table(tmp_path: Path) -> None:
    """They are errors that name `rebuild`; without settings any layout will do."""
    lake, options = Lake(tmp_path), dict[str, Any](row_schema="auto")
    lake.apply_records(records(odd(1)), **options, tables=LAID_OUT)
    sent = records(odd(3), start=5)
    for settings, reason in OTHERS:
        with pytest.raises(OutputError, match="until `rebuild` with ") as error:
            lake.apply_records(sent, **options, tables={"d.t": {"deletes": "flag", **settings}})
        assert reason in str(error.value)
    lake.apply_records(sent, **options, deletes="flag")
    cwd.rebuild(**lake.places, **options, settings={})
    assert table_of(lake).metadata().partition_columns == [HOSTILE]
    cwd.rebuild(**lake.places, **options, settings={"d.t": {"partition_by": []}})
    assert table_of(lake).metadata().partition_columns == []
    assert len(lake.rows()) == 2


@pytest.mark.parametrize("row_schema", ["auto", "json"])
@pytest.mark.parametrize(("made", "asked"), [("remove", "flag"), ("flag", "remove")])
def test_deletes_change_by_a_rebuild(
    tmp_path: Path,
    row_schema: str,
    made: Deletes,
    asked: Deletes,
) -> None:
    """A run that asks for others ends; after the rebuild no late write brings a row back."""
    lake, options = Lake(tmp_path), dict[str, Any](row_schema=row_schema)
    first = records(write(1), write(1, 5), message("DELETE", 6, {"id": 1}, types=TYPES), write(2))
    lake.apply_records(first, **options, deletes=made)
    before, late = lake.rows(), records(write(1, 4), start=9)
    reason = f"/tables/t: it was made with deletes='{made}', and deletes='{asked}' is asked for"
    with pytest.raises(OutputError, match=reason):
        lake.apply_records(late, **options, deletes=asked)
    assert lake.rows() == before
    cwd.rebuild(**lake.places, deletes=asked)
    lake.apply_records(records(write(3), start=19), **options, deletes=asked)
    states = [row["_changewire"]["deleted"] for row in lake.rows()]
    assert sorted(states) == [False, False, *[True] * (asked == "flag")]
    assert len(cwd.verify(**lake.places)) == 0


def test_an_adopted_table_may_keep_deleted_rows(tmp_path: Path) -> None:
    """Another log says what becomes of them, unless some are there."""
    lake, other, target = Lake(tmp_path), f"{tmp_path}/other", f"{tmp_path}/tables/t"
    gone = message("DELETE", 6, {"id": 1}, types=TYPES)
    lake.apply_records(records(write(1), write(2)), row_schema="auto")
    options: dict[str, Any] = {"row_schema": "auto", "log": other}
    lake.apply_records(records(gone), **options, adopt_table=True, deletes="flag")
    assert sorted(row["_changewire"]["deleted"] for row in lake.rows()) == [False, True]
    cwd.adopt_table(target)
    with pytest.raises(OutputError, match="it was made with deletes='flag'"):
        lake.apply_records(records(write(3), start=5), **options)


def test_properties_of_a_table_are_set(tmp_path: Path) -> None:
    """Each that differs is set once; others stay, also if settings do not name them any more."""
    lake, versions = Lake(tmp_path), list[int]()
    for number, owner in enumerate(("billing", "sales", "sales")):
        asked = {"*": {"properties": {"shop.owner": owner, f"shop.{min(number, 1)}": "x"}}}
        sent = records(odd(number + 1), start=number)
        lake.apply_records(sent, row_schema="auto", tables=asked)
        versions.append(table_of(lake).version())
    assert versions == [1, 3, 4]
    found = table_of(lake).metadata().configuration
    assert [found[f"shop.{name}"] for name in ("owner", "0", "1")] == ["sales", "x", "x"]


def test_what_a_rebuild_does_not_change(tmp_path: Path) -> None:
    """It is refused by a sentence, and the table is as it was."""
    lake, options = Lake(tmp_path), dict[str, Any](row_schema="auto")
    lake.apply_records(records(odd(1, kind="")), **options)
    before = table_of(lake).version()
    for settings, reason in (*NOT_REBUILT, DECIMAL):
        asked: dict[str, Any] = {"d.t": settings}
        with pytest.raises(OutputError) as error:
            cwd.rebuild(**lake.places, **options, settings=asked)
        assert reason in str(error.value)
    hows: list[dict[str, Any]] = [{"row_schema": "json"}, {}]
    for how in hows:
        with pytest.raises((OutputError, ValueError), match=r"JSON text|`settings` is for `row_sc"):
            cwd.rebuild(**lake.places, **how, settings={"d.t": {"partition_by": ["id"]}})
    with pytest.raises(ValueError, match=r"settings: 'd\.t': no setting 'keys'; there are: "):
        cwd.rebuild(**lake.places, **options, settings=dict[str, Any]({"d.t": {"keys": ["id"]}}))
    assert table_of(lake).version() == before


def test_a_column_of_others_partitions_a_table(tmp_path: Path) -> None:
    """Neither a rebuild nor a run writes it."""
    lake, options = Lake(tmp_path), dict[str, Any](row_schema="auto")
    lake.apply_records(records(odd(1)), **options)
    table_of(lake).alter.add_columns([Field("note", PrimitiveType("string"))])
    table_of(lake).update({"note": "'mine'"})
    asked: dict[str, Any] = {"d.t": {"partition_by": ["note"]}}
    cwd.rebuild(**lake.places, **options, settings=asked)
    assert table_of(lake).metadata().partition_columns == ["note"]
    lake.apply_records(records(odd(1, 2), start=5), **options, tables=asked)
    assert [row["note"] for row in lake.rows()] == ["mine"]


def test_properties_are_set_on_a_table_with_times_without_a_zone(tmp_path: Path) -> None:
    """Delta-rs then adds a feature for VARIANT; runs, `verify` and `adopt_table` go on."""
    lake, kinds = Lake(tmp_path), {"id": "LONG", "at": "DATE"}
    options = dict[str, Any](row_schema="auto", tables={"*": {"columns": {"at": "timestamp_ntz"}}})
    for number in range(4):
        more = {"note": "new"} if number else {}
        one = message("INSERT", number, {"id": number, "at": 1000, **more}, types=kinds)
        lake.apply_records(records(one, start=number), **options)
    assert "variantType" in (table_of(lake).protocol().reader_features or ())
    assert sorted(row["id"] for row in lake.rows()) == [0, 1, 2, 3]
    assert len(cwd.verify(**lake.places)) == 0
    cwd.adopt_table(lake.places["target"].format(table="t"))
