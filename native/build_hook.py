"""Puts the native kernel into the wheel of changewire; hatchling runs it where cargo is."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SWITCH = "CHANGEWIRE_KERNEL"
"""Environment variable: ``auto``, the default, builds a kernel if it can; ``off`` builds none; with
``require`` a wheel without a kernel is an error."""

OPTIONS = "CHANGEWIRE_MATURIN"
"""Environment variable: further options of ``maturin build``, such as ``--target``."""

MODULE = "changewire_native"

WITHOUT = "without the native kernel: Python decodes messages, which takes several times as long"
"""Message of a build that leaves the kernel out."""


class KernelHook(BuildHookInterface[Any]):
    """Builds the kernel by maturin, and adds what it made to the wheel."""

    def dependencies(self) -> list[str]:
        """Return what a build with a kernel needs."""
        return ["maturin>=1.9,<2"] if is_wanted() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the kernel, the licences of its crates, and the tag of its platform."""
        if version == "editable":
            return
        if not is_wanted():
            self.app.display_info(WITHOUT)
            return
        self._folder = tempfile.mkdtemp()
        try:
            wheel = built(Path(self.root, "native"), Path(self._folder))
        except (OSError, subprocess.CalledProcessError) as error:
            if os.environ.get(SWITCH) == "require":
                raise
            self.app.display_warning(f"without the native kernel, as its build failed: {error}")
            return
        files, notices = (Path(self._folder, name) for name in ("files", "licences.txt"))
        shutil.unpack_archive(wheel, files, "zip")
        notices.write_text(licences(Path(self.root, "native")), encoding="utf-8")
        build_data["pure_python"] = False
        build_data["tag"] = "-".join(wheel.stem.split("-")[-3:])
        build_data["force_include"][str(files / MODULE)] = MODULE
        build_data["extra_metadata"][str(notices)] = "kernel/licences.txt"
        for bill in files.glob("*.dist-info/sboms/*.json"):
            build_data["sbom_files"].append(str(bill))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the files that were added."""
        del version, build_data, artifact_path
        shutil.rmtree(getattr(self, "_folder", ""), ignore_errors=True)


def is_wanted() -> bool:
    """Return whether a kernel is built.

    Raises:
        RuntimeError: It is required, and cargo is not installed; or the variable has another value.
    """
    wanted = os.environ.get(SWITCH, "auto")
    if wanted not in {"auto", "off", "require"}:
        raise RuntimeError(f"{SWITCH}: expected auto, off or require, found {wanted!r}")
    has_cargo = shutil.which("cargo") is not None
    if wanted == "require" and not has_cargo:
        raise RuntimeError(f"{SWITCH}=require, and cargo is not installed")
    return has_cargo and wanted != "off"


def built(source: Path, target: Path) -> Path:
    """Build the kernel, and return maturin's wheel."""
    options = shlex.split(os.environ.get(OPTIONS, "--release"))
    cargo = os.environ.get("CARGO_TARGET_DIR", str(source.parent / "build" / "cargo"))
    command = ["maturin", "build", "--locked", "--out", str(target)]
    subprocess.run(  # noqa: S603 - our own
        [*command, "--manifest-path", str(source / "Cargo.toml"), *options],
        check=True,
        env={**os.environ, "CARGO_TARGET_DIR": cargo},
    )
    (wheel,) = target.glob("*.whl")
    return wheel


def licences(source: Path) -> str:
    """Return the licences of the crates that a kernel is made of, each text once."""
    command = ["cargo", "metadata", "--locked", "--format-version=1"]
    crates: dict[str, list[str]] = {}
    for crate in json.loads(subprocess.check_output(command, cwd=source))["packages"]:  # noqa: S603
        folder, name = Path(crate["manifest_path"]).parent, f"{crate['name']} {crate['version']}"
        names = ("LICEN[CS]E*", "COPY*", "NOTICE*", "UNLICENSE*")
        files = sorted(file for one in names for file in folder.glob(one) if file.is_file())
        for text in [file.read_text(encoding="utf-8") for file in files] or [str(crate["license"])]:
            crates.setdefault(text.strip(), []).append(name)
    return "\n\n".join(f"{', '.join(names)}\n\n{text}" for text, names in crates.items()) + "\n"
