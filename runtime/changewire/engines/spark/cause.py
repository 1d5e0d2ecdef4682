"""The innermost cause of an error of Spark, by its text: tracebacks of Python in those of Java."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from itertools import dropwhile
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from pyspark.errors import PySparkException

from changewire.engines.interrupts import check_interrupt, printed
from changewire.engines.kafka_options import HIDDEN, hidden
from changewire.engines.spark.jvm import RAISED
from changewire.engines.spark.python import advice
from changewire.version import VERSION

LENGTH: Final = 600
"""Characters of a sentence at most."""

FILE: Final = "failure.txt"
"""Name of the file with the whole traceback, in the output folder of a run."""

FILE_LENGTH: Final = 1_000_000
"""Characters of the file at most; a plan of Spark in it may be of any length."""

GONE: Final = re.compile(
    r"DELTA_MISSING_FILES_UNEXPECTED_VERSION|DELTA_VERSION_NOT_FOUND"
    r"|FAILED_READ_FILE\.FILE_NOT_EXIST|the snapshot was expired or removed|Cannot find snapshot"
)
"""The text of an error of Delta, Spark or Iceberg about rows or versions that were cleaned up."""

_NOT_STARTED: Final = "[JAVA_GATEWAY_EXITED]"

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
"""Words that Spark quotes and that are not values: its settings and types."""

_QUOTED: Final = re.compile(
    rf"""(?!{_NAMED})(?:\bb|(?<!\w))(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
)
_NUMBER: Final = re.compile(r"(?<![\w.$-])[-+]?\d[\d.,]*\d(?!\w)")

_INTERRUPTION: Final = re.compile(
    r"java\.(?:lang\.Interrupted|io\.InterruptedIO|nio\.channels\.ClosedByInterrupt)Exception"
)
_PY4J_TEXT: Final = "py4j.protocol.Py4JJavaError: An error occurred while calling a batch: {}"
"""What ``StreamExecution.isInterruptionException`` of Spark looks for in a text of an error."""

_LOST: Final = "CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND"
"""Spark's error condition for rows of `DataFrame.localCheckpoint` whose executor is gone."""

_TRIES: Final = 4
"""How often a batch is tried, as Spark does with a task (``spark.task.maxFailures``)."""

_OTHER_PYTHON: Final = re.compile(
    r"ModuleNotFoundError: No module named '(?:changewire\w*|msgspec|pyarrow|pandas|pyspark)\b"
    r"|\[PYTHON_VERSION_MISMATCH\]"
)
"""Errors of workers whose Python is not that of the driver."""

_Result = TypeVar("_Result")


class JavaCauseError(Exception):
    """An error of Spark whose text lacks Java's innermost cause; the text of this one is that."""


class InterruptedBatchError(Exception):
    """A batch did not end, because its query was stopped; the next run retries it."""


class Cause(NamedTuple):
    """What went wrong: class of the exception if the text names one, and message, on one line."""

    kind: str
    message: str

    def sentence(self, *, show_values: bool = False) -> str:
        """Return class and message; what may be a value of a row is hidden by default."""
        message = self.message
        is_whole = _WITHOUT_VALUES.fullmatch(self.kind) or _CONDITIONS_WITHOUT_VALUES.match(message)
        if not show_values and is_whole:
            message = _VALUES.sub(f" {HIDDEN}", message)
        elif not show_values:
            message = _NUMBER.sub(HIDDEN, _QUOTED.sub(HIDDEN, message))
        text = ": ".join(filter(None, (self.kind.rpartition(".")[2], message)))
        return text if len(text) <= LENGTH else f"{text[: LENGTH - 1]}…"


def innermost(text: str) -> Cause:
    """Return the innermost cause by the text of an error of Spark, and Java's stack behind it."""
    # An error that came while the first one was handled, as of a clean-up, says less than that one.
    first = text.partition(_WHILE_HANDLED)[0]
    _, traceback, tail = first.rpartition(_TRACEBACK)
    raised = _PYTHON_RAISED if traceback else _RAISED
    if traceback:  # what it ends with: its frames are indented
        tail = "\n".join(dropwhile(lambda line: not line[:1].strip(), tail.splitlines()))
    if causes := list(_JAVA_CAUSE.finditer(tail)):
        raised, tail = _RAISED, tail[causes[-1].end() :]
    elif not traceback:
        tail = tail.partition(_ENDED)[2] or tail
    found = _parsed(tail, raised)
    is_carried = found.kind.endswith(f".{JavaCauseError.__name__}")
    found = _parsed(found.message, _RAISED) if is_carried else found
    if _OTHER_PYTHON.search(": ".join(found)):
        text = f"workers run another Python than this one ({': '.join(filter(None, found))})"
        return Cause("ImportError", f"{text}; {advice()}")
    return found


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


def _parsed(text: str, pattern: re.Pattern[str]) -> Cause:
    end = _NO_MESSAGE.search(text)
    said = text[: end.start()] if end else text
    message = " ".join(_STATE.sub("", said).split())
    found = pattern.fullmatch(message)
    return Cause(found[1], found[2]) if found else Cause("", message)


@contextmanager
def named_errors() -> Generator[None, None, None]:
    """Name Java's cause in an error of a batch, of which Spark hands on the text alone.

    Spark (4.0.1) finds an interruption by a regular expression, whose stack overflows on a text as
    long as Java's trace: then a stopped query ends as if it had failed.
    """
    try:
        yield
    except Exception as error:
        interruption = _INTERRUPTION.search(str(error))
        if interruption is not None:
            raise InterruptedBatchError(_PY4J_TEXT.format(interruption[0])) from None
        cause = hidden_cause(error)
        if cause:
            raise JavaCauseError(cause) from error
        raise


def repeated_if_lost(write: Callable[[], _Result]) -> _Result:
    """Write a batch, again if an executor is lost that had a local checkpoint."""
    for _ in range(_TRIES - 1):
        try:
            return write()
        except RAISED as error:  # noqa: PERF203 - there are few tries
            if _LOST not in full_text(error):
                raise
    return write()


def failure(
    what: str,
    error: Exception,
    folder: str,
    options: Mapping[str, str],
    *,
    show_values: bool = False,
) -> str:
    """Return what failed and why, and write the traceback to a folder, without secrets."""
    check_interrupt()
    origin = error.__cause__ if isinstance(error.__cause__, PySparkException) else error
    text = full_text(origin)
    sentence = innermost(text).sentence(show_values=show_values).rstrip(".")
    where = printed()
    if _NOT_STARTED in text:
        place = "above" if where is None else f"in {where}"
        sentence += f". Spark says {place} why it did not start, such as missing jars"
    python = "".join(traceback.format_exception(origin))
    java = text[len(str(origin)) :]
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    content = f"{now} changewire {VERSION}: {what}\n\n{python}{java}"
    file = Path(folder, FILE)
    written = f"The whole traceback is in {file}"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        file.touch(mode=0o600)
        kept = hidden(content, options)[:FILE_LENGTH]
        file.write_text(kept, encoding="utf-8", errors="backslashreplace")
    except OSError as os_error:
        written = f"The whole traceback could not be written to {file}: {os_error.strerror}"
    if where is not None:
        written += f", what Spark printed in {where}"
    return f"{what}: {hidden(sentence, options)}. {written}"
