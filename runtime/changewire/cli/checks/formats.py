"""Formats that other packages bring."""

from __future__ import annotations

from changewire.cli.checks.finding import Finding
from changewire.codec.registry import unusable


def formats() -> list[Finding]:
    """Return those that cannot be used."""
    return [
        Finding(name=f"format {name}", status="unfit", needed_for=name, advice=fault)
        for name, fault in unusable().items()
    ]
