"""Jars of Maven artifacts, fetched once below the clone by the Ivy that PySpark brings.

``python -m examples.jars`` fetches those of the connectors and of the broker. Options for the JVM
of a short run are here as well.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from xml.sax.saxutils import quoteattr

from changewire.extras import install
from changewire.tested import Release, ran_with

CACHE: Final = Path(__file__).parents[1] / "build" / "jars"
"""Where jars are kept; Git ignores it."""

REPOSITORY: str | None = None
"""Root of a Maven repository; None is Maven Central, as Ivy knows it."""

SECONDS: Final = 600

KAFKA_BROKER: Final = "org.apache.kafka:kafka_2.13:4.1.0"

# Where it compiles so little, the JVM makes room for a fifth of the code, and long runs have more.
JAVA: Final = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m -XX:+UseSerialGC "
    "-XX:MetaspaceSize=256m"  # with less, all garbage is collected again and again as classes come
)
"""Options of the JVM of a short run of Spark, which is mostly compiling."""

CONNECTORS: Final = ("kafka", "delta", "iceberg")
"""What a session may have jars for; fields of `changewire.tested.Release`."""

IN_SPARK: Final = ("org.apache.hadoop", "org.scala-lang", "org.slf4j", "com.fasterxml.jackson.core")
"""Organisations whose jars Spark has already, in versions of its own."""

# No local Maven repository among the resolvers: one that holds a POM without its jar ends the whole
# resolution. Locks, because two runs of the tests may fill the cache at once.
SETTINGS: Final = """<ivysettings>
  <settings defaultResolver="central"/>
  <caches defaultCacheDir={cache} lockStrategy="artifact-lock-nio"/>
  <resolvers><ibiblio name="central" m2compatible="true"{root}/></resolvers>
</ivysettings>
"""

MODULE: Final = """<ivy-module version="2.0">
  <info organisation="changewire" module={name}/>
  <dependencies>
{dependencies}
  </dependencies>
</ivy-module>
"""


class JarsError(Exception):
    """Jars that are needed cannot be had; the text says which, and why."""


def jars(*coordinates: str, without: tuple[str, ...] = ()) -> list[Path]:
    """Return the jars of artifacts and of all that they depend on.

    Args:
        coordinates: Artifacts as ``organisation:name:version``; where another artifact depends on
            one of them, it is had in this version all the same.
        without: Organisations to leave out with what they depend on; `IN_SPARK` for a session.

    Raises:
        JarsError: There is no Java, or Ivy could not fetch them.
    """
    digest = sha256("\n".join([*coordinates, "", *without]).encode()).hexdigest()[:16]
    listed = CACHE / f"{digest}.classpath"
    if not _listed(listed):
        CACHE.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=CACHE) as folder:
            _fetch(coordinates, without, Path(folder)).replace(listed)
    return _listed(listed)


def release() -> Release:
    """Return what was run with the PySpark that is installed.

    Raises:
        JarsError: Nothing was.
    """
    pyspark = version("pyspark")
    found = ran_with(pyspark)
    if found is None:
        raise JarsError(
            f"no connectors were run with PySpark {pyspark}: see docs/reference/versions.md"
        )
    return found


def spark_jars(*connectors: str) -> list[Path]:
    """Return the jars of connectors for the PySpark that is installed.

    Args:
        connectors: Some of `CONNECTORS`.

    Raises:
        JarsError: One was not run with this PySpark, or jars could not be had.
    """
    ran = release()
    coordinates = []
    for name in connectors:
        found: str | None = getattr(ran, name)
        if found is None:
            raise JarsError(
                f"no {name} was run with PySpark {ran.pyspark}: see docs/reference/versions.md"
            )
        coordinates.append(found)
    if "kafka" in connectors and ran.token_provider is not None:
        coordinates.append(ran.token_provider)
    return jars(*coordinates, without=IN_SPARK) if coordinates else []


def java() -> str:
    """Return the Java that Spark starts too.

    Raises:
        JarsError: There is none.
    """
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home, "bin")) if home else None)
    if found is None:
        raise JarsError("Java 17 or newer is needed, and no java was found")
    return found


def _listed(file: Path) -> list[Path]:
    """Return the jars that a class path names; none where the file or one of them is gone."""
    if not file.exists():
        return []
    paths = [Path(part) for part in file.read_text(encoding="utf-8").strip().split(os.pathsep)]
    return paths if all(path.is_file() for path in paths) else []


def _fetch(coordinates: tuple[str, ...], without: tuple[str, ...], folder: Path) -> Path:
    """Let Ivy fetch what is not in the cache; return the file with the class path."""
    cache = quoteattr(str(CACHE / "ivy"))
    root = "" if REPOSITORY is None else f" root={quoteattr(REPOSITORY)}"
    settings, module, listed = (folder / name for name in ("settings.xml", "ivy.xml", "classpath"))
    settings.write_text(SETTINGS.format(cache=cache, root=root), encoding="utf-8")
    module.write_text(_module(coordinates, without, folder.name), encoding="utf-8")
    program = [
        java(),
        "-cp",
        str(_ivy()),
        "org.apache.ivy.Main",
        "-warn",
        "-types",
        "jar",
        "bundle",
    ]
    files = ["-settings", str(settings), "-ivy", str(module), "-cachepath", str(listed)]
    try:
        done = subprocess.run(
            [*program, *files], capture_output=True, check=False, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        raise JarsError(f"{_sentence(coordinates)} within {SECONDS} s") from None
    if done.returncode or not listed.exists():
        raise JarsError(f"{_sentence(coordinates)}:\n{done.stdout}{done.stderr}")
    return listed


def _module(coordinates: tuple[str, ...], without: tuple[str, ...], name: str) -> str:
    # Reports in the cache have the name of the module, and another process may resolve too.
    lines = []
    for coordinate in coordinates:
        values = zip(("org", "name", "rev"), coordinate.split(":"), strict=True)
        attributes = " ".join(f"{name}={quoteattr(value)}" for name, value in values)
        lines.append(f'    <dependency {attributes} conf="default" force="true"/>')
    lines += [f"    <exclude org={quoteattr(organisation)}/>" for organisation in without]
    return MODULE.format(name=quoteattr(name), dependencies="\n".join(lines))


def _ivy() -> Path:
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise JarsError(f"PySpark is needed: {install('spark')}")
    (ivy,) = Path(spec.origin).with_name("jars").glob("ivy-*.jar")
    return ivy


def _sentence(coordinates: tuple[str, ...]) -> str:
    place = REPOSITORY or "Maven Central"
    return f"the jars of {', '.join(coordinates)} could not be had from {place}"


if __name__ == "__main__":
    spark_jars(*CONNECTORS)
    jars(KAFKA_BROKER)
