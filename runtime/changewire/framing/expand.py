"""The files that a list of paths represents."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NoReturn

from changewire.framing.record import FramingError

# As Spark and Hive have it: what begins so is no data (_SUCCESS, _delta_log, .part-0.crc).
HIDDEN: Final = ("_", ".")


def expand(paths: Iterable[str]) -> list[str]:
    """Return `paths` with each folder replaced by the files below it, sorted.

    Names that begin with ``_`` or ``.`` are skipped below a folder, and links to folders are not
    followed. ``-``, standard input, stays.

    Raises:
        FramingError: a path does not exist, or a folder cannot be listed or has no file.
    """
    return [file for path in paths for file in _files(path)]


def _files(path: str) -> list[str]:
    if path == "-":
        return [path]
    if not path:
        raise FramingError("''", None, "the path is empty; name a file or a folder")
    if not Path(path).exists():
        raise FramingError(path, None, "there is no such file or folder; check the path")
    if not Path(path).is_dir():
        return [path]
    found = sorted(_below(path))
    if not found:
        reason = "the folder has no file whose name begins with neither _ nor ."
        raise FramingError(path, None, reason)
    return found


def _below(top: str) -> Iterator[str]:
    for folder, folders, files in os.walk(top, onerror=_unlisted):
        folders[:] = [name for name in folders if not name.startswith(HIDDEN)]
        paths = (Path(folder, name) for name in files if not name.startswith(HIDDEN))
        # A pipe would wait for a writer.
        yield from (str(path) for path in paths if not path.is_fifo())


def _unlisted(error: OSError) -> NoReturn:
    reason = f"the folder cannot be listed ({error.strerror or error}); check its permissions"
    raise FramingError(str(error.filename), None, reason) from error
