"""Places in a value, cheap to pass along; a pointer is written only where one is reported."""

from typing import TypeAlias, Union

from changewire_messages.support import pointer_token

Path: TypeAlias = Union[str, "tuple[Path, str | int]"]
"""A JSON Pointer, or the path of the parent and the last step."""


def pointer_of(path: Path) -> str:
    """Return the JSON Pointer (RFC 6901) of a path."""
    steps: list[str] = []
    while not isinstance(path, str):
        path, step = path
        steps.append(f"/{pointer_token(str(step))}")
    return path + "".join(reversed(steps))
