"""Python and changewire as an archive, and Spark as it is installed on a machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from examples.broker import HOST
from examples.jars import JAVA
from tests.cluster.recipe import ARCHIVE, FOR_CONNECT, commands
from tests.cluster.store import Store

NAME: Final = "environment.tar.gz"
PINS: Final = Path(__file__).parents[2] / "constraints" / "dev.txt"
SPARK: Final = ("bin", "jars", "python", "sbin")
"""Folders of PySpark that an installation of Spark has as well."""

DEFAULTS: Final = {
    "spark.driver.host": HOST,
    "spark.driver.memory": "1g",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def pack(folder: Path, wheels: Iterable[Path], *, connect: bool = False) -> Path:
    """Build the archive in a folder by the commands of the page, and return it.

    Args:
        folder: Where the driver runs too.
        wheels: That of changewire, and that of its kernel if there is one.
        connect: Whether it is for Spark Connect.
    """
    first, *others = sorted(wheels, key=lambda wheel: not wheel.name.startswith("changewire-"))
    changewire = " ".join([f'"{first}[arrow]"', *(f'"{other}"' for other in others)])
    places = {"python3": f'"{sys.executable}"', '"./changewire[arrow]"': changewire}
    folder.mkdir(parents=True)
    pins = folder.with_name("pins.txt")  # pip asks for hashes of all if constraints have some
    text = PINS.read_text(encoding="utf-8")
    pins.write_text(re.sub(r" \\\n +--hash=\S+", "", text), encoding="utf-8")
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for block in [commands(ARCHIVE, places), *([commands(FOR_CONNECT, {})] if connect else [])]:
        subprocess.run(
            ["bash", "-ec", block],  # noqa: S607 - the system's own
            cwd=folder,
            env={**variables, "PIP_CONSTRAINT": str(pins), "PIP_QUIET": "1"},
            check=True,
        )
    return folder / NAME


def install_spark(folder: Path, lake: Store, options: str = JAVA) -> Path:
    """Copy Spark out of PySpark into a folder, and return the folder.

    Args:
        folder: Is made.
        lake: What the jobs write to; Spark gets its jars and settings.
        options: Of the JVM of driver and executors.
    """
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    for name in SPARK:
        shutil.copytree(Path(spec.origin).with_name(name), folder / name)
    java = {f"spark.{one}.extraJavaOptions": options for one in ("driver", "executor")}
    settings = {**DEFAULTS, **lake.settings, **(java if options else {})}
    lines = "".join(f"{name} {value}\n" for name, value in settings.items())
    folder.joinpath("conf").mkdir()
    folder.joinpath("conf", "spark-defaults.conf").write_text(lines, encoding="utf-8")
    for jar in lake.jars:
        shutil.copy(jar, folder / "jars")
    return folder
