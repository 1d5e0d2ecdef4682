"""What a reader may say of messages beyond their format, and which formats take it."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, get_args

Image = Literal["full", "patch", "keys"]
IMAGES: Final[tuple[str, ...]] = get_args(Image)
"""What `after` holds: the full row, only what changed, or only the key."""

_REASONS: Final[Mapping[tuple[str, str], str]] = {
    ("aerospike", "keys"): "rows are named by their digest",
    ("aerospike", "families"): "records have no column families",
    ("dataworks", "families"): "tables have no column families",
}
"""Why a system has no use for an option."""


def check_options(
    format: str, image: str, keys: Sequence[str] | None, families: Sequence[str] | None
) -> None:
    """Check that options fit a format.

    Raises:
        ValueError: `image` is unknown, `keys` or `families` is no sequence of names, or has no
            meaning in the format.
    """
    if image not in IMAGES:
        raise ValueError(f"no image {image!r}; there are: {', '.join(IMAGES)}")
    for option, names in {"keys": keys, "families": families}.items():
        if names is None:
            continue
        if isinstance(names, str) or not names:
            raise ValueError(f"{option} is a sequence of names, at least one")
        reason = _REASONS.get((format.partition("-")[0], option))
        if reason:
            raise ValueError(f"{option} does not apply to {format}: {reason}")
