"""The fourth room: changes to rows. What a table is, without an engine that stores it.

``order`` says which change is newer, ``effects`` what a change does to rows, ``state`` how what is
known of a row is joined, ``reduce`` makes one of the changes of a batch for each row, ``routing``
and ``names`` find the tables, ``store`` and ``apply`` are the tables in memory.
"""

from changewire.tables.apply import Result, apply_changes
from changewire.tables.metadata import metadata_of, state_from
from changewire.tables.names import Target, safe_name, target_of, template_of
from changewire.tables.order import Placed, Position, position_of
from changewire.tables.routing import Routing
from changewire.tables.store import Tables, vacuum

__all__ = [
    "Placed",
    "Position",
    "Result",
    "Routing",
    "Tables",
    "Target",
    "apply_changes",
    "metadata_of",
    "position_of",
    "safe_name",
    "state_from",
    "target_of",
    "template_of",
    "vacuum",
]
