"""`encode` puts unknown properties and unknown bins back where they were, or refuses to."""

from collections.abc import Iterator
from typing import Any, cast

import pytest
from msgspec import structs

import changewire as cw
from changewire_messages import aerospike_json as aero
from changewire_messages.support import Extra, OpenTag

KEY = aero.Key("ns", "set", b"abcdefghijklmnopqrst", None)
CODEC = cw.codec("aerospike-json")


def write(*bins: Any, **fields: Any) -> aero.Write:
    """Return a write of bins."""
    given: dict[str, Any] = {"key": KEY, "gen": 1, "exp": 0, "lut": 5, "bins": list(bins), **fields}
    return aero.Write(**given)


def refusal(model: object) -> cw.Issue:
    """Return the only issue for which a model is refused."""
    with pytest.raises(cw.EncodeError) as caught:
        CODEC.encode(model)
    (issue,) = caught.value.issues
    return issue


@pytest.mark.parametrize(
    "pointer",
    [
        "",
        "new",
        "new/er",
        "/gen",
        "/msg",
        "/bins",
        "/bins/0",
        "/bins/0/value",
        "/bins/0/value/new",
        "/bins/0/type",
        "/bins/1/new",
        "/bins/-1/new",
        "/bins/00/new",
        "/bins/\u0660/new",
        f"/bins/{'1' * 5000}/new",
        "/bins/x/new",
        "/bins/new",
        "/key/new",
        "/key/4",
        "/no/such/place",
        "/gen/new",
    ],
)
def test_extra_that_leads_nowhere_or_to_what_is_there(pointer: str) -> None:
    """A property of `extra` whose place is taken, or is none, is refused by its pointer."""
    model = write(aero.MapBin(name="m", value={}), extra=Extra({pointer: 1}))
    issue = refusal(model)
    assert issue.code == "not-encodable"
    assert issue.pointer == pointer


@pytest.mark.parametrize("extra", [5, [1], "x", {"/a": {}, "/a/b": 1}, {1: 2}])
def test_extra_that_is_none(extra: Any) -> None:
    """What is no mapping of pointers to properties is refused as `extra`."""
    made = Extra(extra) if isinstance(extra, dict) else extra
    assert refusal(write(extra=made)).code == "not-encodable"


@pytest.mark.parametrize(
    "pointer", ["/new", "/bins/0/new", "/~0~1", "/", "/@extra", "/@x", "/durable"]
)
def test_extra_that_leads_to_a_new_place(pointer: str) -> None:
    """A property of `extra` that is new to an object of the message is sent, and comes back."""
    model = write(aero.IntBin(name="a", value=1), extra=Extra({pointer: {"x": [None]}}))
    assert CODEC.decode(CODEC.encode(model)) == model
    assert CODEC.decode_all(CODEC.encode([model, model])) == [model, model]


def test_unknown_properties_of_many_bins_take_no_look_at_all_bins_each() -> None:
    """The time to encode them, or to refuse each bin, grows with their number, not its square."""

    class Bins(list[Any]):
        looks = 0

        def __iter__(self) -> Iterator[Any]:
            self.looks += 1
            return super().__iter__()

    count = 100
    bins = Bins(aero.IntBin(name=f"b{i}", value=1) for i in range(count))
    extra = Extra({f"/bins/{i}/new": 1 for i in range(count)})
    CODEC.encode(structs.replace(write(extra=extra), bins=bins))
    wrong = Bins(aero.IntBin(name=f"b{i}", value=cast("Any", "x")) for i in range(count))
    with pytest.raises(cw.EncodeError) as caught:
        CODEC.encode(structs.replace(write(), bins=wrong))
    assert (len(caught.value.issues), caught.value.issues[-1].actual) == (count, "x")
    assert max(bins.looks, wrong.looks) < 10


@pytest.mark.parametrize("word", ["str", "int", "blob", "list"])
def test_unknown_bins_with_known_types(word: str) -> None:
    """An unknown bin that names a known type is refused: it would come back as another bin."""
    for value in ("x", 1, "QQ==", [1]):
        with pytest.raises(cw.EncodeError) as caught:
            CODEC.encode(write(aero.UnknownBin(name="u", type=OpenTag(word), value=value)))
        assert caught.value.pointer.startswith("/bins/0")


@pytest.mark.parametrize("word", ["", "hll", "@open", "@type", "Int", "inté"])
def test_unknown_bins_with_unknown_types(word: str) -> None:
    """An unknown bin keeps its type word and its value, whatever they are."""
    model = write(aero.UnknownBin(name="u", type=OpenTag(word), value={"a": [None]}))
    assert CODEC.decode(CODEC.encode(model)) == model


@pytest.mark.parametrize("word", [5, None, ["x"]])
def test_unknown_bins_without_a_word(word: Any) -> None:
    """An unknown bin whose type is no text is refused."""
    assert refusal(write(aero.UnknownBin(name="u", type=word, value=1))).pointer == "/bins/0/type"
