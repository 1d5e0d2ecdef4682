"""``changewire doctor``: what was found, what is missing, and whether Kafka brokers are reached."""

import logging
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Annotated, Any, Final

import typer
from msgspec.structs import replace
from rich.table import Table
from rich.text import Text

from changewire.cli.ending import REJECTED, VALID, ending
from changewire.cli.findings import Finding, java, kernel, packages, python
from changewire.cli.options import Json, text_option
from changewire.cli.spark import jars
from changewire.cli.stderr import console, counted
from changewire.cli.stdout import Lines
from changewire.codec.registry import unusable
from changewire.engines.kafka_options import CONNECT_SECONDS, addresses_in, connection_refusal
from changewire.extras import install
from changewire.report.text import SENTENCE, visible
from changewire.version import VERSION

_STYLES: Final = {"ok": "green", "untested": "yellow", "missing": "yellow", "unfit": "red"}

_MOST: Final = 20
"""Brokers that are connected to; a cluster may have hundreds, and each may take its time."""

_NEEDED_FOR: Final = "--kafka"
_CLUSTER: Final = "Kafka cluster"

Servers = Annotated[
    str | None,
    text_option(
        "--kafka",
        metavar="HOST:PORT",
        help="Check that these bootstrap servers, and the brokers behind them, can be reached.",
    ),
]


@ending
def doctor(*, servers: Servers = None, as_json: Json = False) -> int:
    """Check the environment, and say how to install missing parts.

    Versions are compared with those that were tested together. The exit code is 1 if something is
    missing that Spark needs, or a broker of --kafka cannot be reached.

    Example: changewire doctor --kafka localhost:9092
    """
    findings = [
        Finding("changewire", found=VERSION),
        python(),
        java(),
        *packages(),
        kernel(),
        *jars(),
        *(_format(name, fault) for name, fault in unusable().items()),
        *([] if servers is None else _brokers(servers)),
    ]
    if as_json:
        lines = Lines()
        for finding in findings:
            lines.write(finding, {"ok": not finding.is_lacking})
    else:
        _show(findings)
    lacking = any(finding.is_required and finding.is_lacking for finding in findings)
    return REJECTED if lacking else VALID


def _format(name: str, fault: str) -> Finding:
    return Finding(f"format {name}", "missing", None, name, advice=fault)


def _show(findings: list[Finding]) -> None:
    table = Table("", "", "version", "needed for", box=None, pad_edge=False, header_style="bold")
    for finding in findings:
        mark = Text(finding.status, _STYLES[finding.status])
        texts = (_shown(finding.name), finding.found or "", finding.needed_for)
        table.add_row(mark, *map(Text, texts))
    shown = console(on_stdout=True)
    shown.print(table, soft_wrap=False)
    for finding in findings:
        if finding.advice:  # on a line of its own, from which a command can be copied
            text = f"{_shown(finding.name)}: {_shown(finding.advice)}"
            shown.print(Text(text, _STYLES[finding.status]))


def _shown(text: str) -> str:
    """Return a text that may contain words of a broker."""
    return visible(text, SENTENCE)


def _brokers(servers: str) -> list[Finding]:
    """Connect to bootstrap servers, ask one for the cluster's brokers, and connect to those."""
    try:
        asked = addresses_in(servers)
    except ValueError as error:
        raise typer.BadParameter(f"--kafka: {error}") from None
    found = [_server("bootstrap server", *address) for address in asked[:_MOST]]
    if all(finding.is_lacking for finding in found):
        return found
    if find_spec("confluent_kafka") is None:
        advice = f"{install('kafka')} to look at the brokers behind it as well"
        return [*found, Finding(_CLUSTER, "untested", None, _NEEDED_FOR, advice=advice)]
    return [*found, *_cluster(servers, set(asked))]


def _server(kind: str, host: str, port: int, more: str = "") -> Finding:
    found = Finding(f"{kind} {host}:{port}", needed_for=_NEEDED_FOR, is_required=True)
    refusal = connection_refusal(host, port)
    if not refusal:
        return found
    advice = f"{refusal}: {more or 'correct the address, start the broker, or open the port'}"
    return replace(found, status="missing", advice=advice)


def _cluster(servers: str, asked: set[tuple[str, int]]) -> Iterator[Finding]:
    """Yield the description of the cluster, and each broker that it sends its clients to."""
    from confluent_kafka import KafkaException

    try:
        metadata = _metadata(servers)
    except KafkaException as error:
        advice = f"{error.args[0].str()}: it requires TLS or SASL, or is not Kafka"
        yield Finding(_CLUSTER, "unfit", None, _NEEDED_FOR, is_required=True, advice=advice)
        return
    members = sorted((b.host, b.port) for b in metadata.brokers.values())
    count = counted(len(members), "broker")
    yield Finding(_CLUSTER, found=count, needed_for=_NEEDED_FOR, is_required=True)
    advice = "the cluster sends clients there: correct its advertised.listeners, or open the port"
    for host, port in [member for member in members if member not in asked][:_MOST]:
        yield _server("broker", host, port, advice)


def _metadata(servers: str) -> Any:
    """Return the cluster's metadata; the client's own log, which names servers, goes nowhere."""
    from confluent_kafka.admin import AdminClient

    silent = logging.getLogger("changewire.doctor")
    silent.propagate = False
    silent.addHandler(logging.NullHandler())
    settings: dict[str, Any] = {"bootstrap.servers": servers, "log_level": 0}
    return AdminClient(settings, logger=silent).list_topics(timeout=CONNECT_SECONDS)
