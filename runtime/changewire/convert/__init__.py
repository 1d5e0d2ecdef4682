"""Conversion between formats that have the same messages, and to older versions of a format."""

from changewire.convert.convert import CONVERSIONS, Version, convert, convert_key, in_version

__all__ = ["CONVERSIONS", "Version", "convert", "convert_key", "in_version"]
