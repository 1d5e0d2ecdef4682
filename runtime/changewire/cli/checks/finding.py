"""What a check of the installation found."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Status: TypeAlias = Literal["ok", "untested", "missing", "unfit"]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Something that changewire can use.

    Attributes:
        name: What was looked for.
        status: Whether it is there: in a version that was run, in another one that should do, not
            at all, or in one that will not do.
        found: Its version; None where it is not there.
        needed_for: What does not work without it.
        is_required: Whether the exit code tells that it is missing or unfit.
        advice: What to do; empty where nothing is.
    """

    name: str
    status: Status = "ok"
    found: str | None = None
    needed_for: str = "everything"
    is_required: bool = False
    advice: str = ""

    @property
    def is_lacking(self) -> bool:
        """Whether what needs it will not work."""
        return self.status in {"missing", "unfit"}
