"""A message next to its schema: the meaning of each field and of its value."""

from changewire.explain.explained import Explanation, Stop, explain
from changewire.explain.walk import Field

__all__ = ["Explanation", "Field", "Stop", "explain"]
