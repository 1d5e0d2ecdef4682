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
        RowsAs,
        RowSchema,
        StreamError,
        TooManyDeadLettersError,
        apply_changes,
        await_end,
        decode,
        read_files,
        read_kafka,
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
    "RowSchema",
    "RowsAs",
    "StreamError",
    "TooManyDeadLettersError",
    "apply_changes",
    "await_end",
    "decode",
    "read_files",
    "read_kafka",
    "row_type",
    "run",
    "schemas",
    "session",
    "vacuum",
    "write",
    "write_stream",
]
