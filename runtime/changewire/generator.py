"""The generator of the extra ``codegen``, found by its entry points: nothing here imports it."""

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, Final

from changewire.extras import install

_GROUP: Final = "changewire.generator"


def generator_part(name: str, purpose: str) -> Callable[..., Any]:
    """Return a function of the generator, by the name of its entry point.

    Raises:
        ImportError: The extra ``codegen`` is not installed; its text begins with the purpose, and
            says how to install it.
    """
    advice = f"{purpose} the generator: {install('codegen')}"
    found = list(entry_points(group=_GROUP, name=name))
    if not found:
        raise ImportError(advice)
    try:
        part: Callable[..., Any] = found[0].load()
    except ImportError as error:
        raise ImportError(advice) from error
    return part
