"""A real server of Spark Connect on this machine, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from examples.broker import HOST, free_port, waited
from tests.support.session import settings

from changewire.engines.spark.session import local_settings

ROOT: Final = Path(__file__).parents[2]
MAIN: Final = "org.apache.spark.sql.connect.service.SparkConnectServer"
SECONDS: Final = 120
"""How long the server may take to listen."""


@contextmanager
def connect_server(folder: Path) -> Generator[str]:
    """Run a server whose tables, log and working folder are in a folder, and stop it surely.

    Yields:
        What a client gives to ``SparkSession.builder.remote``.

    Raises:
        JarsError: The jars cannot be had.
        RuntimeError: It does not listen.
    """
    port = free_port()
    log = folder / "connect.log"
    with (
        log.open("wb") as output,
        subprocess.Popen(
            _program(folder, port),
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        try:
            said = waited(process, f"{HOST}:{port}", log, seconds=SECONDS)
            if said is not None:
                raise RuntimeError(f"the server does not listen on port {port}:\n{said}")
            yield f"sc://{HOST}:{port}"
        finally:
            process.kill()


def _program(folder: Path, port: int) -> list[str]:
    """Return what ``start-connect-server.sh`` runs in the end; PySpark's wheel lacks it."""
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    submit = Path(spec.origin).with_name("bin") / "spark-submit"
    told = {
        **local_settings(),
        **settings(folder / "warehouse"),
        "spark.connect.grpc.binding.address": HOST,
        "spark.connect.grpc.binding.port": str(port),
    }
    options = [word for name, value in told.items() for word in ("--conf", f"{name}={value}")]
    return [str(submit), "--master", "local[2]", "--class", MAIN, *options, "spark-internal"]


def _environment() -> dict[str, str]:
    """Let the Python of the server be that of the tests, which has their packages."""
    own = {name: value for name, value in os.environ.items() if name != "SPARK_REMOTE"}
    path = os.pathsep.join(
        [str(ROOT), *(str(Path(place).resolve()) for place in sys.path if place)]
    )
    return {**own, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": path}
