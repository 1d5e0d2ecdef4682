"""Options for Aerospike messages."""

from collections.abc import Sequence
from typing import Annotated, Literal, TypedDict

from changewire.changes.aerospike_digest import ripemd160
from changewire.changes.vendor_options import Declaration

CheckDigests = Literal["off", "warn", "reject"]
"""What becomes of a record whose digest is not that of its set and user key."""


def _check_library(_value: object) -> None:
    """Raise ImportError if the library that computes digests is missing."""
    ripemd160(b"")


class AerospikeKeywords(TypedDict, total=False):
    """Options for Aerospike messages.

    Attributes:
        check_digests: ``warn`` or ``reject`` records whose digest is not that of their set and user
            key, which needs pycryptodome on every worker; ``off`` (default) does not look.
        metadata_key: Name of the metadata in flat JSON, as ``metadata-key`` of the connector has
            it. By default the only property that can be it.
        blob_bins: Bins in flat JSON that have bytes: their Base64 text looks like any other text.
    """

    check_digests: Annotated[
        CheckDigests,
        Declaration(
            default="off",
            help="Check digests of Aerospike records: {}.",
            metavar="WAY",
            check=_check_library,
            in_kernel=None,
        ),
    ]
    metadata_key: Annotated[
        str,
        Declaration(
            default="",
            help="Name of the metadata of Aerospike messages in flat JSON.",
            metavar="NAME",
            in_kernel=None,
        ),
    ]
    blob_bins: Annotated[
        Sequence[str] | None,
        Declaration(
            default=None,
            help="Bin that has bytes, of Aerospike messages in flat JSON; repeatable.",
            metavar="BIN",
            flag="--blob-bin",
            in_kernel=None,
        ),
    ]
