"""What a job says of itself: a line of JSON for each batch, and what it did."""

from __future__ import annotations

import msgspec


class Took(msgspec.Struct):
    """What a batch took.

    Attributes:
        rows: Messages of it.
        seconds: Its time, as the engine reports it.
        cpu: CPU time since the batch before it, in seconds.
    """

    rows: int
    seconds: float
    cpu: float


class Done(msgspec.Struct, tag=True):
    """What a job did.

    Attributes:
        seconds: Time from the start of its query to its end.
        cpu: CPU time of driver, JVM and workers in that time, in seconds.
        batches: What each batch took.
    """

    seconds: float
    cpu: float
    batches: list[Took]


class Batch(msgspec.Struct, tag=True):
    """How far a job is: number of its last batch."""

    number: int


def say(what: object) -> None:
    """Print a line of JSON."""
    print(msgspec.json.encode(what).decode(), flush=True)
