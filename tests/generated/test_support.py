"""What all generated families share."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from changewire_messages.support import by_text


class Maker:
    """Makes a new object of each text, and counts."""

    def __init__(self) -> None:
        self.made: list[bytes] = []

    def __call__(self, text: bytes) -> list[bytes]:
        """Return a new object."""
        self.made.append(text)
        return [text]


def test_equal_texts_share_what_is_made() -> None:
    """The same bytes give the same object, whoever holds them and whatever came between."""
    maker = Maker()
    read = by_text(maker)
    first = read(b"one")
    assert read(bytes(bytearray(b"one"))) is first
    assert read(b"two") == [b"two"]
    assert read(b"one") is first
    assert maker.made == [b"one", b"two"]


@pytest.mark.parametrize(("size", "fit"), [(1, 1024), (1024 * 1024, 8), (9 * 1024 * 1024, 1)])
def test_what_is_kept_is_bounded(size: int, fit: int) -> None:
    """There is room for 1,024 texts, or 8 MiB of them, or one that is larger; then all leave."""
    maker = Maker()
    read = by_text(maker)
    texts = [f"{i:<{size}}".encode() for i in range(fit + 1)]
    for text in texts[:fit]:
        read(text)
    for text in texts[:fit]:
        read(text)
    assert len(maker.made) == fit
    read(texts[fit])
    read(texts[0])
    assert [text.strip() for text in maker.made[fit:]] == [texts[fit].strip(), b"0"]


def test_nothing_is_kept_as_well() -> None:
    """A text of which None is made is read once, and drops no other text however often it comes."""
    made: list[bytes] = []

    def make(text: bytes) -> object:
        made.append(text)
        return None if text == b"null" else text

    read = by_text(make)
    for _ in range(3000):
        assert [read(b"one"), read(b"null"), read(b"two"), read(b"null")] == [
            b"one",
            None,
            b"two",
            None,
        ]
    assert made == [b"one", b"null", b"two"]


def test_failures_are_not_kept() -> None:
    """A text that nothing can be made of raises each time."""
    read = by_text(int)
    for _ in range(2):
        with pytest.raises(ValueError, match="invalid literal"):
            read(b"x")


def test_threads_share_it() -> None:
    """Calls from many threads all get what is made of their text."""
    wanted = [str(i % 8).encode() for i in range(4000)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(by_text(Maker()), wanted)) == [[text] for text in wanted]
