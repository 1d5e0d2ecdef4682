"""The way to the generator, which needs the extra ``codegen``: nothing else leads there."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from changewire.extras import install

_MODULES: Final = {
    "check_row": "load",
    "diff": "compat.diff",
    "project": "project",
    "row_type": "row_type",
    "title_problem": "names",
}


def generator_part(name: str, purpose: str) -> Callable[..., Any]:
    """Return a function of the generator."""
    try:
        module = import_module(f"changewire_codegen.{_MODULES[name]}")
    except ImportError as error:
        raise ImportError(f"{purpose} the generator: {install('codegen')}") from error
    part: Callable[..., Any] = getattr(module, name)
    return part
