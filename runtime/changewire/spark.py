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
        Decoded,
        KafkaOptions,
        KafkaSourceError,
        OutputError,
        RowsAs,
        RowSchema,
        StreamError,
        TooManyDeadLettersError,
        await_end,
        decode,
        pipelines,
        read_files,
        read_kafka,
        row_type,
        run,
        schemas,
        session,
        write,
        write_stream,
    )
except ImportError as error:
    raise ImportError('changewire.spark needs PySpark: pip install "changewire[spark]"') from error

__all__ = [
    "CheckpointError",
    "Decoded",
    "KafkaOptions",
    "KafkaSourceError",
    "OutputError",
    "RowSchema",
    "RowsAs",
    "StreamError",
    "TooManyDeadLettersError",
    "await_end",
    "decode",
    "pipelines",
    "read_files",
    "read_kafka",
    "row_type",
    "run",
    "schemas",
    "session",
    "write",
    "write_stream",
]
