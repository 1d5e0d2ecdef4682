"""What to type to install an extra; all advice takes it from here."""

from typing import Final

_PROJECT: Final = "./changewire"
"""What pip is given: the folder of the clone, until an index has the package ``changewire``."""


def install(*extras: str) -> str:
    """Return the command that installs extras, as ``docs/start/installing.md`` has it."""
    return f'pip install "{_PROJECT}[{",".join(extras)}]"'
