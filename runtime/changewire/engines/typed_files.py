"""How the messages of files come into tables with columns of a type, in words."""

from typing import Final

BY_STREAM: Final = (
    "read the files as a stream of Spark, as docs/how-to/typed-rows.md does: "
    "changewire.spark.apply_changes(spark.readStream.text(FOLDER), rows=...)"
)
"""What works; each engine that cannot do it says this, and names no other engine."""
