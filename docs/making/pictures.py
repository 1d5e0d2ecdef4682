"""The pictures that are committed in ``docs/pictures``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from docs.making import architecture, spans, terminal
from docs.making.drawing import picture
from docs.making.histories import histories

FOLDER: Final = Path(__file__).parents[1] / "pictures"
COMMAND: Final = "python -m docs.making"


def pictures() -> dict[str, str]:
    """Return the text of each picture by the name of its file."""
    drawn = {f"tables-{history.name}.svg": picture(history) for history in histories()}
    drawn |= {f"history-{one.name}.svg": spans.picture(one) for one in histories(spans.PAGE)}
    return {
        **drawn,
        "architecture.svg": architecture.picture(),
        "explain.svg": terminal.picture(),
    }


def write(folder: Path = FOLDER) -> None:
    """Write the pictures, and remove those that are no longer made."""
    folder.mkdir(exist_ok=True)
    made = pictures()
    for path in folder.glob("*.svg"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def differences(folder: Path = FOLDER) -> Iterator[str]:
    """Yield a line for each picture that is missing, left over, or not as it would be made."""
    made, there = pictures(), {path.name: path for path in folder.glob("*.svg")}
    for name in sorted(made.keys() | there.keys()):
        if name not in there:
            yield f"{name}: missing"
        elif name not in made:
            yield f"{name}: left over"
        elif there[name].read_text(encoding="utf-8") != made[name]:
            yield f"{name}: not as it is made today"
