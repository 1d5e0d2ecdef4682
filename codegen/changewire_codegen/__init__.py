"""The generator of changewire: JSON Schemas in the dialect of ``schemas/README.md`` to Python."""

from __future__ import annotations

from changewire_codegen.command import main as generate
from changewire_codegen.errors import SchemaError
from changewire_codegen.load import load
from changewire_codegen.render import render

__all__ = ["SchemaError", "generate", "load", "render"]
