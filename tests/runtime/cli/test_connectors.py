"""Which connectors a command lets Spark fetch, and what it says of them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.runtime.cli.conftest import Ended, json_lines

from changewire.cli import findings
from changewire.cli.spark import connectors
from changewire.job import JobError
from changewire.tested import TESTED

RELEASE = TESTED[0]
KAFKA, DELTA = str(RELEASE.kafka), str(RELEASE.delta)
NEEDED = ("kafka", "delta")


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine with the first tested Spark, on which no session runs and no jar was fetched."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    for name in ("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    install(monkeypatch, RELEASE.pyspark)
    return tmp_path


def install(monkeypatch: pytest.MonkeyPatch, pyspark: str) -> None:
    """Let a version of PySpark be the one that is installed."""

    def version(_: str) -> str:
        return pyspark

    monkeypatch.setattr(findings, "version", version)


def fetch(home: Path, *names: str) -> None:
    """Let jars be there that ``--packages`` fetched."""
    folder = home / ".ivy2.5.2" / "jars"
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).touch()


def test_tested_connectors_are_taken(capsys: pytest.CaptureFixture[str]) -> None:
    """Without --packages they are those that ran with the installed Spark, said in one line."""
    assert connectors(None, NEEDED, as_json=False) == f"{KAFKA},{DELTA}"
    assert capsys.readouterr().err == (
        f"fetching connectors (once): {KAFKA},{DELTA} "
        f"(tested with Spark {RELEASE.pyspark}; --packages names others)\n"
    )


def test_connectors_that_were_fetched_are_named(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second start does not announce a download."""
    fetch(home, "io.delta_delta-spark_2.13-4.0.1.jar")
    connectors(None, ["delta"], as_json=False)
    assert capsys.readouterr().err.startswith(f"connectors: {DELTA} (")


def test_given_connectors_are_announced_if_they_are_fetched(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What --packages says is taken as it is; the line comes before the first download only."""
    assert connectors(DELTA, NEEDED, as_json=True) == DELTA
    (line,) = json_lines(capsys.readouterr().err)
    assert line == {"notice": "note", "message": f"fetching connectors (once): {DELTA}"}
    fetch(home, "io.delta_delta-spark_2.13-4.0.1.jar")
    assert connectors(DELTA, NEEDED, as_json=True) == DELTA
    assert capsys.readouterr().err == ""


def test_a_session_that_runs_gets_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It keeps the jars that it has."""
    monkeypatch.setattr(SparkSession, "getActiveSession", object)
    assert connectors(None, NEEDED, as_json=False) is None
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "arguments",
    [
        "--packages org.example:kafka:1 pyspark-shell",
        "--jars all.jar pyspark-shell",
        "--driver-class-path all.jar pyspark-shell",
        "--conf spark.jars.packages=org.example:kafka:1 pyspark-shell",
        "--conf spark.driver.extraClassPath=all.jar pyspark-shell",
    ],
)
def test_jars_of_the_environment_stay_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: str
) -> None:
    """Users who bring jars by Spark's own options get no others beside them."""
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", arguments)
    assert connectors(None, NEEDED, as_json=False) is None
    assert capsys.readouterr().err == ""


def test_other_options_of_the_environment_bring_no_jars(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory of the driver, say, is no reason to leave connectors out."""
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--driver-memory 2g pyspark-shell")
    assert connectors(None, NEEDED, as_json=False) == f"{KAFKA},{DELTA}"


@pytest.mark.parametrize(("line", "brings"), [("spark.jars a.jar", True), ("# spark.jars", False)])
def test_jars_of_default_settings_stay_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, line: str, *, brings: bool
) -> None:
    """Jars that spark-defaults.conf names are the user's; comments name none."""
    (tmp_path / "spark-defaults.conf").write_text(f"spark.ui.enabled false\n{line}\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert (connectors(None, NEEDED, as_json=False) is None) == brings


def test_a_connector_in_the_folder_of_spark_is_not_fetched(home: Path) -> None:
    """What an installation has among its jars is not named a second time."""
    folder = home / "spark" / "jars"
    folder.mkdir(parents=True)
    (folder / "spark-sql-kafka-0-10_2.13-4.0.1.jar").touch()
    assert connectors(None, NEEDED, as_json=False) == DELTA
    (folder / "delta-spark_2.13-4.0.0.jar").touch()
    assert connectors(None, NEEDED, as_json=False) is None


@pytest.mark.parametrize(
    ("pyspark", "needed", "names"),
    [
        ("4.9.0", ("kafka", "delta"), "no Kafka connector and no Delta"),
        ("4.3.0", ("kafka",), "no Kafka connector"),
        ("4.2.0", ("kafka", "iceberg"), "no Iceberg"),
    ],
)
def test_an_untested_spark_gets_a_sentence(
    monkeypatch: pytest.MonkeyPatch, pyspark: str, needed: tuple[str, ...], names: str
) -> None:
    """It names what lacks, the option that mends it, and where to read on."""
    install(monkeypatch, pyspark)
    begins = (
        f'{names} was tested with Spark {pyspark}: pip install "pyspark==4.0.1", or name the '
        "coordinates by --packages. "
    )
    with pytest.raises(JobError, match=f"^{begins}Which releases fit this Spark: https://"):
        connectors(None, needed, as_json=False)


def test_without_spark_there_is_nothing_to_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """That PySpark lacks is said by the job itself."""

    def version(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(findings, "version", version)
    assert connectors(None, NEEDED, as_json=False) is None


def test_an_untested_spark_ends_a_run_with_the_sentence(
    cli: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The command says it and ends with exit code 2, before Spark is started."""
    install(monkeypatch, "4.9.0")
    source = ("--kafka", "localhost:1", "--subscribe", "t", "-o", tmp_path / "out")
    ended = cli("stream", "-f", "aerospike-json", *source)
    assert ended.exit_code == 2
    assert ended.stderr.startswith("no Kafka connector and no Delta was tested with Spark 4.9.0: ")
    assert not (tmp_path / "out").exists()
