"""The border of the codec: unexpected exceptions become errors, and errors rejections.

Parsers and encoders are called with untrusted bytes. What they raise beyond their
documentation rejects one message, and does not end the program.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from changewire.codec.issues import CodecError, Issue
from changewire.codec.wire import is_data, unexplained
from changewire_messages.change import Reason, Rejection

RESOURCE_ERRORS: Final = (MemoryError, OSError)
"""Errors of the machine. They say nothing of a message, so none of them becomes a verdict on it."""

INTERNAL: Final = "internal-error"
"""Code of an issue, and its rule."""

Result = TypeVar("Result")


def guarded(
    kind: type[CodecError], format: str, call: Callable[..., Result], *arguments: Any
) -> Result:
    """Return what a function returns; any exception but `CodecError` becomes an error of a kind.

    The exception is not the cause of the error: its text may contain values of the message.
    """
    try:
        return call(*arguments)
    except CodecError:
        raise
    except Exception as error:  # noqa: BLE001 - what no library documents
        issue = internal_error(error)
    raise kind(format, [issue])


def internal_error(error: Exception) -> Issue:
    """Return the issue of an exception that nothing expects; only its type is named."""
    if isinstance(error, (RecursionError, MemoryError)):
        return unexplained(error, INTERNAL)
    return Issue(
        "", INTERNAL, INTERNAL, f"no exception of type {type(error).__name__} inside changewire"
    )


def check_data(data: object) -> None:
    """Raise TypeError for what is neither bytes nor text: it is a mistake of the caller."""
    if not is_data(data):
        memoryview(data)  # type: ignore[arg-type]


MOST_REASONS: Final = 100
"""Reasons that a rejection names at most; a hostile message has as many as it likes."""


def rejection(error: CodecError, element: int = 0) -> Rejection:
    """Return the rejection of one element of a message; its pointers are shown as in texts."""
    first = error.issues[0]
    return Rejection(
        element=element,
        code=first.code,
        pointer=first.place,
        message=str(error),
        byte_offset=error.byte_offset,
        format=error.format,
        reasons=[
            Reason(
                code=issue.code,
                pointer=issue.place,
                rule=issue.rule,
                expected=issue.expected,
                actual=issue.actual_type,
            )
            for issue in error.issues[:MOST_REASONS]
        ],
    )
