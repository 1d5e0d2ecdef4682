"""Changewire in Spark: topics go in, a log and tables come out.

```python
import changewire.spark as cws

query = cws.apply_changes(
    cws.read_kafka(spark, {"kafka.bootstrap.servers": "broker:9092", "subscribe": "customers"}),
    format="aerospike-json",
    log="/lake/customers/log",
    target="/lake/customers/{table}",
    checkpoint="/lake/customers/checkpoint",
)
cws.await_termination(query)
cws.dead_letters(spark, "/lake/customers/log").select("code", "pointer", "message").show()
```
"""

from changewire.engines.applied import Replayed
from changewire.engines.counts import ConservationError
from changewire.engines.errors import (
    CheckpointError,
    ConflictError,
    KeysMissingError,
    OutputError,
    OwnerError,
    StreamError,
    TooManyDeadLettersError,
)
from changewire.engines.options import ApplyKeywords, KafkaOptions
from changewire.engines.settings import TableSettings
from changewire.extras import install

try:
    from changewire.engines.kafka_options import KafkaOptionsError, KafkaSourceError
    from changewire.engines.spark.decode import DecodedFrames, RowsAs, decode
    from changewire.engines.spark.history.query import history
    from changewire.engines.spark.history.trace import trace
    from changewire.engines.spark.kafka.read import read_kafka
    from changewire.engines.spark.log.close import close_dead_letters
    from changewire.engines.spark.log.land import land
    from changewire.engines.spark.log.rows import dead_letters, refused, unapplied
    from changewire.engines.spark.log.write import write
    from changewire.engines.spark.merge.adopt import adopt_table
    from changewire.engines.spark.merge.current import current
    from changewire.engines.spark.merge.purge import purge
    from changewire.engines.spark.merge.query import apply_changes, apply_log
    from changewire.engines.spark.merge.rebuild import rebuild
    from changewire.engines.spark.merge.replay import replay
    from changewire.engines.spark.merge.verify import verify
    from changewire.engines.spark.messages import MessageFrames, message_type, messages
    from changewire.engines.spark.read import read_files, stream_files
    from changewire.engines.spark.schemas import schemas
    from changewire.engines.spark.session import session
    from changewire.engines.spark.stream.ending import await_termination
    from changewire.engines.spark.stream.queries import TableQueries
    from changewire.engines.spark.types import row_type
    from changewire.engines.typed.schemas import ArrowSchema, RowSchema
    from changewire.tables.history import History, Step, StepRefusal
except ImportError as _error:
    raise ImportError(f"changewire.spark needs PySpark: {install('spark')}") from _error

__all__ = [
    "ApplyKeywords",
    "ArrowSchema",
    "CheckpointError",
    "ConflictError",
    "ConservationError",
    "DecodedFrames",
    "History",
    "KafkaOptions",
    "KafkaOptionsError",
    "KafkaSourceError",
    "KeysMissingError",
    "MessageFrames",
    "OutputError",
    "OwnerError",
    "Replayed",
    "RowSchema",
    "RowsAs",
    "Step",
    "StepRefusal",
    "StreamError",
    "TableQueries",
    "TableSettings",
    "TooManyDeadLettersError",
    "adopt_table",
    "apply_changes",
    "apply_log",
    "await_termination",
    "close_dead_letters",
    "current",
    "dead_letters",
    "decode",
    "history",
    "land",
    "message_type",
    "messages",
    "purge",
    "read_files",
    "read_kafka",
    "rebuild",
    "refused",
    "replay",
    "row_type",
    "schemas",
    "session",
    "stream_files",
    "trace",
    "unapplied",
    "verify",
    "write",
]
