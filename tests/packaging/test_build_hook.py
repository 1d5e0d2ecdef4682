"""The build hook puts the kernel into the wheel where it can, and leaves it out where it cannot."""

from __future__ import annotations

import json
import shutil
import subprocess
import zipfile
from importlib.metadata import distribution
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
WHEEL = "changewire_native-0.1.0-cp310-abi3-manylinux_2_17_x86_64.whl"


class App:
    """Keeps warnings, as hatchling shows them."""

    def __init__(self) -> None:
        """Start without one."""
        self.warnings: list[str] = []
        self.messages: list[str] = []

    def display_info(self, text: str) -> None:
        """Keep a message."""
        self.messages.append(text)

    def display_warning(self, text: str) -> None:
        """Keep a warning."""
        self.warnings.append(text)


@pytest.fixture
def module() -> ModuleType:
    """Give the hook's module, which no package has."""
    spec = spec_from_file_location("build_hook", ROOT / "native" / "build_hook.py")
    assert spec is not None
    assert spec.loader is not None
    found = module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.fixture
def hook(module: ModuleType) -> Any:
    """Give a hook of this repository."""
    return module.KernelHook(str(ROOT), {}, None, None, "", "wheel", App())


def build_data() -> dict[str, Any]:
    """Return what hatchling gives to hooks."""
    return {"pure_python": True, "force_include": {}, "extra_metadata": {}, "sbom_files": []}


@pytest.fixture
def cargo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Put a program of the name on the path; the build takes its default."""
    program = tmp_path / "bin" / "cargo"
    program.parent.mkdir()
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.delenv("CHANGEWIRE_KERNEL", raising=False)


def test_no_cargo_is_no_error(hook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without cargo the wheel is the pure one, maturin is not asked for, and the build says so."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CHANGEWIRE_KERNEL", raising=False)
    given = build_data()
    hook.initialize("standard", given)
    assert (hook.dependencies(), given) == ([], build_data())
    (message,) = hook.app.messages
    assert message.startswith("without the native kernel: Python decodes")


@pytest.mark.usefixtures("cargo")
def test_a_kernel_can_be_left_out(hook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """`CHANGEWIRE_KERNEL=off` builds none where cargo is; nor does an editable installation."""
    assert hook.dependencies() == ["maturin>=1.9,<2"]
    given = build_data()
    hook.initialize("editable", given)
    assert given == build_data()
    monkeypatch.setenv("CHANGEWIRE_KERNEL", "off")
    hook.initialize("standard", given)
    assert (hook.dependencies(), given) == ([], build_data())


def test_a_kernel_can_be_required(hook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """`CHANGEWIRE_KERNEL=require` is an error without cargo, and says what is missing."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CHANGEWIRE_KERNEL", "require")
    with pytest.raises(RuntimeError, match="CHANGEWIRE_KERNEL=require, and cargo is not installed"):
        hook.initialize("standard", build_data())


def test_another_value_is_an_error(hook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A word that the variable does not know is not taken for its default."""
    monkeypatch.setenv("CHANGEWIRE_KERNEL", "of")
    with pytest.raises(RuntimeError, match="expected auto, off or require, found 'of'"):
        hook.initialize("standard", build_data())


@pytest.mark.usefixtures("cargo")
def test_a_build_that_fails_is_a_warning(
    hook: Any, module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler that is too old, or no network, leaves the pure wheel, unless it is required."""

    def fails(*_: Any, **__: Any) -> None:
        raise subprocess.CalledProcessError(1, ["maturin"])

    monkeypatch.setattr(module.subprocess, "run", fails)
    given = build_data()
    hook.initialize("standard", given)
    assert given == build_data()
    (warning,) = hook.app.warnings
    assert warning.startswith("without the native kernel, as its build failed:")
    monkeypatch.setenv("CHANGEWIRE_KERNEL", "require")
    with pytest.raises(subprocess.CalledProcessError):
        hook.initialize("standard", given)


@pytest.mark.usefixtures("cargo")
def test_what_maturin_makes_is_added(
    hook: Any, module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wheel gets the module, the platform's tag, the list of crates and their licences."""

    def built(_source: Path, target: Path) -> Path:
        with zipfile.ZipFile(target / WHEEL, "w") as wheel:
            wheel.writestr("changewire_native/changewire_native.abi3.so", "ELF")
            wheel.writestr("changewire_native-0.1.0.dist-info/sboms/kernel.json", "{}")
        return target / WHEEL

    def licences(_source: Path) -> str:
        return "MIT\n"

    monkeypatch.setattr(module, "built", built)
    monkeypatch.setattr(module, "licences", licences)
    given = build_data()
    hook.initialize("standard", given)
    assert given["pure_python"] is False
    assert given["tag"] == "cp310-abi3-manylinux_2_17_x86_64"
    ((folder, name),) = given["force_include"].items()
    assert name == "changewire_native"
    assert Path(folder, "changewire_native.abi3.so").read_text("utf-8") == "ELF"
    ((notices, place),) = given["extra_metadata"].items()
    assert (Path(notices).read_text("utf-8"), place) == ("MIT\n", "kernel/licences.txt")
    assert [Path(bill).name for bill in given["sbom_files"]] == ["kernel.json"]
    hook.finalize("standard", given, "")
    assert not Path(folder).exists()


def test_licences_of_crates_are_named(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each text is there once, with the crates that it is of; without one, the expression."""
    crates = []
    for name, text in (("one", "MIT"), ("two", "MIT\n"), ("three", None)):
        (folder := tmp_path / name).mkdir()
        if text is not None:
            (folder / "LICENSE-MIT").write_text(text, encoding="utf-8")
        manifest = str(folder / "Cargo.toml")
        crates.append({"name": name, "version": "1", "manifest_path": manifest, "license": "Zlib"})
    said = json.dumps({"packages": crates}).encode()

    def output(*_: Any, **__: Any) -> bytes:
        return said

    monkeypatch.setattr(module.subprocess, "check_output", output)
    assert module.licences(tmp_path) == "one 1, two 1\n\nMIT\n\nthree 1\n\nZlib\n"


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_the_installed_wheel_has_the_kernel() -> None:
    """The one distribution brings kernel, licences and bill of materials."""
    installed = distribution("changewire")
    names = [str(file) for file in installed.files or ()]
    if not any(name.endswith("licences.txt") for name in names):
        pytest.skip("changewire is installed without a kernel, nox -s tests installs one")
    assert any(name.startswith("changewire_native/changewire_native") for name in names)
    assert any("/sboms/" in name for name in names)
