"""Captured messages to a draft of the schema of their rows, which a person finishes."""

from changewire.infer.infer import Draft, Observer, infer
from changewire.infer.profile import TableError

__all__ = ["Draft", "Observer", "TableError", "infer"]
