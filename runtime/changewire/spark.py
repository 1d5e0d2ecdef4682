"""Changewire in Spark: a DataFrame of messages goes in, changes and dead letters come out.

```python
import changewire.spark as cws

decoded = cws.decode(messages, format="aerospike-json")
decoded.changes.show()
decoded.dead_letters.select("code", "pointer", "message").show()
cws.write(decoded, "/lake/customers")
```
"""

from __future__ import annotations

try:
    from changewire.engines.spark import (
        CheckpointError,
        ConflictError,
        Decoded,
        KafkaOptions,
        KafkaSourceError,
        KeysMissingError,
        OutputError,
        Replayed,
        RowsAs,
        RowSchema,
        StreamError,
        TooManyDeadLettersError,
        adopt,
        apply_changes,
        await_end,
        decode,
        pipelines,
        read_files,
        read_kafka,
        replay,
        row_type,
        run,
        schemas,
        session,
        vacuum,
        write,
        write_stream,
    )
except ImportError as error:
    raise ImportError('changewire.spark needs PySpark: pip install "changewire[spark]"') from error

__all__ = [
    "CheckpointError",
    "ConflictError",
    "Decoded",
    "KafkaOptions",
    "KafkaSourceError",
    "KeysMissingError",
    "OutputError",
    "Replayed",
    "RowSchema",
    "RowsAs",
    "StreamError",
    "TooManyDeadLettersError",
    "adopt",
    "apply_changes",
    "await_end",
    "decode",
    "pipelines",
    "read_files",
    "read_kafka",
    "replay",
    "row_type",
    "run",
    "schemas",
    "session",
    "vacuum",
    "write",
    "write_stream",
]
