"""Messages as typed columns: what their models hold, in both engines, and nothing is lost."""

from __future__ import annotations

import pickle
import re
from collections import Counter
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import from_arrow_schema
from tests.runtime.changes import dataworks
from tests.runtime.codec.formats import FORMATS
from tests.runtime.engines.any_messages import every_message, mutated
from tests.runtime.engines.same import SAYS, check_struct
from tests.samples import FORMAT, examples, mixed_messages

import changewire as cw
import changewire.arrow as cwa
import changewire.spark as cws
from changewire.changes.decode_options import DecodeOptions
from changewire.codec.registry import family
from changewire.engines.layout import DEAD_LETTERS_TABLE, HEADERS, MESSAGES_TABLE
from changewire.engines.messages import MessageDecoder, snake
from changewire_messages import FORMATS as PACKAGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import SparkSession

Row = dict[str, Any]
Place = tuple[int, int]

formats = pytest.mark.parametrize("name", FORMATS)
MUTANTS = 300


def records(name: str) -> pa.Table:
    """Return every golden message and example of a format, hostile ones, and an empty record."""
    values = [*every_message(name), *mutated(name, MUTANTS), b"", b"\xc1", b"[" * 100_000, None]
    number = len(values)
    headers = [[{"key": "h", "value": b"v"}]] * number
    return pa.table(
        {
            "value": pa.array(values, pa.binary()),
            "key": [b"k"] * number,
            "topic": ["t"] * number,
            "partition": pa.array([3] * number, pa.int32()),
            "offset": range(number),
            "headers": pa.array(headers, HEADERS),
        }
    )


@dataclass
class Read:
    """Messages of a format, and what Arrow has of them.

    Attributes:
        values: The messages, by their offsets.
        messages: Their rows, by offset and element.
        dead_letters: The rows of their dead letters.
        counts: Their counts.
    """

    values: list[bytes | None]
    messages: Mapping[Place, Row]
    dead_letters: Mapping[Place, Row]
    counts: Any


def placed(table: pa.Table) -> dict[Place, Row]:
    """Return rows by offset and element, each of which is there once."""
    rows = table.to_pylist()
    found = {(row["offset"], row["element"]): row for row in rows}
    assert len(found) == len(rows)
    return found


@pytest.fixture(scope="module", params=FORMATS)
def read(request: pytest.FixtureRequest) -> tuple[str, Read]:
    """The messages of a format, in Arrow."""
    name = request.param
    table = records(name)
    messages, letters, counts = cwa.messages(table, format=name).tables()
    values = table.column("value").to_pylist()
    return name, Read(values, placed(messages), placed(letters), counts)


def test_columns_hold_what_models_hold(read: tuple[str, Read]) -> None:
    """Each element is one row: the columns of a message hold its model value by value."""
    name, found = read
    says = SAYS[FORMATS[name].encoding.rule]
    places: set[Place] = set()
    for offset, value in enumerate(found.values):
        for element, model in enumerate(expected(name, value)):
            places.add((offset, element))
            assert ((offset, element) in found.dead_letters) == isinstance(model, cw.Rejection)
            if isinstance(model, cw.Rejection):
                continue
            row = found.messages[offset, element]
            if model is None:
                assert (row["variant"], row["content"]) == ("Batch" if value else None, None)
                continue
            assert row["variant"] == family(name).variant_of(model)
            assert row["leniencies"] == cw.leniencies(model)
            check_struct(row["content"], model, says)
    assert places == {*found.messages, *found.dead_letters}


def expected(name: str, value: bytes | None) -> list[Any]:
    """Return the models and rejections of a message; None for one that holds nothing."""
    return (cw.decode_all(value, format=name) if value is not None else []) or [None]


def test_columns_of_the_record_are_kept(read: tuple[str, Read]) -> None:
    """Rows have the columns of their output, and Kafka's, as those of `decode`."""
    _, found = read
    for row in found.messages.values():
        assert (row["record_key"], row["topic"], row["partition"]) == (b"k", "t", 3)
        assert row["headers"] == [{"key": "h", "value": b"v"}]
        assert tuple(row) == MESSAGES_TABLE
    assert {tuple(row) for row in found.dead_letters.values()} == {DEAD_LETTERS_TABLE}


def test_dead_letters_are_those_of_decode(read: tuple[str, Read]) -> None:
    """A dead letter has the columns and values that `decode` gives it.

    What else is a dead letter there contradicts itself as a change, and is a valid message.
    """
    name, found = read
    theirs = placed(cwa.decode(records(name), format=name).dead_letters.read_all())
    for place, letter in found.dead_letters.items():
        assert theirs.pop(place) == letter
    assert all(place in found.messages for place in theirs)


def test_elements_are_counted(read: tuple[str, Read]) -> None:
    """Valid elements and dead letters add up, by variant and by code."""
    _, found = read
    counts = found.counts.as_dict()
    assert counts["messages"] == len(found.values)
    assert counts["elements"] == counts["valid"] + counts["dead_letters"]
    assert counts["valid"] == len(found.messages) == sum(counts["by_variant"].values())
    variants = Counter(row["variant"] or "(no value)" for row in found.messages.values())
    assert variants == counts["by_variant"]
    codes = Counter(row["code"] for row in found.dead_letters.values())
    assert codes == counts["by_error_code"]
    used = Counter(one for row in found.messages.values() for one in row["leniencies"])
    assert used == counts["leniencies"]
    assert not {"changes", "controls", "by_operation"} & counts.keys()


def tables_of_page(name: str) -> dict[str, set[str]]:
    """Return the columns of each variant, as the page of a format lists them."""
    page = Path(__file__).parents[3] / "docs" / "formats" / f"{name.replace('-', '_')}.md"
    _, *sections = page.read_text(encoding="utf-8").split("\n### Columns of ")
    return {
        section.partition("\n")[0]: set(re.findall(r"^\| `(.+?)` \|", section, re.MULTILINE))
        for section in sections
    }


def filled(value: Any, path: str) -> Iterator[str]:
    """Yield the paths of the columns that are not NULL."""
    if isinstance(value, list):
        for item in value:
            yield from filled(item, path)
    elif value is not None:
        yield path
        if isinstance(value, dict):
            for name, inner in value.items():
                yield from filled(inner, f"{path}.{name}".lstrip("."))


def test_columns_of_a_variant_are_those_of_its_table(read: tuple[str, Read]) -> None:
    """The page of a format has a table for each variant, with all columns that it ever fills."""
    name, found = read
    tables = tables_of_page(name)
    rows = [row for row in found.messages.values() if row["content"] is not None]
    assert {row["variant"] for row in rows} <= tables.keys()
    for row in rows:
        assert {*filled(row["content"], "")} - {""} <= tables[row["variant"]]


@formats
def test_spark_has_the_rows_of_arrow(name: str, spark: SparkSession) -> None:
    """In Spark every row is the same, and its columns have the type of `message_type`."""
    table = records(name)
    found = cws.messages(spark.createDataFrame(table).coalesce(1), format=name)
    assert found.rows.schema["content"].dataType == cws.message_type(name)
    by_arrow = cwa.messages(table, format=name).rows.read_all()
    assert found.rows.toArrow().to_pylist() == by_arrow.to_pylist()


@formats
def test_types_are_those_of_the_generator(name: str) -> None:
    """Arrow and Spark have the same type, whose columns say what they are, and may all be NULL."""
    declared = cws.message_type(name)
    generated = import_module(f"{PACKAGES[name]}.spark").MESSAGE
    assert declared.simpleString() == generated.simpleString()
    assert from_arrow_schema(pa.schema(cwa.message_type(name))).simpleString() == (
        declared.simpleString()
    )
    assert all(field.nullable and field.metadata["comment"] for field in declared.fields)


def test_unknown_properties_are_kept() -> None:
    """A property that no schema names is in ``_extra``, as the model has it."""
    message = b'{"msg":"delete","key":["n",null,"YWJjZGVmZ2hpamtsbW5vcHFyc3Q=",1],"new":[1]}'
    (row,) = cwa.messages([message], format=FORMAT).messages.read_all().to_pylist()
    assert row["content"]["_extra"] == '{"/new":[1]}'


def test_no_messages_have_all_columns() -> None:
    """The columns do not depend on what was read."""
    messages, letters, counts = cwa.messages([], format=FORMAT).tables()
    assert tuple(messages.column_names) == MESSAGES_TABLE
    assert tuple(letters.column_names) == DEAD_LETTERS_TABLE
    assert messages.schema.field("content").type == cwa.message_type(FORMAT)
    assert (counts.elements, counts.by_variant) == (0, {})


def test_a_decoder_of_messages_pickles() -> None:
    """Workers get a copy that decodes alike."""
    decoder = MessageDecoder(DecodeOptions(FORMAT, elements_as="messages"))
    copy = pickle.loads(pickle.dumps(decoder))  # noqa: S301 - our own object
    batch = pa.record_batch({"value": pa.array(mixed_messages(), pa.binary())})
    assert list(copy(batch)) == list(decoder(batch))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"format": "auto"}, "one format: name it instead of auto"),
        ({"format": "nope"}, "no format 'nope'"),
        (
            {"row_image": "patch", "key_columns": ["id"]},
            "row_image, key_columns: for changes; messages are kept",
        ),
        ({"tombstones": "delete"}, "tombstones: for changes"),
        ({"elements_as": "rows"}, "no elements_as 'rows'; there are: changes, messages"),
    ],
)
def test_what_has_no_meaning_for_messages_is_refused(
    options: dict[str, Any], sentence: str
) -> None:
    """Options for changes, and a format that each message says, are errors and not ignored."""
    made: dict[str, Any] = {"format": "lindorm-json", "elements_as": "messages", **options}
    with pytest.raises(ValueError, match=sentence):
        DecodeOptions(**made)


KNOWN: Mapping[str, list[str]] = {
    "aerospike-flat-json": ["Write", "Delete"],
    "aerospike-json": ["Write", "Delete"],
    "aerospike-msgpack": ["Write", "Delete", "LegacyDelete"],
    "dataworks-json": [
        *("Insert", "UpdateBefore", "UpdateAfter", "Delete", "Heartbeat"),
        *("Ddl", "Truncate", "Query", "Transaction"),
    ],
    "lindorm-json": ["Insert", "Update", "Delete", "Read"],
}
"""Variants of each format without the open one."""


@formats
def test_variants_have_their_types(name: str) -> None:
    """Messages of the named variants are in columns of their types, and others dead letters."""
    table, titles = records(name), KNOWN[name]
    messages, letters, _ = cwa.messages(table, format=name, variants=titles).tables()
    assert messages.schema.field("content").type == cwa.message_type(name, titles)
    rows, dead = placed(messages), placed(letters)
    others = 0
    for offset, value in enumerate(table.column("value").to_pylist()):
        for element, model in enumerate(expected(name, value)):
            place = offset, element
            if model is None:
                assert rows[place]["content"] is None
            elif isinstance(model, cw.Rejection):
                assert dead[place]["code"] == model.code
            elif family(name).variant_of(model) in titles:
                check_typed(rows[place]["content"], model, name)
            else:
                others += 1
                assert dead[place]["code"] == "other-variant"
                assert dead[place]["value"] == value
    assert (others > 0) == (name == "dataworks-json")


def check_typed(content: Row, model: Any, name: str) -> None:
    """Compare the columns of a message, or of its payload, with those of its variant alone."""
    generated = family(name)
    title = generated.variant_of(model)
    build = getattr(generated.part("arrow"), f"{snake(title)}_array")
    if generated.payload is not None:
        attribute, column = generated.payload
        content, model = content[column], getattr(model, attribute)
    (alone,) = build([model]).to_pylist()
    assert content == with_fields(alone, content)


def with_fields(found: Any, other: Any) -> Any:
    """Return a struct with the fields that another one has besides, which are NULL."""
    if not isinstance(found, dict) or not isinstance(other, dict):
        return found
    return {field: with_fields(found.get(field), value) for field, value in other.items()}


def test_known_variants_of_dataworks_are_not_text() -> None:
    """Without the open variant, times, sequences and DDL have columns of their own types."""
    message = dataworks.message("INSERT", after={"id": 1}, timestamp={"eventTime": 5})
    ddl = dataworks.message("ALTER", {}, None, ddl={"text": "alter", "ddlMeta": "AAE="})
    sent, titles = [cw.encode(message), cw.encode(ddl)], ["Insert", "Ddl"]
    found = cwa.messages(sent, format="dataworks-json", variants=titles).messages.read_all()
    inserted, altered = (row["content"]["payload"] for row in found.to_pylist())
    assert inserted["timestamp"] == {"eventTime": 5, "systemTime": None, "checkpointTime": None}
    assert inserted["sequenceId"] == str(dataworks.SEQUENCE)
    assert altered["ddl"] == {"text": "alter", "ddlMeta": b"\x00\x01"}
    (kind,) = (f.type for f in cwa.message_type("dataworks-json", "Insert") if f.name == "payload")
    assert kind.field("timestamp").type.field("eventTime").type == pa.int64()


def test_elements_of_a_batch_are_asked_for_apart() -> None:
    """An element of another variant is a dead letter of its own, which says what was wanted."""
    write, delete = examples("write")[0], examples("delete")[0]
    batch = msgspec.json.encode([delete, write])
    found = cwa.messages([batch], format=FORMAT, variants=["Write"])
    (row,) = found.messages.read_all().to_pylist()
    (letter,) = found.dead_letters.read_all().to_pylist()
    assert (row["element"], letter["element"]) == (1, 0)
    assert letter["message"] == "aerospike-json: expected a message of Write (other-variant)"


@pytest.mark.parametrize(
    ("variants", "sentence"),
    [
        (["Insrt"], "'Insrt': variants of dataworks-json are Ddl, Delete, Heartbeat"),
        (["Image"], "'Image': variants"),
        ([], "no variant: variants of"),
        (["Insert", "Other"], "'before' has different types in Insert and Other: ask for them"),
    ],
)
def test_variants_that_cannot_be_asked_for(variants: list[str], sentence: str) -> None:
    """A name must be that of a variant, and fields of several ones must agree in their types."""
    for message_type in (cwa.message_type, cws.message_type):
        with pytest.raises(ValueError, match=sentence):
            message_type("dataworks-json", variants)


def test_a_schema_within_a_message_is_no_variant() -> None:
    """Lindorm's schema of a row has a schema of its own, and no message is of it."""
    with pytest.raises(ValueError, match=r"are Delete, Insert, Read, Update$"):
        cwa.message_type("lindorm-json", "ConnectSchema")


@formats
def test_spark_has_the_types_of_variants(name: str, spark: SparkSession) -> None:
    """Spark's type of variants is that of Arrow, with comments, and so are its rows."""
    titles = KNOWN[name]
    declared = cws.message_type(name, titles)
    by_arrow = from_arrow_schema(pa.schema(cwa.message_type(name, titles)))
    assert by_arrow.simpleString() == declared.simpleString()
    assert all(field.nullable and field.metadata["comment"] for field in declared.fields)
    table = records(name).slice(0, 100)
    found = cws.messages(spark.createDataFrame(table).coalesce(1), format=name, variants=titles)
    theirs = cwa.messages(table, format=name, variants=titles).rows.read_all()
    assert found.rows.toArrow().to_pylist() == theirs.to_pylist()
