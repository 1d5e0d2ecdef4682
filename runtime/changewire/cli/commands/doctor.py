"""``changewire doctor``."""

from typing import Annotated, Final

import typer
from rich.table import Table
from rich.text import Text

from changewire.cli.brokers import brokers
from changewire.cli.ending import REJECTED, VALID, ending
from changewire.cli.findings import Finding, java, kernel, packages, python
from changewire.cli.options import Json, text_option
from changewire.cli.spark import jars
from changewire.cli.stderr import console
from changewire.cli.stdout import Lines
from changewire.codec.registry import unusable
from changewire.report.text import SENTENCE, visible
from changewire.version import VERSION

_STYLES: Final = {"ok": "green", "untested": "yellow", "missing": "yellow", "unfit": "red"}

Servers = Annotated[
    str | None,
    text_option(
        "--kafka",
        metavar="HOST:PORT",
        help="Look whether these bootstrap servers, and the brokers behind them, are reached.",
    ),
]


@ending
def doctor(*, servers: Servers = None, as_json: Json = False) -> int:
    """Look for what changewire needs, and say what to do if something is missing.

    Versions are compared with those that were tested together. The exit code is 1 if something is
    missing that Spark needs, or a broker of --kafka cannot be reached; all else is optional.

    Example: changewire doctor --kafka localhost:9092
    """
    findings = [
        Finding(name="changewire", found=VERSION),
        python(),
        java(),
        *packages(),
        kernel(),
        *jars(),
        *(_format(name, fault) for name, fault in unusable().items()),
        *_brokers(servers),
    ]
    if as_json:
        lines = Lines()
        for finding in findings:
            lines.write(finding, {"ok": not finding.is_lacking})
    else:
        _show(findings)
    lacking = any(finding.is_required and finding.is_lacking for finding in findings)
    return REJECTED if lacking else VALID


def _brokers(servers: str | None) -> list[Finding]:
    """Look for brokers if they are asked for; a wrong address is wrong usage."""
    try:
        return [] if servers is None else brokers(servers)
    except ValueError as error:
        raise typer.BadParameter(f"--kafka: {error}") from None


def _format(name: str, fault: str) -> Finding:
    return Finding(name=f"format {name}", status="missing", needed_for=name, advice=fault)


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
    """Return a text that may hold what a broker says of itself."""
    return visible(text, SENTENCE)
