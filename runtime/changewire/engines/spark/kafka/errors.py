"""Errors of topics that cannot be read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

SHOWN: Final = re.compile(
    r"assign|endingoffsets|startingoffsets|subscribe|subscribepattern|kafka\.bootstrap\.servers"
    r"|.*\.(?:location|mechanism|ms|protocol)"
)
"""Names of options whose values may stand in an error; of any other the value is hidden."""

HIDDEN: Final = "[hidden]"
"""What stands in place of a value, as in Kafka's own logs."""

_PARTS: Final = re.compile(r"""["']([^"']+)["']|=\s*([^\s;"']+)""")
_SHORT: Final = 4
_PLAIN: Final = frozenset({"true", "false"})
_REASON_LENGTH: Final = 600
_TRACE: Final = ("at ", "... ", "Driver stacktrace:", "Full stacktrace", "Suppressed: ")
"""Begins lines of a Java trace that say nothing about the reason."""


class KafkaSourceError(Exception):
    """Topics cannot be read; the text says why and what to do, and holds no secret."""


class KafkaOptionsError(KafkaSourceError, ValueError):
    """Options do not say what to read, or where."""


def hidden(text: str, options: Mapping[str, str]) -> str:
    """Return a text without the values of options that may be secret.

    A value may hold several secrets, as ``kafka.sasl.jaas.config`` does, or be a key of many lines,
    so each line, and what is quoted or behind ``=``, is hidden by itself too. Values of under 4
    characters are left: they stand in many words, and no secret is so short.
    """
    values = {value for name, value in options.items() if not SHOWN.fullmatch(name.lower())}
    lines = {line.strip() for value in values for line in value.splitlines()}
    parts = {part for value in values for found in _PARTS.findall(value) for part in found}
    for value in sorted((values | lines | parts) - _PLAIN, key=len, reverse=True):
        if len(value) >= _SHORT:
            text = text.replace(value, HIDDEN)
    return text


def reason(error: object, options: Mapping[str, str]) -> str:
    """Return the first lines of what Spark says, on one line, without secrets."""
    lines = [line.strip() for line in hidden(str(error), options).splitlines()]
    return " ".join(line for line in lines if line and not line.startswith(_TRACE))[:_REASON_LENGTH]
