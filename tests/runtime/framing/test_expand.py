"""Folders stand for the files below them."""

import os
from pathlib import Path

import pytest

from changewire.framing import FramingError, expand


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder as Spark writes it, with what is no data in between."""
    for name in (
        "b.json",
        "a.json",
        "day=2/part-0.json",
        "day=1/part-1.json",
        "_SUCCESS",
        ".b.json.crc",
        "_delta_log/0.json",
        ".hidden/x.json",
        "day=1/_x/y.json",
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    (tmp_path / "empty").mkdir()
    return tmp_path


def test_folder(folder: Path) -> None:
    """A folder is all files below it, sorted, without hidden ones."""
    names = ["a.json", "b.json", "day=1/part-1.json", "day=2/part-0.json"]
    assert expand([str(folder)]) == [str(folder / name) for name in names]


def test_named(folder: Path) -> None:
    """What is named itself stays, in its place, whatever its name; so does standard input."""
    hidden, deep = str(folder / "_SUCCESS"), str(folder / ".hidden")
    assert expand(["-", hidden, deep, "-"]) == ["-", hidden, str(folder / ".hidden/x.json"), "-"]


@pytest.mark.parametrize("hidden", [None, "_SUCCESS", ".part.crc", "_temporary/part"])
def test_empty(folder: Path, hidden: str | None) -> None:
    """A folder without a file to read is an error, and no path stands for no file."""
    if hidden is not None:
        (folder / "empty" / hidden).parent.mkdir(exist_ok=True)
        (folder / "empty" / hidden).touch()
    with pytest.raises(FramingError, match="the folder has no file whose name begins with neither"):
        expand([str(folder / "empty")])
    assert expand([]) == []


def test_no_path() -> None:
    """An empty path is refused."""
    with pytest.raises(FramingError, match="the path is empty"):
        expand([""])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_pipes_in_a_folder(folder: Path) -> None:
    """They are left out, and links are not, whatever they point to."""
    os.mkfifo(folder / "empty/pipe")
    links = [folder / "empty/dead", folder / "empty/link"]
    for link, target in zip(links, ("missing.json", "a.json"), strict=True):
        link.symlink_to(folder / target)
    assert expand([str(folder / "empty")]) == [*map(str, links)]


def test_missing(folder: Path) -> None:
    """A path that does not exist is an error."""
    path = str(folder / "none")
    with pytest.raises(FramingError, match="no such file or folder") as caught:
        expand([str(folder), path])
    assert (caught.value.path, caught.value.number) == (path, None)


def test_unreadable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that cannot be listed is an error: its files must not be forgotten."""
    scandir = os.scandir

    def refuse(path: str) -> object:
        if path.endswith("day=1"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(FramingError, match="cannot be listed") as caught:
        expand([str(folder)])
    assert caught.value.path == str(folder / "day=1")
