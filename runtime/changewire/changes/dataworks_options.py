"""Options for DataWorks messages."""

from typing import Annotated, TypedDict

from changewire.changes.clocks import offsets_of, time_zone
from changewire.changes.vendor_options import Declaration


class DataWorksKeywords(TypedDict, total=False):
    """Options for DataWorks messages.

    Attributes:
        time_zone: IANA name of the zone whose clocks made the dates of messages: that of the task
            that synchronizes. Without it dates are read in UTC, and counted as
            ``date-read-in-utc``.
    """

    time_zone: Annotated[
        str | None,
        Declaration(
            default=None,
            help="Time zone of the DataWorks task, for its dates, such as Asia/Shanghai; without "
            "it they are read in UTC, and counted.",
            metavar="NAME",
            check=time_zone,
            in_kernel=offsets_of,
        ),
    ]
