"""Which model a message is."""

from collections.abc import Mapping
from typing import Any, Final

from tests.standin import Delete, Write

PREFIX_SIZE: Final = 4
ARMS: Final[Mapping[bytes, type]] = {
    b"\x93\x01\x01\x93": Write,
    b"\x93\x01\x02\x92": Delete,
}
_BY_CONSTANTS: Final = {(1, 1, 3): Write, (1, 2, 2): Delete}


def arm_of(obj: Any) -> type | None:
    """Return the model of a parsed message; None where there is none."""
    if type(obj) is not list or len(obj) != 3 or type(obj[2]) is not list:
        return None
    version, kind, row = obj
    if type(version) is not int or type(kind) is not int:
        return None
    return _BY_CONSTANTS.get((version, kind, len(row)))
