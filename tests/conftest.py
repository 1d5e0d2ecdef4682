"""What tests of several folders share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One local Spark session for the whole run, started by our own code."""
    import changewire.spark as cws

    session = cws.session()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
