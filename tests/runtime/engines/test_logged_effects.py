"""A change does the same to rows by its message and by its row in a log."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from tests.native.differential import FORMATS, batch_of
from tests.runtime.engines.any_messages import captured, mutated

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.decode import Decoder
from changewire.engines.effects import with_effects
from changewire.engines.layout import EFFECT
from changewire.engines.log import READ

MANY = 400
KEYED: dict[str, dict[str, Any]] = {"lindorm-json": {"key_columns": ["id"]}}
"""Options by which messages have keys."""


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("row_image", ["full", "patch"])
def test_a_logged_change_has_the_effect_of_its_message(format: str, row_image: Any) -> None:
    """A log of an earlier version, which lacks effects, is applied as a new one is."""
    options = DecodeOptions(format, row_image=row_image, **KEYED.get(format, {}))
    messages = [*captured(format), *mutated(format, MANY, seed=1)]
    (rows,) = Decoder(options)(batch_of(messages))
    found = pa.Table.from_batches([rows]).select([*READ])
    assert {*found[EFFECT].unique().to_pylist()} > {None, row_image}
    place, nothing = found.column_names.index(EFFECT), pa.nulls(len(found), pa.string())
    assert with_effects(found.set_column(place, EFFECT, nothing)).equals(found)
