"""Changewire in Spark: a DataFrame of messages goes in, changes and dead letters come out.

```python
import changewire.spark as cws

decoded = cws.decode(messages, format="aerospike-json")
decoded.changes.show()
decoded.dead_letters.select("code", "pointer", "message").show()
cws.write(decoded, "/lake/customers")
```
"""

from changewire.engines.errors import (
    CheckpointError,
    ConflictError,
    KeysMissingError,
    OutputError,
    StreamError,
    TooManyDeadLettersError,
)
from changewire.engines.options import KafkaOptions
from changewire.extras import install

try:
    from changewire.engines.spark.apply import Replayed, adopt, apply_changes, replay, vacuum
    from changewire.engines.spark.apply.history.query import history
    from changewire.engines.spark.decode import DecodedFrames, RowsAs, decode
    from changewire.engines.spark.kafka.errors import KafkaSourceError
    from changewire.engines.spark.kafka.read import read_kafka
    from changewire.engines.spark.messages import MessageFrames, message_type, messages
    from changewire.engines.spark.row_type import row_type
    from changewire.engines.spark.run import read_files, run
    from changewire.engines.spark.schemas import schemas
    from changewire.engines.spark.session import session
    from changewire.engines.spark.stream.ending import await_end
    from changewire.engines.spark.stream.query import write_stream
    from changewire.engines.spark.write import write
    from changewire.engines.typed.schemas import ArrowSchema, RowSchema
except ImportError as error:
    raise ImportError(f"changewire.spark needs PySpark: {install('spark')}") from error

__all__ = [
    "ArrowSchema",
    "CheckpointError",
    "ConflictError",
    "DecodedFrames",
    "KafkaOptions",
    "KafkaSourceError",
    "KeysMissingError",
    "MessageFrames",
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
    "history",
    "message_type",
    "messages",
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
