"""Advice on extras can be pasted, and is the same as in the documentation."""

from __future__ import annotations

from pathlib import Path

from changewire.extras import install

ROOT = Path(__file__).parents[2]


def test_the_advice_is_that_of_the_page_on_installing() -> None:
    """The command names the clone, in the words of docs/start/installing.md."""
    page = ROOT.joinpath("docs", "start", "installing.md").read_text(encoding="utf-8")
    assert install("cli") == 'pip install "./changewire[cli]"'
    assert f"$ {install('cli', 'delta')}\n" in page
    assert install("cli", "spark") == 'pip install "./changewire[cli,spark]"'


def test_no_other_module_says_what_to_install() -> None:
    """The name that pip is given is written in one module."""
    modules = [*ROOT.glob("runtime/**/*.py"), *ROOT.glob("examples/**/*.py")]
    named = [path.name for path in modules if "changewire[" in path.read_text(encoding="utf-8")]
    assert named == []
