"""The commands, one to a module."""

from __future__ import annotations

from changewire.cli.commands.changes import changes
from changewire.cli.commands.convert import convert
from changewire.cli.commands.decode import decode
from changewire.cli.commands.detect import detect
from changewire.cli.commands.doctor import doctor
from changewire.cli.commands.encode import encode
from changewire.cli.commands.explain import explain
from changewire.cli.commands.formats import formats
from changewire.cli.commands.generate import generate
from changewire.cli.commands.infer import infer
from changewire.cli.commands.replay import replay
from changewire.cli.commands.run import run
from changewire.cli.commands.schemas import schemas
from changewire.cli.commands.trace import trace
from changewire.cli.commands.validate import validate

__all__ = [
    "changes",
    "convert",
    "decode",
    "detect",
    "doctor",
    "encode",
    "explain",
    "formats",
    "generate",
    "infer",
    "replay",
    "run",
    "schemas",
    "trace",
    "validate",
]
