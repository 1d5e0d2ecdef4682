"""Ends of what writes a batch, at one of its steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch


class CrashError(Exception):
    """Stands for whatever ends a query."""


def crash() -> None:
    """End a query by an exception."""
    raise CrashError


def ending(module: Any, name: str, end: Callable[[], None], *, is_before: bool) -> Any:
    """Return a context in which `end` is called before or after a function of a module."""
    function = getattr(module, name)

    def ended(*arguments: Any, **options: Any) -> Any:
        if is_before:
            end()
        found = function(*arguments, **options)
        if not is_before:
            end()
        return found

    return patch.object(module, name, ended)
