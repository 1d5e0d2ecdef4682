"""Options for Aerospike messages."""

from typing import Annotated, Literal, TypedDict

from changewire.changes.aerospike_digest import ripemd160
from changewire.changes.vendor_options import Declaration

Digests = Literal["off", "count", "refuse"]
"""What becomes of a record whose digest is not that of its set and user key."""


class AerospikeKeywords(TypedDict, total=False):
    """Options for Aerospike messages.

    Attributes:
        digests: ``count`` or ``refuse`` records whose digest is not that of their set and user key,
            which needs pycryptodome on every worker; ``off`` (default) does not look.
    """

    digests: Annotated[
        Digests,
        Declaration(
            default="off",
            help="Check digests of Aerospike records: {}.",
            metavar="WAY",
            check=lambda _: ripemd160(b""),  # its library may be missing
            in_kernel=False,
        ),
    ]
