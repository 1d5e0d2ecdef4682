"""Changewire into Delta tables without a JVM: messages go in, delta-rs writes log and tables.

```python
import changewire.delta as cwd

outcome = cwd.apply_changes(
    "topic.jsonl.gz",
    format="aerospike-json",
    log="/lake/log",
    target="/lake/tables/{database}/{table}",
)
print(outcome.counts.dead_letters, outcome.tables)
```
"""

from changewire.extras import install

try:
    from changewire.engines.merge.adopt import adopt_table
    from changewire.engines.merge.apply import apply_changes, apply_log
    from changewire.engines.merge.close import close_dead_letters
    from changewire.engines.merge.rebuild import rebuild
    from changewire.engines.merge.replay import replay
    from changewire.engines.merge.verify import verify
    from changewire.engines.stream.run import stream
except ImportError as _error:
    raise ImportError(f"changewire.delta needs deltalake: {install('delta')}") from _error

from changewire.engines.applied import Replayed
from changewire.engines.arrow.messages import Messages
from changewire.engines.counts import ConservationError
from changewire.engines.errors import (
    ConflictError,
    KeysMissingError,
    OutputError,
    OwnerError,
    StreamError,
    TooManyDeadLettersError,
)
from changewire.engines.kafka_options import KafkaOptionsError, KafkaSourceError
from changewire.engines.options import ApplyKeywords, TableKeywords
from changewire.engines.outcome import Outcome
from changewire.engines.settings import TableSettings
from changewire.engines.stream.options import StreamKeywords
from changewire.engines.typed.schemas import ArrowSchema, RowSchema

__all__ = [
    "ApplyKeywords",
    "ArrowSchema",
    "ConflictError",
    "ConservationError",
    "KafkaOptionsError",
    "KafkaSourceError",
    "KeysMissingError",
    "Messages",
    "Outcome",
    "OutputError",
    "OwnerError",
    "Replayed",
    "RowSchema",
    "StreamError",
    "StreamKeywords",
    "TableKeywords",
    "TableSettings",
    "TooManyDeadLettersError",
    "adopt_table",
    "apply_changes",
    "apply_log",
    "close_dead_letters",
    "rebuild",
    "replay",
    "stream",
    "verify",
]
