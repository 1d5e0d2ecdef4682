"""Options for Lindorm messages."""

from collections.abc import Sequence
from typing import Annotated, TypedDict

from changewire.changes.vendor_options import Declaration


class LindormKeywords(TypedDict, total=False):
    """Options for Lindorm messages.

    Attributes:
        column_families: Column families of an HBase table, to take names of its columns apart;
            other tables have none.
    """

    column_families: Annotated[
        Sequence[str] | None,
        Declaration(
            default=None,
            help="Column family of an HBase table; repeatable.",
            metavar="FAMILY",
            flag="--column-family",
        ),
    ]
