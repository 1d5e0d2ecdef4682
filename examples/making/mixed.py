"""One topic that carries every format: a dump of it in Parquet, for values of any bytes."""

from itertools import chain
from random import Random
from typing import Final

from examples.making.aerospike_flat_json import records as flat_records
from examples.making.dataworks_json import items
from examples.making.history import history
from examples.making.lindorm_json import customers
from examples.making.packing import packed
from examples.making.shapes import among, keyed, parquet, text

EACH: Final = 40
"""Messages of each format."""

STRANGERS: Final = (b'{"event":"login","user":7}', b"hello", b"\x00\x00\x00\x00\x07avro", b"")
"""Messages that no format claims."""


def files() -> dict[str, bytes]:
    """Return the content of each file by its name."""
    rng = Random(20260105)  # noqa: S311 - made-up people, no secrets
    formats = (
        keyed("user", map(text, history(rng, "users", EACH))),
        keyed("order", map(packed, history(rng, "orders", EACH))),
        keyed("item", items(rng)),
        customers(rng),
        flat_records(history(rng, "devices", EACH), "metadata"),
    )
    records = list(chain.from_iterable(zip(*formats, strict=False)))
    others = [*keyed("stranger", STRANGERS), (b"a-tombstone", None)]
    return {"topic.parquet": parquet("cdc.all", among(records, others))}
