"""Rows that the kernel wrote, which are JSON text, as columns of a type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial, reduce
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.native import RowFit, fit_of
from changewire.engines.typed.types import without_metadata

IMAGES: Final = ("before", "after")
"""Columns of the rows of a change."""


def fit_of_images(row: pa.Schema) -> RowFit | None:
    """Return what fits rows into columns; None if the kernel does not know such columns."""
    fit = fit_of((), row)
    return None if fit is None else partial(_fitted, fit, pa.struct([*without_metadata(row)]))


def _fitted(
    fit: Any, kind: pa.StructType, change: Mapping[str, pa.Array]
) -> tuple[dict[str, pa.Array], pa.Array]:
    """Return changes with rows of a type, and which of them are declined; see `RowFit`."""
    found = [_columns(fit, kind, change[name]) for name in IMAGES]
    content, others, is_declined = zip(*found, strict=True)
    attributes = _with_undeclared(change["attributes"], others)
    rows = dict(zip(IMAGES, content, strict=True))
    return {**change, **rows, "attributes": attributes}, reduce(pc.or_, is_declined)


def _columns(fit: Any, kind: pa.StructType, texts: pa.Array) -> tuple[pa.Array, ...]:
    """Return rows, the texts of their members that no column names, and which are declined."""
    made = fit.fitted(None, texts.cast(pa.binary()))
    if made is None:  # columns have no room for them
        size = len(texts)
        return pa.nulls(size, kind), pa.nulls(size, pa.string()), pa.array([True] * size)
    return tuple(made.column(name) for name in ("content", "others", "declined"))


def _with_undeclared(attributes: pa.Array, others: Sequence[pa.Array]) -> pa.Array:
    """Return attributes with the members of rows that no column names, as ``undeclared``."""
    has_some = reduce(pc.or_, map(pc.is_valid, others))
    if not has_some.true_count:
        return attributes
    join = pc.binary_join_element_wise
    members = [join(f'"{name}":', one, "") for name, one in zip(IMAGES, others, strict=True)]
    undeclared = pc.coalesce(join(*members, ","), *members)
    comma = pc.if_else(pc.equal(attributes, "{}"), "", ",")
    opened = pc.utf8_slice_codeunits(attributes, 0, -1)
    texts = join(opened, comma, '"undeclared":{', undeclared, "}}", "")
    return pc.if_else(has_some, texts, attributes)
