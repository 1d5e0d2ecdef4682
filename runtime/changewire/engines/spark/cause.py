"""The innermost cause of an error of Spark, read from the text that Spark hands on.

Spark passes an exception of a batch or a worker on as text: tracebacks of Python in messages of
Java in tracebacks of Python. What went wrong is at the end of the innermost one.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from changewire.engines.spark.kafka.errors import HIDDEN

LENGTH: Final = 600
"""Characters of a sentence at most."""

_TRACEBACK: Final = "Traceback (most recent call last):\n"
_WHILE_HANDLED: Final = "During handling of the above exception, another exception occurred:"
_ENDED: Final = "terminated with exception: "
_JAVA_CAUSE: Final = re.compile(r"^(?:Caused by: |: )(?=(?:[a-z]\w*\.)+[\w$]+)", re.MULTILINE)
_NO_MESSAGE: Final = re.compile(
    r"^(?:\s+at |\s*\.\.\. \d+ more|={2,3} \w|(?:JVM|Driver|Full) stacktrace|\s*Suppressed: "
    r"|The above exception was |Caused by: )",
    re.MULTILINE,
)
"""Begins lines behind a message: frames of Java, plans, parts of SQL."""

_RAISED: Final = re.compile(r"((?:\w+\.)+[\w$]+|\w*(?:Error|Exception))(?:: |\s*$)(.*)", re.DOTALL)
_PYTHON_RAISED: Final = re.compile(r"((?:\w+\.)*\w+)(?:: |\s*$)(.*)", re.DOTALL)
_STATE: Final = re.compile(r"\s*SQLSTATE: [0-9A-Z]{5}\b")

_WITHOUT_VALUES: Final = re.compile(
    r"changewire\..*"
    r"|(?:.*\.)?(?:Analysis|Parse)Exception"
    r"|(?:.*\.)?(?:\w*(?:Connection|Dir(?:ectory)?|NotFound|Permission|Timeout|Import|Name"
    r"|Attribute)Error|OSError)"
    r"|(?:io\.delta|java\.(?:io|net|nio)|org\.apache\.(?:hadoop|iceberg|kafka|spark\.sql\.delta))\..*"
)
"""Kinds of errors that name places, tables, columns and types, and not what is in rows."""

_CONDITIONS_WITHOUT_VALUES: Final = re.compile(r"\[(?:_LEGACY_ERROR_TEMP_)?(?:DELTA|KAFKA)_")
_VALUES: Final = re.compile(r"(?<=\bwith values:).*", re.DOTALL)
_NAMED: Final = (
    r'"(?:spark\.[\w.]+|true|false|[A-Z]*(?:INT|BINARY|BOOLEAN|DATE|DOUBLE|FLOAT|STRING|TIMESTAMP'
    r'|VARIANT)|DECIMAL\([\d,]+\))"'
)
"""What Spark quotes and is no value: its settings and types."""

_QUOTED: Final = re.compile(
    rf"""(?!{_NAMED})(?:\bb|(?<!\w))(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
)
_NUMBER: Final = re.compile(r"(?<![\w.$-])[-+]?\d[\d.,]*\d(?!\w)")


class JavaCauseError(Exception):
    """An error of Spark whose text lacks Java's innermost cause; the text of this one is that."""


class Cause(NamedTuple):
    """What went wrong.

    Attributes:
        kind: Full name of the exception's class; empty if the text names none.
        message: Its message on one line, with all values that it has.
    """

    kind: str
    message: str

    def sentence(self, *, show_values: bool = False) -> str:
        """Return class and message, of 600 characters at most.

        Args:
            show_values: Whether quoted texts and numbers are shown in messages of errors that may
                be about the content of rows. Errors of changewire never hold such values.
        """
        name = self.kind.rpartition(".")[2]
        message = self.message if show_values else self._hidden()
        text = f"{name}: {message}" if name and message else name or message
        return text if len(text) <= LENGTH else f"{text[: LENGTH - 1]}…"

    def _hidden(self) -> str:
        is_whole = _WITHOUT_VALUES.fullmatch(self.kind)
        if is_whole or _CONDITIONS_WITHOUT_VALUES.match(self.message):
            return _VALUES.sub(f" {HIDDEN}", self.message)
        return _NUMBER.sub(HIDDEN, _QUOTED.sub(HIDDEN, self.message))


def innermost(text: str) -> Cause:
    """Return the innermost cause of an error.

    Args:
        text: The text of an error of Spark, and Java's stack trace behind it if there is one.
    """
    # An error that came while the first one was handled, as of a clean-up, says less than that one.
    first = text.partition(_WHILE_HANDLED)[0]
    _, traceback, tail = first.rpartition(_TRACEBACK)
    raised = _PYTHON_RAISED if traceback else _RAISED
    if traceback:
        tail = _without_frames(tail)
    if causes := list(_JAVA_CAUSE.finditer(tail)):
        raised, tail = _RAISED, tail[causes[-1].end() :]
    elif not traceback:
        tail = tail.partition(_ENDED)[2] or tail
    found = _parsed(tail, raised)
    is_carried = found.kind.endswith(f".{JavaCauseError.__name__}")
    return _parsed(found.message, _RAISED) if is_carried else found


def full_text(error: BaseException) -> str:
    """Return the text of an error of Spark, with Java's stack trace if it was captured."""
    return f"{error}\n{getattr(error, '_stackTrace', None) or ''}"


def hidden_cause(error: BaseException) -> str:
    """Return Java's innermost cause, as ``class: message``, if the text of an error lacks it."""
    stack = full_text(error)[len(str(error)) :]
    causes = list(_JAVA_CAUSE.finditer(stack))
    if not causes:
        return ""
    cause = _parsed(stack[causes[-1].end() :], _RAISED)
    has_cause = (cause.message or cause.kind) in " ".join(str(error).split())
    return "" if has_cause else ": ".join(filter(None, cause))


def _without_frames(traceback: str) -> str:
    """Return what a traceback ends with: its frames are indented."""
    lines = traceback.splitlines()
    end = next((n for n, line in enumerate(lines) if line and not line[0].isspace()), len(lines))
    return "\n".join(lines[end:])


def _parsed(text: str, pattern: re.Pattern[str]) -> Cause:
    end = _NO_MESSAGE.search(text)
    said = text[: end.start()] if end else text
    message = " ".join(_STATE.sub("", said).split())
    found = pattern.fullmatch(message)
    return Cause(found[1], found[2]) if found else Cause("", message)
