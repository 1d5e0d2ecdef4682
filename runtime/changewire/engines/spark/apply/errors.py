"""Why a stream that applies changes stops; the text of each says what to do."""

from __future__ import annotations

from changewire.engines.spark.stream.errors import StreamError


class ConflictError(StreamError):
    """Other writers changed a table again and again while a batch was merged into it."""


class KeysMissingError(StreamError):
    """No change has a key, so that no row is known; the batch was not written."""
