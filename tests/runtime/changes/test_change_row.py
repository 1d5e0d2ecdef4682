"""What adapters make of messages, beside the changes that users get."""

import pytest
from tests.runtime.changes.lindorm import message

from changewire.changes import DecodeOptions, change_row, changes
from changewire.changes.change_row import ChangeRow
from changewire_messages.change.arrow import change_array

EARLIEST, LATEST = -62135596800000, 253402300799999
"""The first and the last millisecond that a time of a message may have."""


def row_of(model: object) -> ChangeRow:
    """Return the row of a message."""
    return change_row(model, None, DecodeOptions("lindorm-json", key_columns=("id",)))


@pytest.mark.parametrize("time", [EARLIEST, -1, 0, 1, LATEST])
def test_columns_of_a_row_are_those_of_its_change(time: int) -> None:
    """At any time that a message may have, both give the same columns."""
    source = {"namespace": "shop", "table": "users", "ts_ms": time}
    row = row_of(message("u", after={"id": 1, "name": "Ann"}, before={"id": 2}, source=source))
    columns = change_array([row]).to_pylist()  # type: ignore[list-item]
    assert columns == change_array([row.change()]).to_pylist()
    assert columns[0]["event_time"] == row.change().event_time


def test_a_change_does_not_share_its_rows_with_the_message() -> None:
    """Who alters a row of a change leaves the message as it was."""
    model = message("c", after={"id": 1})
    (found,) = changes(model)
    assert found.after is not None
    found.after["id"] = 2
    assert model.payload.after == {"id": 1}
