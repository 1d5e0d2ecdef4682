"""Decoding for who reads Arrow: record batches in, record batches out, one process, no JVM."""

from __future__ import annotations

from changewire.engines.arrow.decode import decode
from changewire.engines.arrow.decoded import Decoded, Stream, Tables
from changewire.engines.arrow.messages import ArrowStream, Messages
from changewire.engines.arrow.rows import RowsAs

__all__ = ["ArrowStream", "Decoded", "Messages", "RowsAs", "Stream", "Tables", "decode"]
