"""Rows of JSON text that fit a type, with what their changes do to rows: the column ``effects``."""

from __future__ import annotations

from functools import cached_property

from changewire.engines.effects import EffectsDecoder
from changewire.engines.native import Kernel, kernel_of
from changewire.engines.typed.decode import TypedDecoder


class CheckedEffectsDecoder(EffectsDecoder, TypedDecoder):
    """Decodes into rows of JSON text, and refuses elements whose rows do not fit a type."""

    is_only_checked = True

    @cached_property
    def kernel(self) -> Kernel | None:
        """What decodes most messages quickly; None if there is no such, or not for these rows."""
        return kernel_of(self.decode_options, effects=True, row=self._kernel_row())


class LeanCheckedEffectsDecoder(CheckedEffectsDecoder):
    """Refuses elements in the same way, and keeps the messages of dead letters only."""

    all_have_values = False
