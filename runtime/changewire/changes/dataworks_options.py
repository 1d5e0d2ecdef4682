"""Options for DataWorks messages."""

from typing import Annotated, TypedDict

from changewire.changes.values import UTC, time_zone
from changewire.changes.vendor_options import Declaration


class DataWorksKeywords(TypedDict, total=False):
    """Options for DataWorks messages.

    Attributes:
        time_zone: IANA name of the zone whose clocks made the dates of messages: that of the task
            that synchronizes. UTC by default.
    """

    time_zone: Annotated[
        str,
        Declaration(
            default=UTC,
            help="Time zone of the DataWorks task, for its dates, such as Asia/Shanghai.",
            metavar="NAME",
            check=time_zone,
        ),
    ]
