"""The bins of the rows in the examples: a small shop and its devices."""

from base64 import b64encode
from collections.abc import Callable
from random import Random
from typing import Any, Final

Json = dict[str, Any]
Bins = Callable[[Random, int], list[Json]]

FIRST: Final = ("Ada", "Björn", "Chloé", "Dmitri", "Ebba", "Farid", "Grace", "Hiro", "Ines", "雷")
LAST: Final = ("Okafor", "Müller", "Silva", "Novak", "Tanaka", "O'Neil", "García", "Singh", "李")
WORDS: Final = ("red", "blue", "large", "small", "new", "sale", "gift", "b2b", "vip", "beta")
AGENTS: Final = ("Firefox/146", "Chrome/143", 'curl/8.17 "bot"')
STATES: Final = ("new", "paid", "packed", "shipped", "returned")


def base64(data: bytes) -> str:
    """Return bytes as the wire has them."""
    return b64encode(data).decode("ascii")


def a_bin(name: str, kind: str, value: object, **more: object) -> Json:
    """Return one bin."""
    return {"name": name, "type": kind, "value": value, **more}


def user(rng: Random, number: int) -> list[Json]:
    """Return the bins of a customer."""
    return [
        a_bin("name", "str", f"{rng.choice(FIRST)} {rng.choice(LAST)}"),
        a_bin("email", "str", f"customer{number}@mail.example"),
        a_bin("age", "int", rng.randrange(18, 90)),
        a_bin("premium", "bool", rng.random() < 0.2),  # noqa: PLR2004 - one in five
        a_bin("balance", "float", round(rng.uniform(-50, 900), 2)),
        a_bin("tags", "list", sorted({rng.choice(WORDS) for _ in range(3)}), ordered=True),
        a_bin("home", "geojson", _point(rng)),
    ]


def order(rng: Random, number: int) -> list[Json]:
    """Return the bins of an order."""
    items = [_item(rng) for _ in range(rng.randrange(1, 4))]
    cents = sum(item["n"] * item["cents"] for item in items)
    city = {"city": "Łódź", "zip": f"{rng.randrange(99999):05}", "lift": None}
    return [
        a_bin("order_id", "int", 7_000_000_000 + number),
        a_bin("status", "str", rng.choice(STATES)),
        a_bin("total", "float", cents / 100),
        a_bin("items", "list", items),
        a_bin("ship_to", "map", city, order="key"),
    ]


def session(rng: Random, number: int) -> list[Json]:
    """Return the bins of a web session."""
    pages = [f"/{rng.choice(WORDS)}/{rng.randrange(99)}" for _ in range(rng.randrange(1, 4))]
    return [
        a_bin("user", "int", rng.randrange(number + 1)),
        a_bin("agent", "str", rng.choice(AGENTS)),
        a_bin("pages", "list", pages),
        a_bin("token", "blob", base64(rng.randbytes(16))),
    ]


def device(rng: Random, number: int) -> list[Json]:
    """Return the bins of a device."""
    config = {"every": 60, "limits": [-5.5, 40], "on": True}
    return [
        a_bin("model", "str", f"TH-{number % 7}00"),
        a_bin("online", "bool", rng.random() < 0.9),  # noqa: PLR2004 - nine in ten
        a_bin("at", "geojson", _point(rng)),
        a_bin("config", "map", config, order="key-value"),
    ]


def reading(rng: Random, _number: int) -> list[Json]:
    """Return the bins of a measurement; a broken sensor measures NaN, a new one sends a sketch."""
    celsius = "NaN" if rng.randrange(40) == 0 else round(rng.uniform(-10, 35), 1)
    kind = "hll" if rng.randrange(30) == 0 else "int"
    return [
        a_bin("celsius", "float", celsius),
        a_bin("raw", "blob", base64(rng.randbytes(rng.randrange(24)))),
        a_bin("seen", kind, "AAEC" if kind == "hll" else rng.randrange(-3, 2**40)),
    ]


SETS: Final[dict[str, tuple[str, Bins]]] = {
    "users": ("shop", user),
    "orders": ("shop", order),
    "sessions": ("shop", session),
    "devices": ("iot", device),
    "readings": ("iot", reading),
}
"""Namespace and bins of each set."""


def _item(rng: Random) -> Json:
    sku = f"SKU-{rng.randrange(1000):03}"
    return {"sku": sku, "n": rng.randrange(1, 5), "cents": rng.randrange(99, 9999)}


def _point(rng: Random) -> Json:
    place = [round(rng.uniform(-9, 40), 5), round(rng.uniform(36, 60), 5)]
    return {"type": "Point", "coordinates": place}
