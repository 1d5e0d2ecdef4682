"""The fourth room: changes to rows. The meaning of a table, without an engine that stores it.

``order`` says which change is newer, ``mutations`` the effects of a change on rows, ``state`` how
what is known of a row is joined, ``merge`` what a row becomes by a batch, ``routing`` and ``names``
find the tables. ``apply`` applies batches to the tables of ``memory``, ``history`` explains one
row, and ``versions`` says what it was after each change.
"""

from changewire.tables.apply import Result, apply_changes
from changewire.tables.chosen import Chosen
from changewire.tables.memory import MemoryTables
from changewire.tables.names import Target, safe_name, target_of, template_of
from changewire.tables.order import ChangePosition, PositionedChange, position_of
from changewire.tables.routing import Routing

__all__ = [
    "ChangePosition",
    "Chosen",
    "MemoryTables",
    "PositionedChange",
    "Result",
    "Routing",
    "Target",
    "apply_changes",
    "position_of",
    "safe_name",
    "target_of",
    "template_of",
]
