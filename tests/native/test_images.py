"""Rows that the kernel wrote, as columns of a type, and what it leaves out or declines."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import Mock

import pyarrow as pa
import pytest
from tests.native.differential import batch_of, compared, needs_kernel
from tests.runtime.changes import dataworks
from tests.runtime.engines.rows import HEAD

import changewire as cw
from changewire.changes.decode_options import DecodeOptions
from changewire.engines import native
from changewire.engines.typed import decode
from changewire.engines.typed.decode import TypedDecoder
from changewire.engines.typed.fit import row_columns

pytestmark = needs_kernel

ROW = pa.schema({"id": pa.int64()})
TYPES = {"id": "LONG", "price": "DOUBLE", "é": "STRING"}


def update(before: dict[str, Any], after: dict[str, Any]) -> bytes:
    """Return an update of DataWorks."""
    return cw.encode(dataworks.message("UPDATE_AFTER", TYPES, before=before, after=after))


def write(*values: Any) -> bytes:
    """Return a batch of writes of Aerospike, each with one bin."""
    kinds = {int: "int", str: "str"}
    bins = [{"name": "id", "type": kinds[type(value)], "value": value} for value in values]
    heads = [f'{HEAD}, "lut": 1, "bins": {json.dumps([one])}}}' for one in bins]
    return f"[{', '.join(heads)}]".encode()


def attributes(decoder: TypedDecoder, messages: list[bytes]) -> list[Any]:
    """Return the attributes of changes."""
    rows = pa.Table.from_batches([*decoder(batch_of(messages))])
    return [json.loads(text) for text in rows.column("attributes").to_pylist()]


def test_what_the_type_does_not_name() -> None:
    """It is in the attributes, of both images or of one, as the JSON text has it."""
    decoder = TypedDecoder(DecodeOptions("dataworks-json"), ROW)
    one: dict[str, Any] = {"id": 1, "price": "1.10", "é": None}
    other: dict[str, Any] = {"id": 1, "é": '"\\'}
    cases = [(one, other), (other, {"id": 1}), ({"id": 1}, one), ({"id": 1}, {"id": 2})]
    messages = [update(*case) for case in cases]
    assert compared(batch_of(messages), decoder).declined == 0
    first, second = {"price": "1.10", "é": None}, {"é": '"\\'}
    assert [one.get("undeclared") for one in attributes(decoder, messages)] == [
        {"before": first, "after": second},
        {"before": second},
        {"after": first},
        None,
    ]


def test_attributes_may_have_nothing_else() -> None:
    """Members that no column names are the only attributes then."""
    fit = decode.fit_of_images(ROW)
    assert fit is not None
    texts = {"before": ['{"id":1}', None], "after": ['{"a":[1]}', None]}
    columns = {name: pa.array(column, pa.string()) for name, column in texts.items()}
    found, declined = fit({**columns, "attributes": pa.array(["{}", "{}"])})
    assert found["attributes"].to_pylist() == ['{"undeclared":{"after":{"a":[1]}}}', "{}"]
    assert found["before"].to_pylist() == [{"id": 1}, None]
    assert declined.to_pylist() == [False, False]


def test_a_row_that_does_not_fit_declines_its_message() -> None:
    """Its other rows are Python's too, and those of other messages the kernel's."""
    decoder = TypedDecoder(DecodeOptions("aerospike-json"), ROW)
    messages = [write(1, 2), write(3, "x", 4), b"{", write(5), write(6, "y")]
    assert compared(batch_of(messages), decoder).declined == 3
    assert decoder.kernel is not None
    assert decoder.kernel.counts.declined_by["row"] == 2
    rows = pa.Table.from_batches([*decoder(batch_of(messages))])
    found = [after and after["id"] for after in rows.column("after").to_pylist()]
    assert found == [1, 2, 3, None, 4, None, 5, 6, None]
    assert rows.column("pointer").to_pylist()[3] == "/after/id"


def test_columns_without_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the kernel makes no columns of rows, Python does."""
    nothing = Mock(return_value=None)
    monkeypatch.setattr(decode, "fit_of", Mock(return_value=Mock(fitted=nothing)))
    decoder = TypedDecoder(DecodeOptions("aerospike-json"), ROW)
    assert compared(batch_of([write(1, 2), write(3)]), decoder).declined == 2


@pytest.mark.parametrize("error", [TypeError, ValueError])
def test_another_kernel_fits_no_rows(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    """Python decodes all messages if the kernel does not take the columns, or not so."""

    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(native, "installed", Mock(return_value=Mock(Fit=refuse)))
    assert TypedDecoder(DecodeOptions("aerospike-json"), ROW).kernel is None


def test_an_element_that_fails_is_a_dead_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that is not expected loses one element of a batch."""
    fit = row_columns

    def fail(text: bytes, *rest: Any) -> Any:
        if text == b'{"id":2}':
            raise RuntimeError
        return fit(text, *rest)

    monkeypatch.setattr(decode, "row_columns", fail)
    decoder = TypedDecoder(DecodeOptions("aerospike-json"), ROW)
    vars(decoder)["kernel"] = None
    rows = pa.Table.from_batches([*decoder(batch_of([write(1, 2, 3)]))])
    assert rows.column("code").to_pylist() == [None, "internal-error", None]
