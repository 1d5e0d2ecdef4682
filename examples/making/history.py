"""What happens to the rows of the examples in two days, as the connector tells it."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from random import Random
from typing import Final

from examples.making.rows import SETS, Json, base64

START: Final = 1_767_225_600_000
"""The first of January 2026, in milliseconds."""

_SPAN: Final = 2 * 86_400_000
_NEWER_PRODUCER: Final = 0.9
"""From here on the producer is a newer one, which adds a property to every write."""


def history(rng: Random, name: str, count: int) -> Iterator[Json]:
    """Yield messages of a set: rows are written, changed a few times, and some of them deleted."""
    namespace, bins = SETS[name]
    generations: dict[int, int] = {}
    for i in range(count):
        lut = START + i * _SPAN // count + rng.randrange(30_000)
        number = rng.randrange(count // 2)
        generations[number] = generations.get(number, 0) + 1
        if generations[number] > 1 and rng.randrange(5) == 0:
            key = [namespace, name, digest(name, number), number]
            yield _delete(rng, key, generations.pop(number), lut)
        else:
            user_key = rng.choice((None, number, f"{name}-{number}"))
            key = [namespace, name, digest(name, number), user_key]
            version = _version(rng, namespace, generations[number], lut)
            write = {"msg": "write", "key": key, **version, "bins": bins(rng, number)}
            yield _with_oddities(rng, write, i / count)


def with_batches(rng: Random, messages: Iterator[Json]) -> Iterator[Json | list[Json]]:
    """Yield messages, of which some come together as a batch."""
    for message in messages:
        more = rng.randrange(1, 6) if rng.randrange(20) == 0 else 0
        batch = [message, *(m for _, m in zip(range(more), messages, strict=False))]
        yield batch if more else message


def digest(name: str, number: int) -> str:
    """Return twenty bytes that name a row; the server's RIPEMD-160 is not in every Python."""
    return base64(blake2b(f"{name}/{number}".encode(), digest_size=20).digest())


def _version(rng: Random, namespace: str, gen: int, lut: int) -> Json:
    """Return generation, expiry and update time: always there in the shop, often not in iot."""
    version = {"gen": gen, "exp": rng.choice((0, 0, lut // 1000 + 86_400)), "lut": lut}
    if namespace == "shop":
        return version
    return {name: rng.choice((value, value, value, 0, None)) for name, value in version.items()}


def _delete(rng: Random, key: Sequence[object], gen: int, lut: int) -> Json:
    """Return a delete as one of the connector's versions sends it; most name only the digest."""
    digest_only = [key[0], None, key[2], None]
    shapes: tuple[Json, ...] = (
        {"key": key, "durable": True, "gen": gen, "lut": lut},
        {"key": digest_only, "durable": True},
        {"key": digest_only},
        {"key": digest_only, "gen": gen, "exp": None, "lut": lut},
        {"key": digest_only, "durable": False, "gen": gen, "lut": lut},
        {"key": digest_only, "durable": True, "gen": gen, "lut": lut},
    )
    return {"msg": "delete", **rng.choice(shapes)}


def _with_oddities(rng: Random, message: Json, progress: float) -> Json:
    """Add to a message, now and then, what the format's document does not say."""
    if progress > _NEWER_PRODUCER:
        message["region"] = "eu-1"
    if rng.randrange(100) == 0 and message["gen"]:
        message["gen"] += 65_536
    if rng.randrange(100) == 0:
        message["exp"] = -1
    if rng.randrange(200) == 0:
        message["bins"][0]["written_by"] = {"app": "crm", "version": 3}
    return message
