"""Where tables and checkpoint are: a folder that all machines have, or a store that speaks S3."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.request import Request, urlopen

from examples.broker import HOST, free_port, waited
from examples.jars import IN_SPARK, jars
from tests.cluster.processes import LOG, running

BUCKET: Final = "lake"
SECONDS: Final = 60

HADOOP: Final = "org.apache.hadoop:hadoop-aws:3.4.1"
"""The connector, of the Hadoop that Spark 4.0 has."""

CLOUD: Final = "org.apache.spark:spark-hadoop-cloud_2.13:4.0.1"
"""Has what writes checkpoints without renaming, which stores cannot."""

AWS: Final = "software.amazon.awssdk"

# The connector asks for the bundle of all services of AWS, 560 MB, of which it needs these; of its
# own release, 2.24.6, not all of them are to be had from every mirror.
SDK: Final = tuple(
    f"{AWS}:{name}:2.29.52"
    for name in ("apache-client", "netty-nio-client", "s3", "s3-transfer-manager", "sts")
)

SETTINGS: Final = {
    "spark.hadoop.fs.s3a.path.style.access": "true",
    "spark.hadoop.fs.s3a.access.key": "testing",
    "spark.hadoop.fs.s3a.secret.key": "testing",
    "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.internal.io.cloud.AbortableStreamBasedCheckpointFileManager"
    ),
}


@dataclass(frozen=True)
class Store:
    """Where a stream writes.

    Attributes:
        root: Below this are log, tables and checkpoint.
        settings: What Spark must know to get there.
        jars: What Spark lacks for it.
    """

    root: str
    settings: Mapping[str, str] = field(default_factory=dict)
    jars: tuple[Path, ...] = ()


@contextmanager
def store(kind: str, folder: Path) -> Generator[Store]:
    """Yield a place to write to: ``folder`` or ``s3``, whose server ends after it.

    Raises:
        JarsError: Jars cannot be had.
        RuntimeError: The server does not start.
    """
    if kind == "folder":
        yield Store(str(folder / "lake"))
        return
    with s3_server(folder / "store") as address:
        yield Store(f"s3a://{BUCKET}", settings_of(address), tuple(_jars()))


@contextmanager
def s3_server(home: Path) -> Generator[str]:
    """Yield the address of a server that speaks S3 and has the bucket `BUCKET`; it ends after it.

    Raises:
        RuntimeError: It does not start.
    """
    port = free_port()
    server = f"{HOST}:{port}"
    command = f'"{sys.executable}" -m moto.server --host {HOST} --port {port}'
    with running(command, home, {"PATH": "/usr/bin", "TMPDIR": str(home)}) as process:
        ended = waited(process, server, home / LOG, seconds=SECONDS)
        if ended is not None:
            raise RuntimeError(f"the store does not listen on {server}:\n{ended}")
        create = Request(f"http://{server}/{BUCKET}", method="PUT")
        urlopen(create, timeout=SECONDS).close()  # noqa: S310 - our own
        yield f"http://{server}"


def settings_of(address: str) -> dict[str, str]:
    """Return the settings of Spark for a store that speaks S3 at an address."""
    return {**SETTINGS, "spark.hadoop.fs.s3a.endpoint": address}


def _jars() -> Iterator[Path]:
    yield from jars(HADOOP, without=(AWS, "org.slf4j"))
    yield from jars(*SDK, without=(*IN_SPARK, "commons-codec", "commons-logging", "io.netty"))
    for jar in jars(CLOUD, without=(*IN_SPARK, AWS, "com.google.cloud.bigdataoss")):
        if jar.name.startswith("spark-hadoop-cloud"):  # the others are of other stores
            yield jar
