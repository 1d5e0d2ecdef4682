"""What workers do between tasks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile
from zipimport import zipimporter

from changewire.engines.spark.worker import forget_archives


def test_archives_are_forgotten_and_found_again(tmp_path: Path, monkeypatch: Any) -> None:
    """A module that an archive has is imported from it as before."""
    archive = tmp_path / "some.zip"
    with ZipFile(archive, "w") as made:
        made.writestr("archived_one.py", "NUMBER = 1\n")
        made.writestr("archived_two.py", "NUMBER = 2\n")
    monkeypatch.syspath_prepend(str(archive))
    import archived_one  # type: ignore[import-not-found]

    def archives() -> list[Any]:
        return [one for one in sys.path_importer_cache.values() if isinstance(one, zipimporter)]

    assert archives()
    forget_archives()
    assert not archives()
    import archived_two  # type: ignore[import-not-found]

    assert (archived_one.NUMBER, archived_two.NUMBER) == (1, 2)
