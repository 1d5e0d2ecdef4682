"""Keys and rows of a log as columns of a table: the kernel makes the columns that Python makes."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from tests.native.differential import needs_kernel
from tests.native.fit_texts import Drawn, drawn
from tests.runtime.codec.formats import modest

from changewire.engines.typed.fit import Fit
from changewire.engines.typed.own import RowOptions

pytestmark = needs_kernel


class Compared(NamedTuple):
    """How many changes fit, and how many of them the kernel made."""

    fitting: int
    made: int


def compared(case: Drawn, *, exact: bool = False) -> Compared:
    """Check that columns are the same without the kernel."""
    fit, python = (Fit(case.key, case.row, RowOptions(exact)) for _ in range(2))
    vars(python)["kernel"] = None
    assert fit.kernel is not None
    texts = [pa.array(column, pa.string()) for column in (case.keys, case.afters)]
    found, expected = fit(*texts), python(*texts)
    assert found.failures == expected.failures
    for name, column in found._asdict().items():
        if name != "failures":
            other = getattr(expected, name)
            assert column.type == other.type
            column.validate(full=True)
            pairs = zip(column.to_pylist(), other.to_pylist(), *texts, strict=True)
            for one, two, *texts_of_one in pairs:
                assert repr(one) == repr(two), (name, texts_of_one)
    made = fit.kernel.fitted(*(column.cast(pa.binary()) for column in texts))
    left = 0 if made is None else made.column("declined").true_count - len(found.failures)
    fitting = len(case.keys) - len(found.failures)
    return Compared(fitting, fitting - left)


@modest
@given(draw=st.randoms(use_true_random=False), exact=st.booleans())
def test_drawn(draw: Random, exact: bool) -> None:  # noqa: FBT001 - drawn
    """Any keys and rows have the same columns, and the same failures."""
    compared(drawn(draw, 10), exact=exact)


def test_most_are_made() -> None:
    """The kernel makes most rows that fit, in any order of their columns."""
    found = [compared(drawn(Random(seed), 40)) for seed in range(40)]  # noqa: S311 - no secret
    assert sum(one.made for one in found) > sum(one.fitting for one in found) / 2
