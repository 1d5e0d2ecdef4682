"""What a conversion loses or cannot carry over: noted on the way, reported at its end."""

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Any, Final

from msgspec import UNSET

from changewire.codec import EncodeError, Issue
from changewire.codec.msgpack_values import pointer_of
from changewire_messages.support import Path

LOSSES: Final[Mapping[str, str]] = {
    "bin-type": "a bin whose value shows its type (that is left out)",
    "bytes": "no bytes in a list or a map (they become Base64 text)",
    "durable": "true or false (absent becomes false)",
    "ext": "no extension type but that of GeoJSON (it becomes Base64 text)",
    "flags": "flags that JSON has a property for (others are left out)",
    "geojson": "GeoJSON that is a JSON object (it becomes text)",
    "map-key": "a key that is text (it becomes text)",
    "non-finite": "a finite number (it becomes text)",
    "order": "a list or a map without order (that is left out)",
    "particle-type": "a particle type that JSON has a word for (it becomes blob)",
    "unknown-property": "no property or position that the schema does not name (it is left out)",
    "user-key": "a user key that is not bytes (it becomes Base64 text)",
}
"""Every loss by its rule, with what would have none."""

_MOST_ISSUES: Final = 1000
"""Issues that an error lists at most; a hostile message has as many as it likes."""


class Report:
    """Collects losses and rejections of one conversion; all places are in the source."""

    def __init__(self) -> None:
        self._losses: list[tuple[Path, str, Any]] = []
        self._refusals: list[tuple[Path, str, str, Any]] = []

    def lose(self, rule: str, at: Path, actual: object = UNSET) -> None:
        """Note that a value is not carried over as it is; the rule is a key of `LOSSES`."""
        self._losses.append((at, rule, actual))

    def refuse(self, code: str, at: Path, expected: str, actual: object) -> None:
        """Note that a value cannot be carried over at all."""
        self._refusals.append((at, code, expected, actual))

    def losses(self) -> Iterator[Issue]:
        """Yield each loss, with the code ``lossy``."""
        for at, rule, actual in self._losses:
            yield Issue(pointer_of(at), "lossy", rule, LOSSES[rule], actual)

    def check(self, target: str, *, lossy: bool) -> None:
        """Raise if there is a rejection, or a loss that was not allowed."""
        refusals = (
            Issue(pointer_of(at), code, "convert", expected, actual)
            for at, code, expected, actual in self._refusals
        )
        found = chain(refusals, () if lossy else self.losses())
        issues = list(islice(found, _MOST_ISSUES))
        if issues:
            raise EncodeError(target, issues)


def lose_unknown(model: Any, at: Path, report: Report) -> None:
    """Note the properties, or positions, that the schema of the source does not name."""
    for pointer, value in () if model.extra is UNSET else model.extra.items():
        place = at
        for token in pointer.split("/")[1:]:
            place = (place, token.replace("~1", "/").replace("~0", "~"))
        report.lose("unknown-property", place, value)
