"""The pictures of the documentation are those that their command makes."""

from __future__ import annotations

from pathlib import Path

from docs.making.pictures import COMMAND, differences, pictures, write


def test_committed_pictures_are_current() -> None:
    """No picture is missing, left over, or of an earlier state."""
    assert not list(differences()), COMMAND


def test_differences_are_reported(tmp_path: Path) -> None:
    """A picture that was edited, removed or added is named; writing restores all three."""
    write(tmp_path)
    first, second, *_ = sorted(pictures())
    (tmp_path / first).write_text("<svg/>", encoding="utf-8")
    (tmp_path / second).rename(tmp_path / "other.svg")
    reported = [line.partition(": ")[2] for line in differences(tmp_path)]
    assert sorted(reported) == ["left over", "missing", "not as it is made today"]
    write(tmp_path)
    assert not list(differences(tmp_path))


def test_pictures_load_nothing() -> None:
    """A picture names no other file and no address but that of SVG itself."""
    for text in pictures().values():
        assert "url(http" not in text
        assert "href" not in text
        assert "<script" not in text
