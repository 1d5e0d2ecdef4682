"""A message beside its schema: what each field is, and what its value says to a person."""

from changewire.explain.explained import Explanation, Stop, explain
from changewire.explain.walk import Field

__all__ = ["Explanation", "Field", "Stop", "explain"]
