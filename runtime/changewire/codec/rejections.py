"""An error as the rejection that stands in its place: places and types, never values."""

from changewire.codec.issues import CodecError
from changewire_messages.change import Reason, Rejection

MOST_REASONS = 100
"""Reasons that a rejection names at most; a hostile message has as many as it likes."""


def rejection(error: CodecError, element: int = 0) -> Rejection:
    """Return the rejection of one element of a message; its pointers are shown as in texts.

    Args:
        error: Why the element was refused.
        element: Its index in the batch.
    """
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
