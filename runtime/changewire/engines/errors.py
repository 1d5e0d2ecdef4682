"""Why a stream, or a run into tables, is not begun or stops; the text of each says what to do."""

from __future__ import annotations

import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Final

_ARROW: Final = "↳"
_STYLE: Final = re.compile(r"\x1b\[[0-9;]*m")
"""What colours text in a terminal."""

_ANSWER: Final = re.compile(r"<\?xml.*?<Code>(.*?)</Code>.*?</Error>", re.DOTALL)
"""What a store that speaks S3 answers; its code says why, in one word."""


class JobError(Exception):
    """The job cannot run as it was asked for; the text says why, and what to do."""


class StreamError(Exception):
    """A streaming query, or a run into tables, cannot go on as it was asked for."""


class CheckpointError(StreamError):
    """The checkpoint is that of another query."""


class OutputError(StreamError):
    """An output cannot take the rows: it has another schema, or its format is missing."""


class TooManyDeadLettersError(StreamError):
    """A batch has more dead letters than ``max_dead_letters`` allows; it was not written."""


class ConflictError(StreamError):
    """Other writers changed a table again and again while a batch was merged into it."""


class KeysMissingError(StreamError):
    """No change has a key, so that no row is known; the batch was not written."""


class OwnerError(StreamError):
    """A table belongs to another query; nothing was written to it."""


def reason_of(error: Exception) -> str:
    """Return why delta-rs failed, on one line: with its causes, and without its backtrace."""
    text = _ANSWER.sub(r"\1", _STYLE.sub("", str(error)))
    first, *others = text.splitlines() or [""]
    causes = takewhile(_is_cause, map(str.strip, others))
    return ": ".join([first, *(one.removeprefix(_ARROW).strip() for one in causes)])


def _is_cause(line: str) -> bool:
    return line.startswith(_ARROW)


@contextmanager
def naming(path: Path) -> Generator[None, None, None]:
    """Let an error of the system name the file that cannot be written, as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
