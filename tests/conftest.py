"""What tests of several folders share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import tomli

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One local Spark session for the whole run, started by our own code, that knows Delta."""
    from tests.support.session import submit_args

    import changewire.spark as cws

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_SUBMIT_ARGS", submit_args(tmp_path_factory.mktemp("warehouse")))
        session = cws.session()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture
def generator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the entry points of pyproject.toml be found from a working copy too."""
    text = Path(__file__).parents[1].joinpath("pyproject.toml").read_text(encoding="utf-8")
    groups = tomli.loads(text)["project"]["entry-points"]
    folder = tmp_path / "entry_points" / "changewire-0.dist-info"
    folder.mkdir(parents=True)
    folder.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: changewire\nVersion: 0\n")
    lines = [
        line
        for group, points in groups.items()
        for line in (f"[{group}]", *(f"{name} = {target}" for name, target in points.items()))
    ]
    folder.joinpath("entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(str(folder.parent))
