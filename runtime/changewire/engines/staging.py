"""Outputs that replace earlier ones together: written beside them, then renamed."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

if sys.platform != "win32":
    import fcntl

_PREFIX: Final = "_staging-"
"""Begins the names of folders that are written; readers of folders skip such names."""


@contextmanager
def staging(output: str, names: Sequence[str]) -> Generator[Path, None, None]:
    """Give a folder to write outputs to, which replace those of an output folder at the end.

    What is raised before leaves the output as it was. Folders that runs left there because they
    were killed are removed, unless another run writes to the output at the same time.

    Args:
        output: The output folder.
        names: Files and folders that are replaced. The last one is removed first and comes last:
            while it is there, all others are of the same run.

    Raises:
        OSError: A file cannot be written or renamed; it names the output.
    """
    folder = Path(output)
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    with _claimed(folder):
        staged = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=folder))
        try:
            yield staged
            _publish(staged, folder, names)
        except OSError as error:
            if os.fspath(error.filename or "").startswith(os.fspath(staged)):
                error.filename = output  # the other folder is gone when this is read
            raise
        finally:
            shutil.rmtree(staged, ignore_errors=True)
            if is_new and not any(folder.iterdir()):
                folder.rmdir()


@contextmanager
def naming(path: Path) -> Generator[None, None, None]:
    """Let an error of the system name the file that cannot be written, as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error


def _publish(staged: Path, folder: Path, names: Sequence[str]) -> None:
    """Replace outputs by what was staged; if one cannot be replaced, all stay."""
    replaced = Path(tempfile.mkdtemp(dir=staged))
    try:
        _move([name for name in reversed(names) if (folder / name).exists()], folder, replaced)
        _move(names, staged, folder)
    except OSError:
        # Those that were not replaced yet are where they were.
        earlier = [name for name in names if (replaced / name).exists()]
        _move([name for name in earlier if (folder / name).exists()], folder, staged)
        _move(earlier, replaced, folder)
        raise


def _move(names: Iterable[str], source: Path, target: Path) -> None:
    for name in names:
        (source / name).replace(target / name)


@contextmanager
def _claimed(folder: Path) -> Generator[None, None, None]:
    """Hold a lock that others can share, and first remove what is left if none holds it.

    The system releases the lock of a process that is killed. Where a folder cannot be locked, as
    on Windows and some network drives, nothing is removed.
    """
    if sys.platform == "win32":
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if _is_locked(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB):
            for left in folder.glob(f"{_PREFIX}*"):
                shutil.rmtree(left, ignore_errors=True)
        _is_locked(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


def _is_locked(descriptor: int, how: int) -> bool:
    """Ask for a lock, and return whether it is held."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(descriptor, how)
    except OSError:
        return False
    return True
