"""Programs of a cluster, each with a folder and a bare environment of its own."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import psutil
from examples.broker import HOST, WATCHED
from examples.jars import java

LOG: Final = "output.log"


def environment(spark: Path, folder: Path) -> dict[str, str]:
    """Return all that a program knows: where Java and Spark are, and its folder."""
    path = (spark / "bin", Path(java()).parent, Path("/usr/local/bin"), Path("/usr/bin"), "/bin")
    return {
        "HOME": str(folder),
        "JAVA_HOME": str(Path(java()).resolve().parents[1]),
        "PATH": os.pathsep.join(map(str, path)),
        "PYTHONUNBUFFERED": "1",
        "SPARK_HOME": str(spark),
        "SPARK_LOCAL_DIRS": str(folder / "scratch"),
        "SPARK_LOCAL_IP": HOST,
        "TMPDIR": str(folder),
    }


@contextmanager
def running(
    command: str, folder: Path, variables: Mapping[str, str], *, piped: bool = False
) -> Generator[subprocess.Popen[bytes]]:
    """Run a command of a shell in a folder, which is made; kill it and what it started at the end.

    It ends with this program too, however this program ends.

    Args:
        command: What the shell runs.
        folder: Its working folder; what it says is in `LOG` there.
        variables: Its whole environment.
        piped: Whether its standard output is read here, instead of being logged.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with folder.joinpath(LOG).open("ab") as log:
        process = subprocess.Popen(
            ["bash", "-c", WATCHED, "bash", "bash", "-c", command],  # noqa: S607 - the system's own
            cwd=folder,
            env=dict(variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if piped else log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        kill_all(process)
        process.communicate()


def kill_all(process: subprocess.Popen[bytes]) -> None:
    """Kill a program and all that it started, as a machine that fails does."""
    started = (
        [*children(process, ""), psutil.Process(process.pid)] if process.poll() is None else []
    )
    for one in started:
        with suppress(psutil.NoSuchProcess):
            one.kill()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def children(process: subprocess.Popen[bytes], word: str) -> list[psutil.Process]:
    """Return the processes that a program started, itself or by others, by a word of theirs."""
    found = []
    with suppress(psutil.NoSuchProcess):
        for child in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                if word in " ".join(child.cmdline()):
                    found.append(child)
    return found


def said(folder: Path) -> str:
    """Return what a program logged."""
    return folder.joinpath(LOG).read_text(encoding="utf-8", errors="replace")
