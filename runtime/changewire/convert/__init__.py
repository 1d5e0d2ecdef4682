"""Conversion between formats that hold the same messages, and to older versions of a format."""

from changewire.convert.convert import CONVERSIONS, Version, convert, convert_key, in_version

__all__ = ["CONVERSIONS", "Version", "convert", "convert_key", "in_version"]
