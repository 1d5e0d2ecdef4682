"""What every format has: one check for each property, over each variant of the format."""

from collections.abc import Callable, Iterator, Mapping
from inspect import getdoc
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given, settings
from msgspec import Struct
from pyspark.sql.pandas.types import from_arrow_schema
from tests.matrix.pages import check_page
from tests.matrix.subject import Sample, Subject
from tests.runtime.codec.formats import modest
from tests.runtime.codec.oracles import judges_of
from tests.runtime.codec.shown import shown
from tests.variants import variant_of

import changewire as cw
from changewire.engines.layout import CHANGE_OPS


def check_schema(subject: Subject) -> None:
    """JSON Schema libraries accept each message by the bundled schema, and refuse broken ones."""
    for judge in judges_of(subject.name, "message").values():
        for sample in subject.samples:
            assert judge(sample.value)
            assert not all(map(judge, reduced(sample.value)))


def check_model(subject: Subject) -> None:
    """The model of each variant is an immutable Struct that says what it stands for."""
    for model in subject.variants.values():
        assert issubclass(model, Struct)
        assert model.__struct_config__.frozen
        assert getdoc(model)


def check_validator(subject: Subject) -> None:
    """The validator finds nothing wrong with a message, and names the place of what is missing."""
    for sample in subject.samples:
        assert not subject.form.errors(sample.value, "message")
        found = [subject.form.errors(value, "message") for value in reduced(sample.value)]
        assert any(found)
        assert all(isinstance(issue[0], str) for issues in found for issue in issues)


def check_struct_type(subject: Subject) -> None:
    """Columns of messages have the type that Spark is told, each with a comment."""
    told = subject.module("spark").MESSAGE
    array = subject.module("arrow").message_array([sample.model for sample in subject.samples])
    schema = pa.Table.from_struct_array(pa.chunked_array([array])).schema
    assert from_arrow_schema(schema).simpleString() == told.simpleString()
    assert all(field.metadata["comment"] for field in told.fields)


def check_decode(subject: Subject) -> None:
    """A message becomes the model of its variant, with and without a named format."""
    for sample in subject.samples:
        for model in (cw.decode(sample.data, format=subject.name), cw.decode(sample.data)):
            assert variant_of(model) == sample.variant
            assert shown(model) == shown(sample.model)
        with pytest.raises(cw.DecodeError):
            cw.decode(sample.data.strip()[:-1], format=subject.name)


def check_encode(subject: Subject) -> None:
    """A model becomes bytes that hold the very value of its message."""
    for sample in subject.samples:
        assert subject.form.encoding.hold(cw.encode(sample.model), sample.value)


def check_round_trip(subject: Subject) -> None:
    """A drawn message, of any variant, comes back as the model that it was, and so do ours."""
    form = subject.form

    @settings(modest, max_examples=25)
    @given(form.strategy("message"))
    def comes_back(value: Any) -> None:
        model = form.codec.decode(form.encoding.dumps(value))
        assert shown(form.codec.decode(form.codec.encode(model))) == shown(model)

    comes_back()
    for sample in subject.samples:
        assert shown(form.codec.decode(cw.encode(sample.model))) == shown(sample.model)


def check_change(subject: Subject) -> None:
    """A message is one change of the system that it comes from; events of no row have no image."""
    for sample in changeable(subject):
        (change,) = cw.changes(sample.model)
        assert change.source.system == subject.name.partition("-")[0]
        assert change.op in CHANGE_OPS or change.before is change.after is change.key is None
        assert msgspec.json.decode(msgspec.json.encode(change))["op"] == change.op


def check_spark(subject: Subject, spark: Any) -> None:
    """In Spark a message is one row, with the operation of its change, and no dead letter."""
    import changewire.spark as cws

    samples = changeable(subject)
    values = [(number, sample.data) for number, sample in enumerate(samples)]
    frame = spark.createDataFrame(values, "offset long, value binary").coalesce(1)
    rows = cws.decode(frame, format=subject.name).rows.orderBy("offset").collect()
    for row, sample in zip(rows, samples, strict=True):
        (change,) = cw.changes(sample.model)
        assert row["kind"] == ("change" if change.op in CHANGE_OPS else "control")
        assert (row["op"], row["source"]["table"]) == (change.op, change.source.table)


def check_producer_check(subject: Subject) -> None:
    """What a producer must not send is refused before it is sent, with the place of the fault."""
    for sample in subject.samples:
        refused = [error for model in broken(sample) if (error := refusal(model))]
        assert any(error.issues[0].pointer for error in refused)
        assert any(cw.validate(v, format=subject.name) for v in reduced(sample.value))
        assert not cw.validate(sample.data, format=subject.name)


def changeable(subject: Subject) -> list[Sample]:
    """Return the messages that are changes: not those of which one column has two values."""
    return [sample for sample in subject.samples if not has_twins(sample.model)]


def has_twins(model: Any) -> bool:
    """Tell whether a record names a bin twice."""
    bins = getattr(model, "bins", ())
    names = [one.name for one in bins] if isinstance(bins, list) else []
    return len(names) > len(set(names))


def reduced(value: Any) -> Iterator[Any]:
    """Yield a message without each of its parts in turn."""
    if isinstance(value, list):
        yield from (value[:i] + value[i + 1 :] for i in range(len(value)))
    else:
        yield from ({k: v for k, v in value.items() if k != name} for name in value)


def broken(sample: Sample) -> Iterator[Any]:
    """Yield a model with each property of its variant in turn of a type that it cannot have."""
    outer = sample.model
    held = {name: getattr(outer, name) for name in outer.__struct_fields__}
    at = next((name for name, one in held.items() if type(one).__name__ == sample.variant), None)
    inner = outer if at is None else held[at]
    for name in inner.__struct_fields__:
        wrong = msgspec.structs.replace(inner, **{name: ["wrong"]})
        yield wrong if at is None else msgspec.structs.replace(outer, **{at: wrong})


def refusal(model: Any) -> cw.EncodeError | None:
    """Return the error that stops a model from being sent."""
    try:
        cw.encode(model)
    except cw.EncodeError as error:
        return error
    return None


CHECKS: Mapping[str, Callable[..., None]] = {
    "schema": check_schema,
    "model": check_model,
    "validator": check_validator,
    "struct-type": check_struct_type,
    "decode": check_decode,
    "encode": check_encode,
    "round-trip": check_round_trip,
    "change": check_change,
    "spark": check_spark,
    "producer-check": check_producer_check,
    "page": check_page,
}
"""The check of each property; that of Spark also takes a session."""
