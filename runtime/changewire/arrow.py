"""Changewire for users of Arrow: pandas, Polars and DuckDB, without a JVM.

```python
import changewire.arrow as cwa

decoded = cwa.decode("topic.jsonl.gz", format="aerospike-json")
duckdb.sql("select op, count(*) from changes group by op")  # with changes = decoded.changes
changes, controls, dead_letters, counts = decoded.tables()
versions = cwa.history("output/", table="shop.users")  # of the log of a run
```
"""

from changewire.engines.counts import ConservationError
from changewire.extras import install

try:
    from changewire.engines.arrow.decode import decode, messages
    from changewire.engines.arrow.decoded import (
        DecodedStreams,
        MessageStreams,
        MessageTables,
        Stream,
        Tables,
    )
    from changewire.engines.arrow.messages import ArrowStream, Messages
    from changewire.engines.arrow.queries import (
        current,
        dead_letters,
        history,
        refused,
        trace,
        unapplied,
    )
    from changewire.engines.changelog.source import ChangeLog
    from changewire.engines.messages import message_type
    from changewire.engines.typed.schemas import RowsAs
    from changewire.tables.history import History, Step, StepRefusal
except ImportError as _error:
    raise ImportError(f"changewire.arrow needs pyarrow: {install('arrow')}") from _error

__all__ = [
    "ArrowStream",
    "ChangeLog",
    "ConservationError",
    "DecodedStreams",
    "History",
    "MessageStreams",
    "MessageTables",
    "Messages",
    "RowsAs",
    "Step",
    "StepRefusal",
    "Stream",
    "Tables",
    "current",
    "dead_letters",
    "decode",
    "history",
    "message_type",
    "messages",
    "refused",
    "trace",
    "unapplied",
]
