"""``changewire doctor``: what is there, whether it was run together, and what to do."""

from __future__ import annotations

import platform
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.cli.conftest import Ended, json_lines
from tests.support.terminal import changewire, ended, plain

from changewire.cli import findings
from changewire.cli.commands import doctor as doctor_module
from changewire.jobs import checks

Cli = Callable[..., Ended]
FITTING = {"pyspark": "4.0.1", "pandas": "2.3.3", "pyarrow": "20.0"}


def found(ended: Ended) -> dict[str, dict[str, Any]]:
    """Return the findings of a call with --json, by name."""
    return {item["name"]: item for item in json_lines(ended.stdout)}


@pytest.fixture
def versions(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Versions of packages that stand in for those installed; what is not named is 9.0."""
    named = dict(FITTING)

    def version(name: str) -> str:
        return named.get(name, "9.0")

    monkeypatch.setattr(findings, "version", version)
    monkeypatch.setattr(checks, "java_version", lambda: 17)
    return named


def test_each_part_is_reported(cli: Cli) -> None:
    """Every part has a finding, with an advice exactly where it is not as it was run."""
    parts = found(cli("doctor", "--json"))
    assert {"Python", "Java", "pyspark", "pandas", "Kafka connector", "Delta"} <= parts.keys()
    assert all((item["status"] == "ok") == (not item["advice"]) for item in parts.values())
    assert all(item["ok"] == (item["status"] in {"ok", "untested"}) for item in parts.values())
    assert parts["pyarrow"]["ok"]


def test_advice_can_be_pasted(cli: Cli, tmp_path: Path) -> None:
    """On a narrow terminal each advice is one line, which the terminal itself may wrap."""
    variables = {"JAVA_HOME": str(tmp_path)}
    shown, _ = ended(changewire("doctor", variables=variables, columns=40))
    lines = plain(shown)
    assert "Java: install Java 17 or newer, and set JAVA_HOME or PATH to it" in lines
    parts = found(cli("doctor", "--json"))
    advices = [f"{name}: {part['advice']}" for name, part in parts.items() if part["advice"]]
    assert [advice for advice in advices if advice not in lines] == []


def test_a_missing_java_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where Spark cannot run the exit code is 1, and the advice says what to install."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    ended = cli("doctor")
    assert ended.exit_code == 1
    assert "Java: install Java 17 or newer" in ended.stdout


@pytest.mark.parametrize(
    ("name", "version", "extra"), [("pandas", "3.0.1", "spark"), ("deltalake", "0.20.0", "delta")]
)
def test_unfit_versions_are_refused(
    cli: Cli, versions: dict[str, str], name: str, version: str, extra: str
) -> None:
    """A version that does not fit has an advice; only what Spark needs decides the exit code."""
    versions[name] = version
    ended = cli("doctor", "--json")
    part = found(ended)[name]
    assert (part["status"], part["found"]) == ("unfit", version)
    assert part["advice"] == f'pip install "./changewire[{extra}]"'
    assert ended.exit_code == (extra == "spark")


def test_versions_that_were_not_run_are_told(
    cli: Cli, versions: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another Python, Java or Spark than those of the table is named, and does not fail."""
    versions["pyspark"] = "4.1.0"
    monkeypatch.setattr(checks, "java_version", lambda: 21)
    monkeypatch.setattr(platform, "python_version", lambda: "3.99.1")
    ended = cli("doctor", "--json")
    parts = found(ended)
    advices = {name: parts[name]["advice"] for name in ("Python", "Java", "pyspark")}
    assert advices == {
        "Python": "tests run on 3.10, 3.11, 3.12, 3.13",
        "Java": "tests run on 17",
        "pyspark": "tests ran on 4.0.1, 4.2.0, 4.3.0: "
        'pip install "pyspark==4.0.1", on which all tests run',
    }
    assert {parts[name]["status"] for name in advices} == {"untested"}
    assert parts["Delta"]["advice"].startswith("none was run with Spark 4.1: see https://")
    assert ended.exit_code == 0


def test_a_spark_without_connectors_is_untested(cli: Cli, versions: dict[str, str]) -> None:
    """A PySpark on which no connector was run is not ok, and the advice is what to install."""
    versions["pyspark"] = "4.3.0"
    part = found(cli("doctor", "--json"))["pyspark"]
    assert (part["status"], part["ok"]) == ("untested", True)
    advice = 'no connector was run with it: pip install "pyspark==4.0.1", on which all tests run'
    assert part["advice"] == advice
    versions["pyspark"] = "4.2.0"
    assert found(cli("doctor", "--json"))["pyspark"]["status"] == "ok"


@pytest.mark.usefixtures("versions")
@pytest.mark.parametrize(
    ("jar", "status"),
    [
        ("io.delta_delta-spark_2.13-4.0.1.jar", "ok"),
        ("io.delta_delta-spark_2.13-3.3.0.jar", "untested"),
        ("delta-storage-4.0.1.jar", "missing"),
    ],
)
def test_jars_are_found_where_spark_keeps_them(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, jar: str, status: str
) -> None:
    """A jar that `--packages` fetched before is found, and its version compared."""
    folder = tmp_path / ".ivy2.5.2" / "jars"
    folder.mkdir(parents=True)
    (folder / jar).touch()
    monkeypatch.setenv("HOME", str(tmp_path))
    part = found(cli("doctor", "--json"))["Delta"]
    advice = "start Spark with --packages io.delta:delta-spark_2.13:4.0.1"
    assert (part["status"], part["advice"]) == (status, "" if status == "ok" else advice)


@pytest.mark.usefixtures("versions")
def test_a_server_that_is_not_there_is_told(cli: Cli) -> None:
    """Where no bootstrap server listens the reason stands beside it, and the exit code is 1."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        server = f"127.0.0.1:{free.getsockname()[1]}"
    ended = cli("doctor", "--kafka", server)
    assert ended.exit_code == 1
    assert f"bootstrap server {server}: Connection refused: correct the address" in ended.stdout


@pytest.mark.usefixtures("versions")
def test_what_listens_and_is_no_kafka_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that accepts connections and says nothing is unfit, and nothing is logged."""
    monkeypatch.setattr(doctor_module, "CONNECT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        ended = cli("doctor", "--json", "--kafka", f"127.0.0.1:{silent.getsockname()[1]}")
    part = found(ended)["Kafka cluster"]
    assert (part["status"], part["ok"]) == ("unfit", False)
    assert part["advice"].endswith("it requires TLS or SASL, or is not Kafka")
    assert (ended.exit_code, ended.stderr) == (1, "")


@pytest.mark.parametrize("servers", ["nonsense", "host:0", "host:99999", "a b:1"])
def test_what_is_no_address_is_wrong_usage(cli: Cli, servers: str) -> None:
    """Servers are named as HOST:PORT."""
    ended = cli("doctor", "--kafka", servers)
    assert ended.exit_code == 2
    assert "expected HOST:PORT" in ended.stderr
