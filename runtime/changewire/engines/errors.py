"""Why a stream, or a run into tables, is not begun or stops; the text of each says what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from changewire.engines.kept import TableHistory


class StreamError(Exception):
    """A streaming query, or a run into tables, cannot go on as it was asked for."""


class CheckpointError(StreamError):
    """The checkpoint is that of another query."""


class OutputError(StreamError):
    """An output cannot take the rows: it has another schema, or its format is not there."""


class HistoryMissingError(OutputError):
    """A table's versions are kept elsewhere than by the run; nothing was written.

    Attributes:
        kept: Where the table's versions are kept.
    """

    def __init__(self, table: str, kept: TableHistory, asked: TableHistory | None) -> None:
        """Say what to do; `asked` is where the run keeps versions."""
        self.kept = kept
        run = "without history" if asked is None else f"with {_options(asked)}"
        super().__init__(
            f"{table}: every version of its rows is kept in {kept.table}, which a run {run} would "
            f"leave without its changes. Give the run {_options(kept)}; or drop {kept.ends}, so "
            f"that {kept.table} stays as it is: if the option comes back, a stream makes it whole "
            "by its change log"
        )


def _options(history: TableHistory) -> str:
    names = "" if history.names == "plain" else f" and history_names={history.names!r}"
    return f"history={history.history!r}{names}"


class TooManyDeadLettersError(StreamError):
    """A batch has more dead letters than ``max_dead_letters`` allows; it was not written."""


class ConflictError(StreamError):
    """Other writers changed a table again and again while a batch was merged into it."""


class KeysMissingError(StreamError):
    """No change has a key, so that no row is known; the batch was not written."""


class OwnerError(StreamError):
    """A table belongs to another query; nothing was written to it."""
