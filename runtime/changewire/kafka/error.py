"""The error of a rejected message."""

from typing import Any, Final

from changewire.codec import CodecError, Issue
from changewire.kafka.interface import SerializationError

_SHOWN: Final = 100
"""Issues that a text has at most; a hostile message has as many as it likes."""


class MessageRejectedError(SerializationError):
    """A value or a key is rejected: nothing was sent, or nothing can be read.

    Its text has every issue, up to 100, with the value at its place only if that was asked for.
    Its pickled form has no value.

    Attributes:
        error: The error of the codec.
        note: More to report, such as the topic; it may be empty.
    """

    def __init__(self, error: CodecError, note: str = "", *, show_values: bool = False) -> None:
        """Write the text."""
        self.error = error
        self.note = note
        super().__init__(_text(error, note, show_values=show_values))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the values."""
        return type(self), (self.error, self.note)

    @property
    def format(self) -> str:
        """Public name of the format."""
        return self.error.format

    @property
    def issues(self) -> list[Issue]:
        """Every issue, at least one: place, code, rule, the expected and the found value."""
        return self.error.issues


def _text(error: CodecError, note: str, *, show_values: bool) -> str:
    issues = error.issues
    sentences = [issue.sentence(show_values=show_values) for issue in issues[:_SHOWN]]
    more = len(issues) - len(sentences)
    rest = [f"and {more} more issue{'s' if more > 1 else ''}"] if more else []
    place = "" if error.byte_offset is None else f" at byte {error.byte_offset}"
    head = f"{error.format}, {note}" if note else error.format
    return f"{head}: {'; '.join([*sentences, *rest])}{place}"
