"""A change does the same to rows by its message and by its row in a log."""

from __future__ import annotations

from typing import Any

import pytest
from tests.native.differential import FORMATS, batch_of
from tests.runtime.engines.any_messages import captured, mutated

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.effects import EFFECTS, LeanEffectsDecoder, effects_of_logged
from changewire.engines.log import READ

MANY = 400
KEYED: dict[str, dict[str, Any]] = {"lindorm-json": {"key_columns": ["id"]}}
"""Options by which messages have keys."""


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("row_image", ["full", "patch"])
def test_a_logged_change_has_the_effects_of_its_message(format: str, row_image: Any) -> None:
    """So a late look, `rebuild` and `verify` know the keys that tables have."""
    options = DecodeOptions(format, row_image=row_image, **KEYED.get(format, {}))
    messages = [*captured(format), *mutated(format, MANY, seed=1)]
    (rows,) = LeanEffectsDecoder(options)(batch_of(messages))
    changes = [row for row in rows.to_pylist() if row["kind"] == "change" and row["key"]]
    assert changes
    logged = [effects_of_logged({name: row[name] for name in READ}) for row in changes]
    assert logged == [row[EFFECTS] for row in changes]
