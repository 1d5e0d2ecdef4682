"""The error of a rejected message."""

from typing import Any, Final

from changewire.codec import CodecError, Issue
from changewire.kafka.interface import SerializationError

_SHOWN: Final = 100
"""Issues that a text has at most; a hostile message has as many as it likes."""


class MessageRefusedError(SerializationError):
    """A value or a key is rejected: nothing was sent, or nothing can be read.

    Its text has every issue, up to 100, with the value at its place only if that was asked for.
    Its pickled form holds no value.

    Attributes:
        refusal: The error of the codec.
        note: More to report, such as the topic; it may be empty.
    """

    def __init__(self, refusal: CodecError, note: str = "", *, show_values: bool = False) -> None:
        """Write the text."""
        self.refusal = refusal
        self.note = note
        super().__init__(_text(refusal, note, show_values=show_values))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the values."""
        return type(self), (self.refusal, self.note)

    @property
    def format(self) -> str:
        """Public name of the format."""
        return self.refusal.format

    @property
    def issues(self) -> list[Issue]:
        """Every issue, at least one: place, code, rule, what it expects, and what is there."""
        return self.refusal.issues


def _text(refusal: CodecError, note: str, *, show_values: bool) -> str:
    issues = refusal.issues
    sentences = [issue.sentence(show_values=show_values) for issue in issues[:_SHOWN]]
    more = len(issues) - len(sentences)
    rest = [f"and {more} more issue{'s' if more > 1 else ''}"] if more else []
    place = "" if refusal.byte_offset is None else f" at byte {refusal.byte_offset}"
    head = f"{refusal.format}, {note}" if note else refusal.format
    return f"{head}: {'; '.join([*sentences, *rest])}{place}"
