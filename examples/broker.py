"""One real Kafka broker on this machine, without Docker: python -m examples.broker FOLDER.

A KRaft node that only this machine reaches, on port 9092 or what ``--port`` says. Its jars are
fetched once, 60 MB, into ``build/jars``; Java 17 or newer and PySpark must be there. Its data are
in the folder: started there again, it is the same broker. Ctrl-C ends it.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from examples.jars import KAFKA_BROKER, JarsError, jars, java

HOST: Final = "127.0.0.1"
PORT: Final = 9092
"""What Kafka listens on by custom."""

HEAP: Final = "-Xmx512m"
SECONDS: Final = 60
"""How long the broker may take to listen."""

QUICK: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")
"""A broker that lives for a minute gains nothing from the best code."""

# No topics by accident, so that a topic that is not there stays away; one of everything, as there
# is one node.
PROPERTIES: Final = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{host}:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://{host}:{port},CONTROLLER://{host}:{controller}
advertised.listeners=PLAINTEXT://{host}:{port}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={logs}
auto.create.topics.enable=false
group.initial.rebalance.delay.ms=0
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.cleaner.backoff.ms=200
"""

LOGGING: Final = """<Configuration status="OFF">
  <Appenders>
    <Console name="out" target="SYSTEM_OUT"><PatternLayout pattern="%d %p %c: %m%n"/></Console>
  </Appenders>
  <Loggers><Root level="WARN"><AppenderRef ref="out"/></Root></Loggers>
</Configuration>
"""


WATCHED: Final = """exec 3<&0
"$@" & broker=$!
{ cat <&3; kill -9 $broker; } >/dev/null 2>&1 & wait $broker
"""
"""Runs a program that ends with whoever holds the other end of its input, however that one ends."""


class BrokerError(Exception):
    """The broker does not run; the text ends with what it said last."""


@contextmanager
def broker(folder: Path, port: int | None = None) -> Generator[str]:
    """Run a broker whose data are in a folder, and stop it surely.

    The folder of an earlier broker has its data and its port: entered again, it is that broker,
    restarted.

    Args:
        folder: Is made where it is not there.
        port: Where a new broker listens; None for any that is free.

    Yields:
        The bootstrap server, ``127.0.0.1:port``.

    Raises:
        JarsError: The jars cannot be had.
        BrokerError: The broker does not start.
    """
    properties = folder / "server.properties"
    if not properties.exists():
        _format(folder, properties, port or free_port())
    lines = properties.read_text(encoding="utf-8").splitlines()
    settings = dict(line.split("=", 1) for line in lines)
    server = settings["advertised.listeners"].removeprefix("PLAINTEXT://").partition(",")[0]
    if listens(server):
        raise BrokerError(f"something else listens on {server}: end it, or take another port")
    log = folder / "broker.log"
    program = _program(folder, "kafka.Kafka", str(properties))
    with log.open("ab") as output:
        process = subprocess.Popen(
            ["sh", "-c", WATCHED, "sh", *program],  # noqa: S607 - a system's own shell
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        said = waited(process, server, log, seconds=SECONDS)
        if said is not None:
            raise BrokerError(f"the broker does not listen on {server}:\n{said}")
        yield server
    finally:
        _stop(process, server)


def free_port() -> int:
    """Return a port on which nothing listens."""
    with socket.socket() as found:
        found.bind((HOST, 0))
        return int(found.getsockname()[1])


def _format(folder: Path, properties: Path, port: int) -> None:
    """Write settings and logging, and let the storage be formatted."""
    folder.mkdir(parents=True, exist_ok=True)
    logs = folder.resolve() / "logs"
    text = PROPERTIES.format(host=HOST, port=port, controller=free_port(), logs=logs)
    (folder / "log4j2.xml").write_text(LOGGING, encoding="utf-8")
    new = folder / "new.properties"
    new.write_text(text, encoding="utf-8")
    arguments = ["format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", str(new)]
    done = subprocess.run(
        _program(folder, "kafka.tools.StorageTool", *arguments),
        capture_output=True,
        check=False,
        text=True,
        timeout=SECONDS,
    )
    if done.returncode:
        raise BrokerError(f"the storage of the broker cannot be formatted:\n{done.stderr}")
    new.replace(properties)


def _program(folder: Path, main: str, *arguments: str) -> list[str]:
    path = os.pathsep.join(str(jar) for jar in jars(KAFKA_BROKER))
    logging = f"-Dlog4j2.configurationFile={folder / 'log4j2.xml'}"
    return [java(), HEAP, *QUICK, logging, "-cp", path, main, *arguments]


def waited(
    process: subprocess.Popen[bytes], server: str, log: Path, *, seconds: float
) -> str | None:
    """Wait until a program listens; return None, or the end of its log where it does not.

    Args:
        process: The program.
        server: Where it is to listen, as ``host:port``.
        log: What it writes to.
        seconds: How long it may take.
    """
    end = time.monotonic() + seconds
    while not listens(server):
        if time.monotonic() > end or process.poll() is not None:
            return log.read_text(encoding="utf-8", errors="replace")[-4000:]
        time.sleep(0.05)
    return None


def listens(server: str) -> bool:
    """Tell whether something listens at ``host:port``."""
    host, port = server.split(":")
    try:
        socket.create_connection((host, int(port)), timeout=1).close()
    except OSError:
        return False
    return True


def _stop(process: subprocess.Popen[bytes], server: str) -> None:
    """Kill the broker: its data are not needed, and this takes no time."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    # The shell is gone at once, the memory of the broker a moment later, and its port with it.
    end = time.monotonic() + SECONDS
    while listens(server) and time.monotonic() < end:
        time.sleep(0.05)


def main() -> None:
    """Run a broker until Ctrl-C or SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m examples.broker", description=__doc__)
    parser.add_argument("folder", type=Path, help="where its data are")
    parser.add_argument("--port", type=int, default=PORT, help=f"of a new broker, else {PORT}")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with broker(given.folder, given.port) as server:
            print(f"Kafka listens on {server}, its data are in {given.folder}; Ctrl-C ends it")
            sys.stdout.flush()
            signal.pause()
    except KeyboardInterrupt:
        print("Kafka has ended")
    except (BrokerError, JarsError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
