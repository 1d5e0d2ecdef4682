"""The report of an error of Spark that nothing else explains: its cause, and where the rest is."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Final

from pyspark.errors import PySparkException

from changewire.engines.interrupts import check_interrupt
from changewire.engines.spark.cause import full_text, innermost
from changewire.engines.spark.kafka.options import hidden
from changewire.version import VERSION

FILE: Final = "failure.txt"
"""Name of the file with the whole traceback, in the output folder of a run."""

_NOT_STARTED: Final = "[JAVA_GATEWAY_EXITED]"

LENGTH: Final = 1_000_000
"""Characters of the file at most; a plan of Spark in it may be of any length."""


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
    if _NOT_STARTED in text:
        sentence += ". Spark says above why it did not start, such as jars that cannot be fetched"
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
        kept = hidden(content, options)[:LENGTH]
        file.write_text(kept, encoding="utf-8", errors="backslashreplace")
    except OSError as os_error:
        written = f"The whole traceback could not be written to {file}: {os_error.strerror}"
    return f"{what}: {hidden(sentence, options)}. {written}"
