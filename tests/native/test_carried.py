"""The types that values of rows show: the kernel writes the text that Python writes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from tests.native.differential import needs_kernel
from tests.native.fit_texts import FITTING, ODD
from tests.runtime.codec.formats import thorough

from changewire.engines.carried import text_of_row
from changewire.engines.native import carried_of

pytestmark = needs_kernel

_USUAL = ("a", "A", "id", "type", "bins", "größe", "GRÖSSE", "e\u0301", "", " ", "a.b", "a/b~c")
_NAMES = (
    *_USUAL,
    *("é", '"', "\\", "\0", "a\nb", "\u2028", "😀", "NaN", "blob", '"type":1'),
    *("x" * 300, "x" * 299),
)
_VALUES = (*ODD, *(text for texts in FITTING.values() for text in texts))
_MORE = (
    *("null", "-0", "1E400", "-1e-400", "0.0", "9" * 400, "-9223372036854775809", "1.0e0"),
    *('"-NaN"', '"nan"', '"Infinity "', '"\\u004eaN"', '"inf"', '"null"', '"{"', "[NaN]"),
    *('{"b":{"":[null,{"a":-0}]}}', "[[],{}]", '[{"a":1,"a":2}]', "[" * 63 + "]" * 63),
)
_PLAIN = ("1", "-12", "1.5", '"a"', '"NaN"', "true", "null", '{"a":[1]}', "[]")
_TYPES: Sequence[Any] = (
    *("blob", "hll", "str", "list", "boolean", "", 0, 4, 23, 10**30),
    *(None, True, 1.5, [4], {"type": 4}),
)

Change = tuple[str | None, str | None]
"""A row and the attributes of its change."""


def changes(draw: Random, number: int) -> list[Change]:
    """Return rows of a log with their attributes: good ones, odd ones and broken ones."""
    return [(_row(draw), _attributes(draw)) for _ in range(number)]


def _row(draw: Random) -> str | None:
    if draw.random() < 0.05:
        return draw.choice((None, "", "null", "[]", "{", "{}", '"a"', "{}x", "{,}", '{"a":1,}'))
    is_plain = draw.random() < 0.6
    names = draw.sample(_USUAL, 3) if is_plain else draw.choices(_NAMES, k=draw.randint(0, 6))
    pool = _PLAIN if is_plain else draw.choice((_VALUES, _MORE))
    blank = draw.choice(("", "", "", " ", "\n\t", "\x0b"))
    members = (f"{_spelled(draw, name)}{blank}:{blank}{draw.choice(pool)}" for name in names)
    text = f"{blank}{{{blank}{','.join(members)}{blank}}}{blank}"
    return text.encode("utf-8", "replace").decode()


def _spelled(draw: Random, name: str) -> str:
    if draw.random() < 0.05:
        units = (f"\\u{ord(one):04x}" for one in name if ord(one) < 2**16)
        return f'"{"".join(units)}"'
    return json.dumps(name, ensure_ascii=draw.random() < 0.1)


def _attributes(draw: Random) -> str | None:
    """Return attributes as a log has them; few of them name bins."""
    if draw.random() < 0.3:
        return draw.choice((None, "{}", '{"bins":[]}', '{"bins":null}'))
    notes = {name: _note(draw) for name in draw.choices(_NAMES, k=draw.choice((0, 0, 1, 3)))}
    found: Mapping[str, Any] = {
        "bins": notes,
        **draw.choice(({}, {"type": "blob"}, {"user_key": '"type":4'}, {"x": {"type": 4}})),
    }
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))


def _note(draw: Random) -> Any:
    return draw.choice(({"type": draw.choice(_TYPES)}, {"type": "str"}, {}, [], None, "blob"))


def compared(found: Sequence[Change]) -> int:
    """Check that texts are the same without the kernel; return how many it made."""
    afters, attributes = (pa.array(column, pa.string()) for column in zip(*found, strict=True))
    made = carried_of(afters, attributes)
    assert made is not None
    made.validate(full=True)
    texts, declined = (column.to_pylist() for column in made.columns)
    for (after, notes), text, is_declined in zip(found, texts, declined, strict=True):
        if is_declined:
            assert text is None
        else:
            expected = None if after is None else text_of_row(after, notes)
            assert text == expected, (after, notes)
    return sum(not one for one in declined)


@thorough
@given(draw=st.randoms(use_true_random=False))
def test_drawn(draw: Random) -> None:
    """Any rows with any attributes have the same texts, or the kernel declines them."""
    compared(changes(draw, 20))


def test_most_are_made() -> None:
    """The kernel makes the texts of many drawn rows, so the comparison says something."""
    draw = Random(1)  # noqa: S311 - no secret
    assert compared(changes(draw, 20_000)) > 3_000


def test_many_columns() -> None:
    """So do rows of more columns than the kernel compares the names of."""
    rows = [json.dumps({f"c{n}": n for n in range(count)}) for count in (511, 512, 513, 1200)]
    assert compared([(row, None) for row in rows]) == 2
