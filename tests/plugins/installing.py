"""What pip does with entry points, and what a new process does to what was looked up before."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

PACKAGE = "store_messages"


def install(site: Path, name: str, groups: Mapping[str, Mapping[str, str]]) -> None:
    """Write what a distribution says of itself into a folder that is on the path."""
    folder = site / f"{name}-1.0.dist-info"
    folder.mkdir(parents=True)
    folder.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [
        line
        for group, points in groups.items()
        for line in (f"[{group}]", *(f"{key} = {value}" for key, value in points.items()))
    ]
    folder.joinpath("entry_points.txt").write_text("\n".join(lines))


LOOKED_UP = {
    "changewire.changes.adapters": ("_change_of", "adapter", "format_of_model"),
    "changewire.codec.installed": ("_entry_points", "format_of", "module_of"),
    "changewire.codec.registry": ("_codec_of_module", "_others", "usable"),
}
"""Functions that remember what was installed, by module."""


def forget() -> None:
    """Let the next look-up see what is installed by now."""
    for module, names in LOOKED_UP.items():
        for name in names:
            getattr(import_module(module), name).cache_clear()
