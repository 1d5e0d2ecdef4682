"""What tests of several folders share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from examples.broker import broker
from tests.support.session import COMPILED, INTERPRETED, SPARING, known_names, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let files that need Spark come first, so that none is left to one process at the end."""
    slow = {item.path for item in items if "spark" in getattr(item, "fixturenames", ())}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One local Spark session for the whole run, started by our own code, with connectors.

    One session costs less than a second one for the tests that need the jars, and others never
    look at them.
    """
    import changewire.spark as cws

    with known_names():
        places = settings(tmp_path_factory.mktemp("warehouse"))
        session = cws.session({**places, **SPARING, **INTERPRETED})
        session.sparkContext.setLogLevel("ERROR")
        for form in ("short", "long"):  # else Java looks for the caller of each RDD
            session.sparkContext.setLocalProperty(f"callSite.{form}", "tests")
        yield session
        session.stop()


@pytest.fixture(scope="module")
def compiled(spark: SparkSession) -> Iterator[None]:
    """Let Spark plan and compile as it does by default, not as `INTERPRETED` has it."""
    for name, value in COMPILED.items():
        spark.conf.set(name, value)
    yield
    for name, value in INTERPRETED.items():
        spark.conf.set(name, value)


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The bootstrap server of one real Kafka broker for the whole run."""
    with broker(tmp_path_factory.mktemp("kafka")) as server:
        yield server
