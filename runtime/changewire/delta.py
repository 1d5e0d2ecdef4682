"""Changewire into Delta tables without a JVM: messages go in, tables are merged into by delta-rs.

```python
import changewire.delta as cwd

outcome = cwd.apply_changes(
    "topic.jsonl.gz",
    format="aerospike-json",
    target="/lake/{database}/{table}",
    output="/lake/ops/run",
    checkpoint="/lake/ops/checkpoint",
)
print(outcome.counts.dead_letters, outcome.tables)
```
"""

from changewire.extras import install

try:
    from changewire.engines.delta import apply_changes, vacuum
except ImportError as error:
    raise ImportError(f"changewire.delta needs deltalake: {install('delta')}") from error

from changewire.engines.arrow.messages import Messages
from changewire.engines.errors import ConflictError, KeysMissingError, OutputError, StreamError
from changewire.engines.outcome import Outcome
from changewire.engines.typed.schemas import ArrowSchema, RowSchema

__all__ = [
    "ArrowSchema",
    "ConflictError",
    "KeysMissingError",
    "Messages",
    "Outcome",
    "OutputError",
    "RowSchema",
    "StreamError",
    "apply_changes",
    "vacuum",
]
