"""The digest of a record is the one that Aerospike's own clients compute."""

import base64
import struct
import sys
from typing import Any

import pytest
from Crypto.Hash import RIPEMD160
from hypothesis import given
from hypothesis import strategies as st

import changewire as cw

INTEGERS = {
    -(2**63): "7185c2a47fb02c996daed26b4e01b83240aee9d4",
    -(2**31): "d635a867b755f8f54cdc6275e6fb437df82a728c",
    -(2**15): "7f41e9dd1f3fe3694be0430e04c8bfc7d51ec2af",
    -128: "93191e549f8f3548d7e2cfc958ddc8c65bcbe4c6",
    -1: "22116d253745e29fc63fdf760b6e26f7e197e01d",
    0: "93d943aae37b017ad7e011b0c1d2e2143c2fb37d",
    1: "82d7213b469812947c109a6d341e3b5b1dedec1f",
    127: "a58f7d98bf60e10fe369c82030b1c9dee053def9",
    255: "5a7dd3ea237c30c8735b051524e66fd401a10f6a",
    2**15 - 1: "309fc9c2619c4f65ff7f4cd82085c3ee7a31fc7c",
    2**16 - 1: "3f0dd44352749a9fd5b7ec44213441ef54c46d57",
    2**31 - 1: "fa8c47b8b898af1bbcb20af0d729ca68359a2645",
    2**32 - 1: "2cdf52bf5641027042b9cf9a499e509a58b330e2",
    2**63 - 1: "1698328974afa62c8e069860c1516f780d63dbb8",
}
"""Digests of integer keys, from the tests of Aerospike's Python and Go clients."""

TEXTS = {
    "": "2819b1ff6e346a43b4f5f6b77a88bc3eaac22a83",
    "s": "607cddba7cd111745ef0a3d783d57f0e83c8f311",
    "a" * 10: "5979fb32a80da070ff356f7695455592272e36c2",
    "m" * 100: "f00ad7dbcb4bd8122d9681bca49b8c2ffd4beeed",
    "t" * 1000: "07ac412d4c33b8628ab147b8db244ce44ae527f8",
    "-" * 10000: "b42e64afbfccb05912a609179228d9249ea1c1a0",
    "+" * 100000: "0a3e888c20bb8958537ddd4ba835e4070bd51740",
    "someValue": "fd70ae4e48c2cfa71b37cfcf05d0ae75f46796c7",
}
"""Digests of text keys, from the tests of the same clients and of the one for PHP."""

BLOBS = {
    b"": "327e2877b8815c7aeede0d5a8620d4ef8df4a4b4",
    b"s": "ca2d96dc9a184d15a7fa2927565e844e9254e001",
    b"a" * 10: "d10982327b2b04c7360579f252e164a75f83cd99",
    b"m" * 100: "475786aa4ee664532a7d1ea69cb02e4695fcdeed",
    b"t" * 1000: "5a32b507518a49bf47fdaa3deca53803f5b2e8c3",
    b"-" * 10000: "ed65c63f7a1f8c6697eb3894b6409a95461fd982",
    b"+" * 100000: "fe19770c371774ba1a1532438d4851b8a773a9e6",
}
"""Digests of keys of bytes, from the tests of the same clients."""

VECTORS: list[tuple[Any, str]] = [*INTEGERS.items(), *TEXTS.items(), *BLOBS.items()]


@pytest.mark.parametrize(("user_key", "expected"), VECTORS, ids=range(len(VECTORS)))
def test_published_digests(user_key: Any, expected: str) -> None:
    """Integers, texts and bytes in a set named `set` have the digests that clients publish."""
    assert cw.digest("set", user_key).hex() == expected


def test_the_key_of_the_format_document() -> None:
    """The digest that the format document shows is the one of the integer 0 in a set `set`."""
    assert base64.b64encode(cw.digest("set", 0)) == b"k9lDquN7AXrX4BGwwdLiFDwvs30="


@pytest.mark.parametrize("no_set", [None, ""])
def test_a_record_may_be_in_no_set(no_set: str | None) -> None:
    """No set hashes as an empty name, as the Python client publishes it."""
    assert cw.digest(no_set, 1).hex() == "a443f05d05d962202b59abb402afae1737dbf66a"


@given(st.floats())
def test_floats_are_hashed_as_binary64(user_key: float) -> None:
    """A float counts with its type byte and its 8 bytes, not-a-number and infinities too."""
    hashed = b"set\x02" + struct.pack(">d", user_key)
    assert cw.digest("set", user_key) == RIPEMD160.new(hashed).digest()


@pytest.mark.parametrize(
    "user_key", [True, None, 2**63, -(2**63) - 1, [1], {}, bytearray(b"s"), "\ud800"]
)
def test_what_is_no_key_is_refused(user_key: Any) -> None:
    """A boolean, a list or an integer beyond 64 bits cannot be a key on any server."""
    with pytest.raises(ValueError, match=r"user key|surrogates"):
        cw.digest("set", user_key)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra, the error says what to install."""
    monkeypatch.setitem(sys.modules, "Crypto.Hash", None)
    with pytest.raises(ImportError, match=r'pip install "\./changewire\[digest\]"'):
        cw.digest("set", 1)
