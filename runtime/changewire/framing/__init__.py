"""One reader for every input shape: files and standard input become records.

Framing finds where each message begins and ends, and never reads its content.
"""

from changewire.framing.expand import expand
from changewire.framing.record import FramingError, Position, Record
from changewire.framing.shapes import SHAPES, read

__all__ = ["SHAPES", "FramingError", "Position", "Record", "expand", "read"]
