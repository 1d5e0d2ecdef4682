"""Keys and rows of a log as columns of a table: the kernel makes the columns that Python makes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from tests.native.differential import needs_kernel
from tests.native.fit_texts import Drawn, drawn
from tests.runtime.codec.formats import modest, thorough

from changewire.engines.carried import text_of_row
from changewire.engines.settings import Misfits
from changewire.engines.typed.fit import Fit
from changewire.engines.typed.own import USUAL, RowOptions

pytestmark = needs_kernel


_ARRAY = {"type": "array", "elementType": "string", "containsNull": True}
_DECLARED = (
    *("long", "double", "float", "string", "binary", "boolean", "date", "timestamp"),
    *("timestamp_ntz", "decimal(5,2)", "void", "application/json", _ARRAY),
)


class Compared(NamedTuple):
    """How many changes fit, and how many of them the kernel made."""

    fitting: int
    made: int


def compared(
    case: Drawn, how: RowOptions = USUAL, columns: Sequence[str | None] | None = None
) -> Compared:
    """Check that columns are the same without the kernel; rows may declare some."""
    fit, python = (Fit(case.key, case.row, how) for _ in range(2))
    vars(python)["kernel"] = None
    assert fit.kernel is not None
    said = [None] * len(case.keys) if columns is None else columns
    texts = [pa.array(column, pa.string()) for column in (case.keys, case.afters, said)]
    found, expected = fit(*texts), python(*texts)
    assert found.failures == expected.failures
    for name, column in found._asdict().items():
        if name != "failures":
            other = getattr(expected, name)
            assert column.type == other.type
            column.validate(full=True)
            pairs = zip(column.to_pylist(), other.to_pylist(), *texts, strict=True)
            # The columns of the key are in `named`.
            left = case.key.names if name == "content" and columns is not None else ()
            for one, two, *texts_of_one in pairs:
                assert repr(_without(one, left)) == repr(_without(two, left)), (name, texts_of_one)
    made = fit.kernel.fitted(*(column.cast(pa.binary()) for column in texts[:2]))
    left = 0 if made is None else made.column("declined").true_count - len(found.failures)
    fitting = len(case.keys) - len(found.failures)
    return Compared(fitting, fitting - left)


def _without(cell: Any, names: Sequence[str]) -> Any:
    if not names or cell is None:
        return cell
    return {name: value for name, value in cell.items() if name not in names}


@modest
@given(draw=st.randoms(use_true_random=False), exact=st.booleans())
def test_drawn(draw: Random, exact: bool) -> None:  # noqa: FBT001 - drawn
    """Any keys and rows have the same columns, and the same failures."""
    compared(drawn(draw, 10), RowOptions(exact))


def declared(draw: Random, after: str | None) -> str | None:
    """Return the columns that a row shows; the types of some are others, as a schema may say."""
    text = None if after is None else text_of_row(after, None)
    if text is None:
        return None
    found = {
        name: kind if draw.random() < 0.8 else draw.choice(_DECLARED)
        for name, kind in json.loads(text).items()
    }
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))


@thorough
@given(draw=st.randoms(use_true_random=False), misfits=st.sampled_from(["rescue", "refuse"]))
def test_drawn_rows_of_messages(draw: Random, misfits: Misfits) -> None:
    """So are the columns of messages, and what is rescued of their rows."""
    case = drawn(draw, 10)
    columns = [declared(draw, after) for after in case.afters]
    compared(case, RowOptions(misfits=misfits), columns)


def test_many_are_made() -> None:
    """The kernel makes many rows that fit, though most of their times are written oddly."""
    found = [compared(drawn(Random(seed), 40)) for seed in range(40)]  # noqa: S311 - no secret
    assert sum(one.made for one in found) > sum(one.fitting for one in found) * 2 / 5
