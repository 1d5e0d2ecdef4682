"""The corpus of a target as a file of lines, and as the folder that a fuzzer takes.

``python -m tests.native.fuzz_corpus unpack TARGET FOLDER`` writes a file for each line, and
``pack`` writes the lines anew from the files of a folder.
"""

from __future__ import annotations

import sys
from hashlib import sha1
from pathlib import Path

CORPUS = Path(__file__).parents[2] / "native" / "fuzz" / "corpus"


def unpack(target: str, folder: Path) -> None:
    """Write an input of a target into each file of a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for line in CORPUS.joinpath(f"{target}.txt").read_text(encoding="ascii").split():
        data = bytes.fromhex(line)
        folder.joinpath(sha1(data, usedforsecurity=False).hexdigest()).write_bytes(data)


def pack(target: str, folder: Path) -> None:
    """Make the files of a folder the inputs of a target."""
    found = sorted({file.read_bytes() for file in folder.iterdir()}, key=_order)
    lines = "".join(f"{data.hex()}\n" for data in found if data)
    CORPUS.joinpath(f"{target}.txt").write_text(lines, encoding="ascii")


def _order(data: bytes) -> tuple[int, bytes]:
    return len(data), data


if __name__ == "__main__":
    command, target, folder = sys.argv[1:]
    {"pack": pack, "unpack": unpack}[command](target, Path(folder))
