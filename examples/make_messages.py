"""Make the example messages of every format, the same ones each time.

``python -m examples.make_messages`` writes the folders below ``examples/`` again. The variants and
leniencies of each format occur, in several shapes that a file can have, and some messages are
damaged on purpose.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Final

from changewire_messages import families

ROOT: Final = Path(__file__).resolve().parent

FOLDERS: Final[Mapping[str, Callable[[], dict[str, bytes]]]] = {
    folder: import_module(f"examples.making.{folder}").files
    for folder in (*families.__all__, "mixed")
}
"""What makes the files of each folder, one for each format: their content by name."""


def main() -> None:
    """Write the files."""
    for folder, files in FOLDERS.items():
        (ROOT / folder).mkdir(exist_ok=True)
        for name, content in files().items():
            (ROOT / folder / name).write_bytes(content)
            print(f"{folder}/{name}".ljust(44), f"{len(content):9,} bytes")


if __name__ == "__main__":
    main()
